import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { chainAActiveBlocks } from '../support/chain/chain-a';
import { CHAIN_A_TIMEOUT_MS, openChainANode } from '../support/node/chain-a-node';
import { ask } from '../support/client/http';
import { until } from '../support/expectations/until';
import type { RestNode } from '../support/node/rest-node';

interface ShownBlock {
  readonly tx: readonly (string | { readonly txid: string })[];
}

describe('txids of blocks from the index by script', () => {
  let served: RestNode;

  const shown = async (path: string): Promise<ShownBlock> => {
    const { status, body } = await ask(served.port, { path });
    expect(status, path).to.equal(200);
    return JSON.parse(body.toString()) as ShownBlock;
  };

  before(async function () {
    this.timeout(CHAIN_A_TIMEOUT_MS);
    served = await openChainANode({ 'rest-addresses': true });
    await until(async () => (await ask(served.port, { path: '/api/blocks/tip/hash' })).status === 200);
  });

  after(() => served.node.close());

  it('are the txids of the transactions, in the same JSON', async () => {
    for (const [height, { hash }] of chainAActiveBlocks().entries()) {
      if (height % 12 !== 0) continue;
      const { tx, ...rest } = await shown(`/rest/block/notxdetails/${hash}.json`);
      const { tx: transactions, ...block } = await shown(`/rest/block/${hash}.json`);
      expect(tx).to.deep.equal(transactions.map((transaction) => (typeof transaction === 'string' ? transaction : transaction.txid)));
      expect(rest).to.deep.equal(block);
    }
  });
});
