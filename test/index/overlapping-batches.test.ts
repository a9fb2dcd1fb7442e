// A batch is filled while the store still writes the previous one.

import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { beforeEach, describe, it } from 'mocha';
import { IndexWriter, type CommittedBatch } from '../../lib/index/write/index-writer';
import { newSecret } from '../../lib/index/records/txid-hash';
import { MemoryStore } from '../../lib/store/memory-store';
import { caught } from '../support/expectations/caught';
import { chainAActiveBlocks } from '../support/chain/chain-a';
import { holdBatches, type HeldBatch } from '../support/index/held-batches';
import { addBlocks } from '../support/index/filled-batch';
import { blockHash } from '../support/chain/made-blocks';
import { expectIndexOf } from '../support/index/utxo-model';
import type { BlockBatch } from '../../lib/index/write/block-batch';
import type { Store } from '../../lib/store/store';

/** Coins of the first parts are spent in the last part. */
const PARTS = [0, 130, 450, 500, 520, 560] as const;

describe('filling a batch while another is written', () => {
  const blocks = chainAActiveBlocks().map(({ raw }) => raw);
  let store: Store;
  let indexer: IndexWriter;
  let taken: HeldBatch | undefined;

  beforeEach(async () => {
    store = new MemoryStore();
    await store.open();
    await store.batch([newSecret()], { durable: false });
    indexer = openIndexer(
      holdBatches(store, (batch) => {
        taken = batch;
      })
    );
  });

  const openIndexer = (held: Store, cacheBytes?: number): IndexWriter =>
    new IndexWriter({
      store: held,
      genesisHash: blockHash(blocks[0] as Buffer), // there are 725
      undoDepth: 10_000,
      ...(cacheBytes !== undefined && { cacheBytes }),
      onMove: () => undefined
    });

  const filled = async (part: number): Promise<BlockBatch> => {
    const batch = indexer.batch();
    await addBlocks(batch, blocks.slice(PARTS[part], PARTS[part + 1]), indexer);
    return batch;
  };

  /** The store has taken the batch, and writes it when told to. */
  const commit = async (batch: BlockBatch): Promise<CommittedBatch & { readonly held: HeldBatch; readonly isHandedOver: boolean }> => {
    let isHandedOver = false;
    const committed = indexer.commit(batch);
    committed.handedOver.then(
      () => {
        isHandedOver = true;
      },
      () => undefined
    );
    await setImmediate();
    return { ...committed, isHandedOver, held: taken ?? expect.fail('the store took no batch') };
  };

  it('gives the same index as filling one after another', async () => {
    let before = await commit(await filled(0));
    for (let part = 1; part + 1 < PARTS.length; part++) {
      expect(before.isHandedOver).to.equal(true);
      const next = await filled(part);
      before.held.write();
      await before.written;
      before = await commit(next);
    }
    before.held.write();
    await before.written;
    await expectIndexOf(store, blocks.slice(0, PARTS.at(-1)));
  });

  it('leaves the index where it was when the write fails: the batch on top is lost, and both can be added afterwards', async () => {
    for (let part = 0; part + 2 < PARTS.length; part++) {
      const { held, written } = await commit(await filled(part));
      const next = await filled(part + 1);
      held.fail(new Error('no space left on device'));
      expect(await caught(written)).to.have.property('message', 'no space left on device');
      expect(indexer.tip?.height).to.equal(part === 0 ? undefined : (PARTS[part] as number) - 1);
      const lostToo = indexer.commit(next);
      for (const lost of [lostToo.handedOver, lostToo.written])
        expect(await caught(lost)).to.have.property('message', 'no space left on device');
      const again = await commit(await filled(part));
      again.held.write();
      await again.written;
      await expectIndexOf(store, blocks.slice(0, PARTS[part + 1]));
    }
  });

  it('leaves the index where it was when the write fails and nothing is on top: the batch can be added again', async () => {
    for (let part = 0; part + 1 < PARTS.length; part++) {
      const { held, written } = await commit(await filled(part));
      held.fail(new Error('no space left on device'));
      expect(await caught(written)).to.have.property('message', 'no space left on device');
      const again = await commit(await filled(part));
      again.held.write();
      await again.written;
      await expectIndexOf(store, blocks.slice(0, PARTS[part + 1]));
    }
  });

  it('waits for the previous batch, and fails with it', async () => {
    const first = await commit(await filled(0));
    const second = indexer.commit(await filled(1));
    await setImmediate();
    expect(taken).to.equal(first.held);
    first.held.fail(new Error('no space left on device'));
    for (const lost of [first.written, second.handedOver, second.written])
      expect(await caught(lost)).to.have.property('message', 'no space left on device');
    expect(indexer.tip).to.equal(undefined);
    // A batch whose failure nobody handles must not end the process.
    indexer.commit(await filled(0));
    await setImmediate();
    taken?.fail(new Error('no space left on device'));
    await setImmediate();
    const again = await commit(await filled(0));
    const next = indexer.commit(await filled(1));
    again.held.write();
    await again.written;
    await setImmediate();
    taken?.write();
    await next.written;
    await expectIndexOf(store, blocks.slice(0, PARTS[2]));
  });

  it('does not happen when the generations of the cache swap: what they drop must be written', async () => {
    indexer = openIndexer(
      holdBatches(store, (batch) => {
        taken = batch;
      }),
      1
    );
    for (let part = 0; part + 1 < PARTS.length; part++) {
      const { handedOver, isHandedOver, held, written } = await commit(await filled(part));
      expect(isHandedOver).to.equal(false);
      held.write();
      await handedOver;
      await written;
    }
    await expectIndexOf(store, blocks.slice(0, PARTS.at(-1)));
  });
});
