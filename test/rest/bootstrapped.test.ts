import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { filter, firstValueFrom } from 'rxjs';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { transactionEndpoint } from '../../lib/rest/endpoints/tx';
import * as plugin from '../../plugin';
import { nodeWith } from '../support/bcoin/changed-node';
import { endpointContext, requestFor } from '../support/client/endpoints';
import { needsNode } from '../support/fleet/fleet';
import { newFolder } from '../support/process/folders';
import { createRegtestNode, mine, openRegtestNode, type RegtestOptions } from '../support/bcoin/regtest-node';
import { withSmallPruning } from '../support/bcoin/small-pruning';
import type { AddressInfo } from 'node:net';
import type { NodeSource } from '../../lib/node/types/source';
import type { HostFullBlock, TestFullNode } from '../support/bcoin/bcoin';

/** More headers than a chunk has, whose texts are cached together. */
const HEIGHT = 80;
/** The height at which the backfill is held. */
const HELD = 30;

describe('replies during the backfill of an index that began with coins', () => {
  withSmallPruning();
  let folder: string;
  let blocks: HostFullBlock[];
  let host: TestFullNode;
  let rest: plugin.RestPlugin;
  let baseUrl: string;
  let held = true;

  before(async function () {
    needsNode(this, 'a reader builds its index of blocks alone');
    folder = await newFolder();
  });

  const serve = async (name: string, settings: Readonly<Record<string, unknown>> = {}): Promise<void> => {
    const options: RegtestOptions = { prefix: join(folder, name), settings };
    const first = await openRegtestNode(options);
    blocks = await mine(first, HEIGHT);
    await first.close();
    host = await createRegtestNode({
      ...options,
      settings: { ...settings, 'rest-warmup': 'indexed', 'rest-bootstrap': 'coins' },
      plugins: [plugin]
    });
    rest = host.get(plugin.id) as plugin.RestPlugin;
    const { node } = rest;
    const rawBlock = node.rawBlock.bind(node);
    const withheld = new Set(blocks.slice(HELD - 10, HELD - 1).map((block) => block.hash().toString('hex')));
    Object.assign(node, {
      rawBlock: (hash: Buffer) => (held && withheld.has(hash.toString('hex')) ? Promise.resolve(undefined) : rawBlock(hash))
    });
    await host.open();
    baseUrl = `http://127.0.0.1:${(rest.http.server.address() as AddressInfo).port}`;
  };

  const get = async (path: string): Promise<{ status: number; text: string }> => {
    const response = await fetch(`${baseUrl}/rest/${path}`);
    return { status: response.status, text: await response.text() };
  };
  const hashAt = (height: number): string => toDisplayHex(blocks[height - 1]?.hash() ?? Buffer.alloc(0));
  const coinbaseAt = (height: number): string => toDisplayHex(blocks[height - 1]?.txs[0]?.hash() ?? Buffer.alloc(0));
  const untilFilledTo = async (height: number | undefined): Promise<void> => {
    await firstValueFrom(rest.ready$.pipe(filter((ready) => ready)));
    while (rest.reader.read(({ backfilling: filling }) => filling?.height) !== height) await setImmediate();
  };

  describe('of a node that has all blocks', () => {
    before(async () => {
      held = true;
      await serve('whole');
    });

    after(() => host.close());

    it('have coins, blocks, headers and the state of the chain at once', async () => {
      await untilFilledTo(HELD);
      for (const height of [3, HEIGHT])
        expect(JSON.parse((await get(`getutxos/${coinbaseAt(height)}-0.json`)).text)).to.include({ chainHeight: HEIGHT, bitmap: '1' });
      expect((await get(`block/${hashAt(3)}.hex`)).text).to.equal(`${blocks[2]?.toRaw().toString('hex') ?? ''}\n`);
      expect(JSON.parse((await get(`block/${hashAt(3)}.json`)).text)).to.include({ height: 3, nTx: 1, nextblockhash: hashAt(4) });
      expect((await get(`headers/5/${hashAt(3)}.bin`)).status).to.equal(200);
      expect(JSON.parse((await get('chaininfo.json')).text)).to.include({ blocks: HEIGHT });
      expect((await get('mempool/info.json')).status).to.equal(200);
    });

    it('have the transactions that are known, and for others say how far the backfill is', async () => {
      expect((await get(`tx/${coinbaseAt(HELD)}.json`)).status).to.equal(200);
      const refused = {
        status: 503,
        text: `Service temporarily unavailable: transaction index is being built: 62.9% (height ${HELD})\r\n`
      };
      expect(await get(`tx/${coinbaseAt(HELD - 1)}.json`)).to.deep.equal(refused);
      expect(await get(`tx/${'ab'.repeat(32)}.hex`)).to.deep.equal(refused);
    });

    it('have a transaction of the pool, whatever is yet to be found', async () => {
      const raw = blocks[HELD - 2]?.txs[0]?.toRaw() ?? expect.fail('a transaction');
      const { node, reader } = rest;
      const pool = Object.create(node.pool, { transaction: { value: () => raw } }) as NodeSource['pool'];
      const endpoint = transactionEndpoint(endpointContext(nodeWith(node, { pool }), reader));
      expect((await endpoint(requestFor(`${coinbaseAt(HELD - 1)}.bin`))).body).to.deep.equal(raw);
    });

    it('have headers in JSON as far as their blocks are known', async () => {
      expect((JSON.parse((await get(`headers/3/${hashAt(HELD)}.json`)).text) as unknown[])[0]).to.include({ height: HELD, nTx: 1 });
      expect((await get(`headers/3/${hashAt(HELD - 1)}.json`)).status).to.equal(503);
    });

    it('have everything in the end', async () => {
      held = false;
      // With the next block it is tried again.
      await mine(host, 1);
      await untilFilledTo(undefined);
      expect((await get(`tx/${coinbaseAt(HELD - 1)}.json`)).status).to.equal(200);
      expect((await get(`tx/${'ab'.repeat(32)}.hex`)).status).to.equal(404);
      // Includes headers whose counts were not known when the texts of their neighbours were made.
      const headers = JSON.parse((await get(`headers/2000/${hashAt(1)}.json`)).text) as { nTx: number }[];
      expect(headers.map(({ nTx }) => nTx)).to.deep.equal(Array.from({ length: HEIGHT + 1 }, () => 1));
    });
  });

  describe('of a node that has thrown blocks away', () => {
    const lowest = HEIGHT - 10 + 1;

    before(async () => {
      held = false;
      await serve('pruned', { prune: true });
      await untilFilledTo(undefined);
    });

    after(() => host.close());

    it('have all coins and headers', async () => {
      for (const height of [8, HEIGHT])
        expect(JSON.parse((await get(`getutxos/${coinbaseAt(height)}-0.json`)).text)).to.include({ chainHeight: HEIGHT, bitmap: '1' });
      expect(JSON.parse((await get(`headers/2000/${hashAt(1)}.json`)).text)).to.have.length(HEIGHT);
    });

    it('have the transactions of its blocks; the others are not found', async () => {
      expect((await get(`tx/${coinbaseAt(lowest)}.json`)).status).to.equal(200);
      expect(await get(`tx/${coinbaseAt(lowest - 1)}.json`)).to.deep.equal({
        status: 404,
        text: `${coinbaseAt(lowest - 1)} not found\r\n`
      });
    });

    it('have the size of its blocks', async () => {
      const bytes = blocks.slice(lowest - 1).reduce((sum, block) => sum + block.toRaw().length + 8, 0);
      expect(JSON.parse((await get('chaininfo.json')).text)).to.include({ pruned: true, pruneheight: lowest, size_on_disk: bytes });
    });

    it('have the blocks that follow', async () => {
      const [next] = await mine(host, 1);
      expect((await get(`tx/${toDisplayHex(next?.txs[0]?.hash() ?? Buffer.alloc(0))}.json`)).status).to.equal(200);
    });
  });
});
