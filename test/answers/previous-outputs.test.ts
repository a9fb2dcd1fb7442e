import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { PreviousOutputs, type Spending } from '../../lib/answers/transactions/previous-outputs';
import { scanBlock } from '../../lib/bitcoin/block';
import { caught } from '../support/expectations/caught';
import { chainAActiveBlocks } from '../support/chain/chain-a';
import { CHAIN_A_TIMEOUT_MS, copiedChain } from '../support/node/chain-a-node';
import { nodeWith } from '../support/bcoin/changed-node';
import { endpointContext } from '../support/client/endpoints';
import { ServedNode } from '../support/node/served-node';
import type { SpentNodeCoin } from '../../lib/node/types/coins';
import type { NodeSource } from '../../lib/node/types/source';
import type { SpentOutput } from '../../lib/bitcoin/transaction';

const CLIENT = { isGone: false };

interface Block {
  readonly hash: Buffer;
  readonly height: number;
  readonly list: readonly Spending[];
}

const shown = (spent: readonly (readonly SpentOutput[])[]): unknown[] =>
  spent.map((outputs) => outputs.map(({ value, script }) => `${value} ${script.toString('hex')}`));

describe('outputs that transactions of a block spend', () => {
  let served: ServedNode;
  let blocks: readonly Block[];

  before(async function () {
    this.timeout(CHAIN_A_TIMEOUT_MS);
    served = await ServedNode.open({ prefix: await copiedChain() });
    blocks = chainAActiveBlocks().flatMap(({ raw, height }) => {
      const { hash, transactions } = scanBlock(raw);
      const list = transactions.map((transaction, index) => ({ transaction, position: { height, index } }));
      const inputs = transactions.reduce((sum, { inputCount }) => sum + inputCount, 0);
      return list.length > 2 && inputs < 400 ? [{ hash, height, list }] : [];
    });
  });
  after(() => served.node.close());

  const spentBy = (
    list: readonly Spending[],
    { hash, height }: Block,
    node: NodeSource,
    counts?: Uint32Array
  ): Promise<readonly (readonly SpentOutput[])[]> =>
    served.index.reader.read((index) =>
      new PreviousOutputs(endpointContext(node, served.index.reader)).of({ hash, height }, list, counts, index, CLIENT)
    );

  it('are the same from the node’s undo data and from the transactions that created them', async () => {
    expect(blocks).to.have.length.above(10);
    const withoutCoins = nodeWith(served.source, { spentSpan: () => Promise.resolve(undefined) });
    for (const block of blocks) {
      const all = shown(await spentBy(block.list, block, served.source));
      expect(shown(await spentBy(block.list, block, withoutCoins))).to.deep.equal(all);
      // One alone, and some in any order.
      const { length } = block.list;
      for (const chosen of [[length - 1], [length - 1, 0, length >> 1]]) {
        const list = chosen.map((i) => block.list[i] as Spending);
        expect(shown(await spentBy(list, block, served.source))).to.deep.equal(chosen.map((i) => all[i]));
      }
    }
  });

  it('are not known if neither source has them', async () => {
    const lacking = nodeWith(served.source, {
      spentSpan: () => Promise.resolve(undefined),
      rawBlock: () => Promise.resolve(undefined),
      rawBlockPart: () => Promise.resolve(undefined)
    });
    const [block] = blocks;
    if (block === undefined) return expect.fail('a block');
    expect(await caught(spentBy(block.list, block, lacking))).to.include({ status: 500, message: 'Transaction missing prevouts' });
  });

  it('are a span of the block’s undo data', async () => {
    for (const { hash } of blocks) {
      const coins = (await served.source.spentCoins(hash)) as readonly SpentNodeCoin[];
      for (const start of [0, coins.length >> 1, coins.length])
        for (const count of [0, 1, coins.length - start]) {
          if (start + count > coins.length) continue;
          expect(await served.source.spentSpan(hash, { start, count })).to.deep.equal(coins.slice(start, start + count));
        }
      expect(await caught(served.source.spentSpan(hash, { start: coins.length, count: 1 }))).to.have.property(
        'name',
        'MalformedBytesError'
      );
    }
  });
});
