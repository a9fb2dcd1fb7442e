import { expect } from 'chai';
import fc from 'fast-check';
import { after, before, describe, it } from 'mocha';
import { fromDisplayHex } from '../../lib/bitcoin/hash';
import { UnreadableBlockError } from '../../lib/node/errors';
import { RestRequest } from '../../lib/rest/endpoint';
import { asksForLargePart, blockPartEndpoint } from '../../lib/rest/endpoints/blockpart';
import { AnswerCache } from '../../lib/server/cache/answer-cache';
import { PROFILES } from '../../lib/views/profile';
import { bcoin } from '../support/bcoin/bcoin';
import { caught } from '../support/expectations/caught';
import { chainAManifest } from '../support/chain/chain-a';
import { CHAIN_A_TIMEOUT_MS, openChainANode } from '../support/node/chain-a-node';
import { nodeWith } from '../support/bcoin/changed-node';
import { endpointContext } from '../support/client/endpoints';
import { ask, type RawReply } from '../support/client/http';
import { openRestNode, type RestNode } from '../support/node/rest-node';
import type { Answers } from '../../lib/answers/answers';

describe('a part of a block', () => {
  let served: RestNode;
  const { blocks } = chainAManifest();

  before(async function () {
    this.timeout(CHAIN_A_TIMEOUT_MS);
    served = await openChainANode({ 'rest-core': 'modern' });
  });

  after(() => served.node.close());

  const get = (path: string): Promise<RawReply> => ask(served.port, { path });

  it('is the slice of the whole block, for any offset and size, of stale blocks too', async () => {
    const names = fc.constantFrom('stale-1', 'reorg-old-1', ...Object.keys(blocks).slice(0, 8));
    const wanted = names.chain((name) => {
      const { hash, size } = blocks[name] as unknown as { hash: string; size: number }; // one of them
      return fc
        .tuple(fc.constant(hash), fc.nat(size - 1))
        .chain(([id, offset]) => fc.tuple(fc.constant({ id, offset }), fc.integer({ min: 1, max: size - offset })));
    });
    await fc.assert(
      fc.asyncProperty(wanted, async ([{ id, offset }, size]) => {
        const { body } = await get(`/rest/block/${id}.bin`);
        const part = await get(`/rest/blockpart/${id}.bin?offset=${offset}&size=${size}`);
        expect(part.status).to.equal(200);
        expect(part.body.equals(body.subarray(offset, offset + size))).to.equal(true);
      }),
      { numRuns: 60 }
    );
  });

  it('may be kept by clients if the block is in the chain, as its bytes and hex may, but not its JSON', async () => {
    const shown = async (hash: string): Promise<unknown[]> => {
      const paths = [`blockpart/${hash}.bin?offset=0&size=80`, ...['bin', 'hex', 'json'].map((format) => `block/${hash}.${format}`)];
      const replies = await Promise.all(paths.map((path) => get(`/rest/${path}`)));
      return replies.map(({ status, headers }) => `${status} ${headers['cache-control'] ?? ''}`);
    };
    const [kept, unkept] = ['200 public, immutable, max-age=86400', '200 no-store'];
    expect(await shown(blocks['mixed']?.hash ?? '')).to.deep.equal([kept, kept, kept, unkept]);
    expect(await shown(blocks['stale-1']?.hash ?? '')).to.deep.equal([unkept, unkept, unkept, unkept]);
  });

  it('must lie within the block, however large the numbers are', async () => {
    const { hash, size } = Object.values(blocks)[0] as unknown as { hash: string; size: number };
    const last = 2n ** 64n - 1n;
    for (const [offset, length] of [
      [0, 0],
      [0, size + 1],
      [size, 1],
      [last, 2],
      [2, last]
    ] as const) {
      const { status, body } = await get(`/rest/blockpart/${hash}.bin?offset=${offset}&size=${length}`);
      expect([status, body.toString()]).to.deep.equal([400, `Bad block part offset/size ${offset}/${length} for ${hash}\r\n`]);
    }
    for (const [name, query] of [
      ['offset', `offset=${last + 1n}&size=1`],
      ['size', `offset=0&size=${last + 1n}`]
    ] as const)
      expect((await get(`/rest/blockpart/${hash}.bin?${query}`)).body.toString()).to.equal(`Block part ${name} missing or invalid\r\n`);
    expect((await get(`/rest/blockpart/${hash}.bin?offset=${size - 1}&size=01`)).body).to.have.length(1);
  });

  it('is refused for malformed numbers before anything else is checked', async () => {
    const { hash } = Object.values(blocks)[0] as unknown as { hash: string };
    const { node, reader } = served.rest;
    const unreadable = (): Promise<never> => Promise.reject(new UnreadableBlockError(Buffer.alloc(32), new Error('lost')));
    const lost = nodeWith(node, { rawBlock: unreadable, rawBlockPart: unreadable });
    const context: Answers = endpointContext(lost, reader, new AnswerCache(1), PROFILES.modern);
    for (const query of ['bin?offset=0&size=80', 'bin?offset=0&size=0', 'json?offset=0&size=1']) {
      const request = new RestRequest(`${hash}.${query}`, Buffer.alloc(0), { destroyed: false }, true);
      expect(await caught(blockPartEndpoint(context)(request))).to.include({ status: 500, message: `I/O error reading ${hash}` });
    }
  });

  it('is a heavy request if it is of more than 65,536 bytes', () => {
    const asked = (size: number): boolean =>
      asksForLargePart(new RestRequest(`${'0'.repeat(64)}.bin?offset=0&size=${size}`, Buffer.alloc(0), { destroyed: false }, true));
    expect([65_536, 65_537].map(asked)).to.deep.equal([false, true]);
  });

  it('that is most of the block comes from memory once it was asked for twice, on nodes that read parts', async () => {
    const { hash, size } = Object.values(blocks)[0] as unknown as { hash: string; size: number };
    const { node, reader } = served.rest;
    const read: string[] = [];
    const counting = nodeWith(node, {
      readsWholeBlocks: false,
      rawBlock: (wanted) => {
        read.push('block');
        return node.rawBlock(wanted);
      },
      rawBlockPart: (...wanted) => {
        read.push('part');
        return node.rawBlockPart(...wanted);
      }
    });
    const endpoint = blockPartEndpoint(endpointContext(counting, reader, new AnswerCache(1_000_000), PROFILES.modern));
    const whole = await node.rawBlock(fromDisplayHex(hash));
    for (const [offset, length] of [
      [0, 80],
      [1, size - 1],
      [0, size],
      [0, size],
      [0, 80]
    ] as const) {
      const { body } = await endpoint(
        new RestRequest(`${hash}.bin?offset=${offset}&size=${length}`, Buffer.alloc(0), { destroyed: false }, true)
      );
      expect(body.equals(whole?.subarray(offset, offset + length) ?? expect.fail('a block'))).to.equal(true);
    }
    expect(read).to.deep.equal(['part', 'block', 'block']);
  });

  it('is refused for malformed numbers even while the gate is closed', async () => {
    // bcoin takes a regtest node for synced, however old its tip is.
    const { block } = bcoin.Network.get('regtest');
    const before = block.maxTipAge;
    block.maxTipAge = 24 * 60 * 60;
    try {
      const starting = await openRestNode({ settings: { 'rest-core': 'modern', 'rest-warmup': 'synced' } });
      const answers: (readonly [number, string])[] = [];
      for (const query of ['', '?offset=0', '?offset=0&size=1']) {
        const { status, body } = await ask(starting.port, { path: `/rest/blockpart/xyz.bin${query}` });
        answers.push([status, body.toString().slice(0, 31)]);
      }
      await starting.node.close();
      expect(answers).to.deep.equal([
        [400, 'Block part offset missing or in'],
        [400, 'Block part size missing or inva'],
        [503, 'Service temporarily unavailable']
      ]);
    } finally {
      block.maxTipAge = before;
    }
  });
});
