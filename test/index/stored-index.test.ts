import { expect } from 'chai';
import * as fc from 'fast-check';
import { describe, it } from 'mocha';
import { describeRecord } from '../../lib/index/records/describe-record';
import { coinKey } from '../../lib/index/records/coin-record';
import { putRecord } from '../../lib/index/records/layout';
import { putTip } from '../../lib/index/records/chain';
import { undoKey } from '../../lib/index/records/undo-record';
import { ClosedIndex } from '../../lib/index/read/closed-index';
import { BcoinNode } from '../../lib/node/bcoin';
import { MemoryStore } from '../../lib/store/memory-store';
import { WHOLE_STORE } from '../../lib/store/migrate';
import { caught } from '../support/expectations/caught';
import { indexerOn, reach } from '../support/node/indexed-node';
import { chainWithSpends } from '../support/chain/regtest-chain';
import { openRegtestNode } from '../support/bcoin/regtest-node';
import type { StoreWrite } from '../../lib/store/store';

async function storeWith(writes: readonly StoreWrite[]): Promise<MemoryStore> {
  const store = new MemoryStore();
  await store.open();
  await store.batch(writes, { durable: false });
  return store;
}

const tipAt = (height: number): { height: number; hash: Buffer } => ({ height, hash: Buffer.alloc(32, height) });

describe('the index of a stopped node', () => {
  it('counts the blocks that can be undone, from the tip down', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(300), fc.nat(300), async (height, depth) => {
        const blocks = Math.min(height, depth);
        const undo = Array.from({ length: blocks }, (_, i) => putRecord(undoKey(height - i), Buffer.from('undo')));
        const index = new ClosedIndex(await storeWith(undo));
        expect(index.undoableBlocks(tipAt(height))).to.equal(blocks);
        expect(await index.lowestUndo()).to.equal(blocks === 0 ? undefined : height - blocks + 1);
      })
    );
  });

  it('is empty, or has a tip, or is damaged', async () => {
    expect(await new ClosedIndex(await storeWith([])).tip()).to.equal(undefined);
    expect(await new ClosedIndex(await storeWith([putTip(tipAt(5))])).tip()).to.deep.equal(tipAt(5));
    expect(await caught(new ClosedIndex(await storeWith([putRecord(undoKey(5), Buffer.from('undo'))])).tip()))
      .to.have.property('message')
      .that.includes('expected a tip');
  });

  it('says what each of its records is', async () => {
    const node = await openRegtestNode();
    await chainWithSpends(node);
    const store = new MemoryStore();
    const index = indexerOn(new BcoinNode(node), { store });
    await index.open();
    await reach('live', index);
    const kinds = new Set<string>();
    for await (const record of store.range(WHOLE_STORE)) {
      kinds.add(describeRecord(...record).replace(/ [0-9a-f]{64}$|( \d+ of the block at height)? \d+$/, ''));
    }
    await index.close();
    await node.close();
    expect([...kinds]).to.have.members([
      'layout version',
      'hash of the genesis block',
      'tip',
      'height of block',
      'coins of transaction',
      'header at height',
      'undo record of height',
      'position of transaction',
      'lengths of the transactions at height',
      'secret of the hashes of txids'
    ]);
    expect(describeRecord(coinKey({ height: 7, index: 3 }, 2))).to.equal(
      'coins of transaction 3 of the block at height 7, outputs from 64'
    );
    expect(describeRecord(Buffer.from('?1'))).to.equal('unknown record 3f31');
  });
});
