import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { ask, type RawReply } from '../support/client/http';
import { mine } from '../support/bcoin/regtest-node';
import { ServedNode } from '../support/node/served-node';

describe('entity tags', () => {
  let served: ServedNode;

  before(async () => {
    served = await ServedNode.open({ settings: { 'rest-core': 'modern', 'rest-filters': true, apiKey: 'key' } });
    await mine(served.node, 12);
    await served.settle();
  });
  after(() => served.close());

  const hashAt = (height: number): string =>
    served.index.reader.read((snapshot) => toDisplayHex(snapshot.headerAt(height)?.hash ?? Buffer.alloc(32)));
  const get = (path: string, tag?: string, method = 'GET'): Promise<RawReply> =>
    ask(served.port, { path, method, ...(tag !== undefined && { headers: { 'If-None-Match': tag } }) });

  /** What depends on the tip, and what never changes, in both interfaces. */
  const ofTip = (): string[] => [`/rest/headers/2/${hashAt(11)}.json`, '/api/blocks/tip/height', `/api/block/${hashAt(11)}/status`];
  const final = (): string[] => [`/rest/blockfilter/basic/${hashAt(1)}.bin`, `/api/block/${hashAt(1)}`];

  it('spare a client the body that it has', async () => {
    for (const path of [...ofTip(), ...final()]) {
      const { status, headers } = await get(path);
      expect(status, path).to.equal(200);
      expect(headers['etag'], path).to.match(/^"[0-9a-f]{8}(-[0-9a-f]{24})?"$/);
      const tag = headers['etag'] ?? '';
      for (const asked of [tag, `W/${tag}`, `"other", ${tag}`]) {
        const again = await get(path, asked);
        expect([again.status, again.body.length, again.headers['etag'], again.contentType], `${path} ${asked}`).to.deep.equal([
          304,
          0,
          tag,
          null
        ]);
        expect(again.headers['cache-control'], path).to.equal(headers['cache-control']);
      }
      // `*` as well: Bitcoin Core answers it with the whole reply.
      for (const asked of ['"other"', '*']) expect((await get(path, asked)).status, path).to.equal(200);
      expect((await get(path, tag, 'HEAD')).status, path).to.equal(304);
    }
  });

  it('are the same for a reply from memory', async () => {
    for (const path of [...ofTip(), ...final()]) {
      const tags = new Set<string | undefined>();
      for (let i = 0; i < 4; i++) tags.add((await get(path)).headers['etag']);
      expect(tags.size, path).to.equal(1);
    }
  });

  it('change with the tip, unless the reply never changes', async () => {
    const [moving, settled] = [ofTip(), final()];
    const tagsOf = (paths: string[]): Promise<string[]> => Promise.all(paths.map(async (path) => (await get(path)).headers['etag'] ?? ''));
    const [before, kept] = [await tagsOf(moving), await tagsOf(settled)];
    await mine(served.node, 1);
    await served.settle();
    for (const [i, path] of moving.entries()) expect((await get(path, before[i])).status, path).to.equal(200);
    for (const [i, path] of settled.entries()) expect((await get(path, kept[i])).status, path).to.equal(304);
  });

  it('are others where options change the bytes of replies', async () => {
    const path = `/api/block/${hashAt(0)}`;
    const tags = new Set([(await get(path)).headers['etag']]);
    for (const settings of [{ 'rest-core': 'modern', 'rest-serial-version': 0 }, {}]) {
      const other = await ServedNode.open({ settings });
      const { status, headers } = await ask(other.port, { path });
      expect(status).to.equal(200);
      tags.add(headers['etag']);
      await other.close();
    }
    expect(tags).to.have.length(3);
    expect([...tags]).not.to.include(undefined);
  });

  it('are on nothing that depends on the pool, on no error, and on no reply that makes something', async () => {
    for (const path of ['/rest/mempool/info.json', '/api/mempool', '/api/fee-estimates', '/rest/tx/nothing', `/api/tx/${'0'.repeat(64)}`])
      expect((await get(path)).headers['etag'], path).to.equal(undefined);
    expect((await get('/api/tx', '"any"', 'POST')).headers['etag']).to.equal(undefined);
  });
});

describe("Bitcoin Core 0.17's interface", () => {
  it('has no entity tags, as ever', async () => {
    const served = await ServedNode.open();
    const { headers, status } = await ask(served.port, {
      path: `/rest/headers/1/${toDisplayHex(served.source.tip().hash)}.bin`,
      headers: { 'If-None-Match': '*' }
    });
    expect([status, headers['etag']]).to.deep.equal([200, undefined]);
    await served.close();
  });
});
