import { expect } from 'chai';
import { describe, it } from 'mocha';
import { Indexer } from '../../lib/index/indexer';
import { LAYOUT_VERSION } from '../../lib/index/layout';
import { StoreError } from '../../lib/store/errors';
import { memoryStore } from '../../lib/store/level-store';
import { migrate, type MigrationProgress } from '../../lib/store/migrate';
import { migrations } from '../../migrations';
import { caught } from '../support/caught';
import { expectToGoOn, toNewest } from '../support/interrupted-migration';
import { fillWithLayout1 } from '../support/layout-1-image';
import { knownSecret } from '../support/known-secret';
import { layoutChain } from '../support/layout-chain';
import { blockHash } from '../support/made-blocks';
import { expectIndexOf, imageOf } from '../support/utxo-model';
import type { Store } from '../../lib/store/store';

const blocks = layoutChain();

/** An open store that holds an index of the chain in layout 1. */
async function storeOfLayout1(): Promise<Store> {
  const store = memoryStore();
  await store.open();
  await fillWithLayout1(store);
  return store;
}

/** What an index of the same chain holds that was never in layout 1. */
async function freshImage(): Promise<string[]> {
  const store = memoryStore();
  await store.open();
  await migrate(store, [], { version: LAYOUT_VERSION });
  await store.batch([knownSecret], { durable: false });
  await indexerOn(store, async (indexer) => {
    for (const raw of blocks) await indexer.apply(raw);
  });
  return imageOf(store);
}

async function indexerOn(store: Store, use: (indexer: Indexer) => Promise<void>): Promise<void> {
  const indexer = new Indexer({ store, genesisHash: blockHash(blocks[0] as Buffer), undoDepth: 1_000, onMove: () => undefined });
  await indexer.load();
  await use(indexer);
}

describe('from layout 1 to places', () => {
  it('leads to every byte of an index that was built anew', async () => {
    const store = await storeOfLayout1();
    await toNewest(store);
    await expectIndexOf(store, blocks);
    expect(await imageOf(store)).to.deep.equal(await freshImage());
  });

  it('keeps undo records that lead back to the genesis block', async () => {
    const store = await storeOfLayout1();
    await toNewest(store);
    await indexerOn(store, async (indexer) => {
      for (let height = blocks.length - 1; height > 0; height--) {
        await indexer.undo();
        await expectIndexOf(store, blocks.slice(0, height));
      }
    });
  });

  it('goes on after an interruption at any write, whether it was still done or not', async () => {
    await expectToGoOn(storeOfLayout1, await freshImage());
  });

  it('says how far it is: never backwards, and never that it is over', async () => {
    const store = memoryStore();
    await store.open();
    await fillWithLayout1(store, 200);
    // Each step to a next layout begins at its own beginning.
    for (let version = 2; version <= LAYOUT_VERSION; version++) {
      const said: MigrationProgress[] = [];
      await migrate(store, migrations, { version, onProgress: (progress) => { said.push(progress); } });
      expect(said.length, `to ${version}`).to.be.greaterThan(1);
      said.forEach(({ part, bytes }, i) => {
        expect(part).to.be.at.least(said[i - 1]?.part ?? 0).and.below(1);
        expect(bytes).to.be.at.least(said[i - 1]?.bytes ?? 1);
      });
    }
  });

  it('ends when it is told to, and goes on the next time', async () => {
    const store = await storeOfLayout1();
    let left = 3;
    const end = (): void => { if (left-- === 0) throw new Error('enough'); };
    expect(await caught(migrate(store, migrations, { version: LAYOUT_VERSION, onProgress: end }))).to.have.property('message', 'enough');
    await toNewest(store);
    expect(await imageOf(store)).to.deep.equal(await freshImage());
  });

  it('calls damage by its name, so that the index is built anew', async () => {
    const store = await storeOfLayout1();
    for await (const [key, value] of store.range({ gte: Buffer.from('x'), lt: Buffer.from('y'), limit: 1 })) {
      value[0] = (value[0] ?? 0) ^ 1;
      await store.batch([{ type: 'put', key, value }], { durable: false });
    }
    expect(await caught(toNewest(store))).to.be.instanceOf(StoreError).with.property('reason', 'corrupt');
  });
});
