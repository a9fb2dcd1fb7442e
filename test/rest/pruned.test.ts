import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { needsNode } from '../support/fleet/fleet';
import { mine } from '../support/bcoin/regtest-node';
import { openRestNode, untilReady, type RestNode } from '../support/node/rest-node';
import { KEPT_BLOCKS, withSmallPruning } from '../support/bcoin/small-pruning';

const HEIGHT = 30;

for (const prunes of ['from the start', 'when it is told to'])
  describe(`a node that prunes ${prunes}`, () => {
    withSmallPruning();
    let served: RestNode;
    const hashes: string[] = [];
    const coinbases: string[] = [];

    before(async function () {
      served = await openRestNode({ settings: { prune: prunes === 'from the start' } });
      needsNode(this, 'a reader has blocks of its own');
      await untilReady(served);
      for (const mined of await mine(served.node, HEIGHT)) {
        hashes.push(toDisplayHex(mined.hash()));
        coinbases.push(toDisplayHex(mined.txs[0]?.hash() ?? Buffer.alloc(0)));
      }
      if (prunes === 'from the start') return;
      // These replies are in memory from now on.
      for (const path of [`block/${hashAt(10)}.bin`, `block/${hashAt(10)}.json`, `block/${hashAt(10)}.json`, `tx/${coinbaseAt(10)}.json`])
        expect((await get(path)).status).to.equal(200);
      expect(JSON.parse((await get('chaininfo.json')).text))
        .to.include({ pruned: false })
        .and.not.to.have.property('pruneheight');
      await served.node.chain.prune();
    });

    after(() => served.node.close());

    const get = async (path: string): Promise<{ status: number; text: string }> => {
      const response = await fetch(`${served.baseUrl}/rest/${path}`);
      return { status: response.status, text: await response.text() };
    };
    const hashAt = (height: number): string => hashes[height - 1] ?? '';
    const coinbaseAt = (height: number): string => coinbases[height - 1] ?? '';

    it('says that a block without its bytes was pruned, in every format', async () => {
      for (const format of ['bin', 'hex', 'json'])
        expect(await get(`block/${hashAt(10)}.${format}`)).to.deep.equal({
          status: 404,
          text: `${hashAt(10)} not available (pruned data)\r\n`
        });
      expect((await get(`block/notxdetails/${hashAt(10)}.json`)).status).to.equal(404);
    });

    it('does not find the transactions of such a block', async () => {
      expect(await get(`tx/${coinbaseAt(10)}.json`)).to.deep.equal({ status: 404, text: `${coinbaseAt(10)} not found\r\n` });
    });

    it('serves the blocks that it keeps, and all headers and coins', async () => {
      expect((await get(`block/${hashAt(HEIGHT)}.json`)).status).to.equal(200);
      expect((await get(`tx/${coinbaseAt(HEIGHT)}.json`)).status).to.equal(200);
      expect(JSON.parse((await get(`headers/40/${hashAt(1)}.json`)).text)).to.have.length(HEIGHT);
      expect(JSON.parse((await get(`getutxos/${coinbaseAt(10)}-0.json`)).text)).to.include({ bitmap: '1' });
    });

    it('shows from which block on it has blocks', async () => {
      expect(JSON.parse((await get('chaininfo.json')).text)).to.include({
        pruned: true,
        pruneheight: HEIGHT - KEPT_BLOCKS + 1,
        automatic_pruning: true
      });
      expect((await get(`block/${hashAt(HEIGHT - KEPT_BLOCKS + 1)}.bin`)).status).to.equal(200);
      expect((await get(`block/${hashAt(HEIGHT - KEPT_BLOCKS)}.bin`)).status).to.equal(404);
    });
  });
