// Coinbases with one txid (BIP30), as two pairs are on the main network: here three, all of which a backfill meets.

import { expect } from 'chai';
import { describe, it } from 'mocha';
import { scanBlock } from '../../lib/bitcoin/block';
import { BcoinNode } from '../../lib/node/bcoin';
import { MemoryStore } from '../../lib/store/memory-store';
import { baseOf, expectRight, newBaseIndex, untilLive } from '../support/index/base-index';
import { bcoin, type TestFullNode } from '../support/bcoin/bcoin';
import { regtestGenesis } from '../support/chain/chain-a';
import { blockHash } from '../support/chain/made-blocks';
import { MemoryLog } from '../support/process/memory-log';
import { BlockMaker, type BlockPlan } from '../support/chain/mined-blocks';
import { openRegtestNode } from '../support/bcoin/regtest-node';

const PLAIN: BlockPlan = { repeat: undefined, transactions: [] };
const REPEATED: BlockPlan = { repeat: 0, transactions: [] };
/** Heights of the three: each is made once the coins of the one before have come of age and are spent. */
const HEIGHTS = [2, 103, 204] as const;

/**
 * Spends both coins of the last coinbase that is old enough. `mature`: how many coins may be spent. `outputs`: others each time, or the
 * txids of what spends would be the same, too.
 */
const spendingLast = (mature: number, outputs: readonly number[]): BlockPlan => ({
  repeat: undefined,
  transactions: [{ spends: [mature - 1, mature - 2], outputs }]
});

/** Gives the node a block, then the three coinbases. `between`: called after that block. @returns the txid of all three */
async function mineRepeated(host: TestFullNode, between?: () => Promise<void>): Promise<Buffer> {
  const plans = new Map<number, BlockPlan>(HEIGHTS.map((height) => [height, REPEATED]));
  plans.set(HEIGHTS[1] - 1, spendingLast(2 * HEIGHTS[0], [3]));
  plans.set(HEIGHTS[2] - 1, spendingLast(2 * (HEIGHTS[1] - 1), [3, 3]));
  const maker = new BlockMaker();
  const txids: Buffer[] = [];
  for (let height = 1, tip = blockHash(regtestGenesis); height <= HEIGHTS[2]; height++) {
    const raw = maker.make(tip, plans.get(height) ?? PLAIN);
    await host.chain.add(bcoin.Block.fromRaw(raw));
    tip = blockHash(raw);
    if (height === 1) await between?.();
    txids.push(scanBlock(raw).transactions[0]?.txid ?? expect.fail('a coinbase'));
  }
  expect(host.chain.height).to.equal(HEIGHTS[2]);
  const [first, ...others] = HEIGHTS.map((height) => txids[height - 1] ?? expect.fail('a coinbase'));
  for (const other of others) expect(other).to.deep.equal(first);
  return first ?? expect.fail('a coinbase');
}

describe('three coinbases with one txid', () => {
  it('are each found again once the later ones are undone, after a backfill', async () => {
    const host = await openRegtestNode();
    await host.connect();
    const txid = await mineRepeated(host);
    const [node, store, log] = [new BcoinNode(host), new MemoryStore(), new MemoryLog()];
    const index = newBaseIndex({ node, store, log });
    await index.open();
    await untilLive(index);
    for (const height of HEIGHTS.toReversed()) {
      if (height < node.tip().height) await host.chain.reset(height);
      await expectRight(store, node);
      expect(index.reader.read((snapshot) => snapshot.position(txid)?.block.height)).to.equal(height);
      expect(baseOf(store).height).to.equal(height);
    }
    expect(log.lines.filter((line) => line.startsWith('warning'))).to.deep.equal([]);
    await index.close();
    await host.close();
  });

  it('are told apart in the undo records of what spends them', async () => {
    const host = await openRegtestNode();
    await host.connect();
    const [node, store, log] = [new BcoinNode(host), new MemoryStore(), new MemoryLog()];
    const index = newBaseIndex({ node, store, log });
    await mineRepeated(host, async () => {
      await index.open();
      await untilLive(index);
    });
    await untilLive(index);
    await expectRight(store, node);
    expect(baseOf(store).height).to.equal(1);
    await index.close();
    await host.close();
  });
});
