import { createHash } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { DamagedIndexError } from '../../lib/follow/errors';
import { putRecord } from '../../lib/index/records/layout';
import { LooseScripts } from '../../lib/scripts/records/loose-scripts';
import { firstKey, hashInRowKey } from '../../lib/scripts/records/row';
import { ScriptWriter } from '../../lib/scripts/write/script-writer';
import { MemoryStore } from '../../lib/store/memory-store';
import { caught } from '../support/expectations/caught';
import { blockHash, madeBlock, madeCoinbase } from '../support/chain/made-blocks';
import { madeChain, madeGenesis, plannedBlock } from '../support/chain/made-chains';
import { ScriptModel } from '../support/index/script-model';
import type { Store, StoreWrite } from '../../lib/store/store';

const hashOf = (number: number): Buffer => createHash('sha256').update(String(number)).digest().subarray(0, 10);

async function storeWith(writes: Iterable<StoreWrite>): Promise<Store> {
  const store = new MemoryStore();
  await store.open();
  await store.batch(writes, { durable: false });
  return store;
}

describe('the filter of scripts with loose rows', () => {
  it('knows every script that was added, also once it is stored and loaded, and few others', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: 2_000 }), fc.nat({ max: 1_000_000 }), async (count, transactions) => {
        const loose = LooseScripts.forChain(transactions);
        loose.add(Buffer.concat(Array.from({ length: count }, (_, number) => hashOf(number))));
        const store = await storeWith(loose.writes(1));
        const loaded = await LooseScripts.load(store, 1);
        for (const each of [loose, loaded]) {
          for (let number = 0; number < count; number++) expect(each.mayHave(hashOf(number))).to.equal(true);
          let others = 0;
          for (let number = count; number < count + 1_000; number++) if (each.mayHave(hashOf(number))) others++;
          expect(others).to.be.lessThan(50);
        }
      }),
      { numRuns: 20 }
    );
  });

  it('writes only what is new', () => {
    const loose = LooseScripts.forChain(100_000_000);
    const writesFor = (number: number): number => {
      loose.add(hashOf(number));
      return [...loose.writes(1)].length;
    };
    expect(writesFor(1)).to.equal(2);
    expect(writesFor(2)).to.equal(3);
    loose.stored(1);
    expect(writesFor(2)).to.equal(1);
    expect(writesFor(3)).to.equal(2);
  });

  it('is not larger for a chain with more transactions than the main network has, and can be loaded', async () => {
    const loose = LooseScripts.forChain(4_000_000_000);
    expect(loose.byteLength).to.equal(64 * 2 ** 20);
    expect((await LooseScripts.load(await storeWith(loose.writes(1)), 1)).byteLength).to.equal(loose.byteLength);
  });

  it('is refused when it is damaged', async () => {
    for (const record of [Buffer.alloc(7), Buffer.from('0000000100000000', 'hex'), Buffer.from('0000000100000003', 'hex')])
      expect(await caught(LooseScripts.load(await storeWith([putRecord(Buffer.from('L'), record)]), 1))).to.be.instanceOf(
        DamagedIndexError
      );
    expect(await caught(LooseScripts.load(await storeWith([]), 0))).to.be.instanceOf(DamagedIndexError);
  });

  it('has the scripts of a block that came in the place of another one, also after a restart', async () => {
    const next = (previous: Buffer, tag: number): Buffer =>
      madeBlock(blockHash(previous), [madeCoinbase(tag, [{ value: 50, script: Buffer.of(0x51, tag) }])], tag);
    const first = next(madeGenesis, 1);
    const [second, other] = [next(first, 2), next(first, 3)];
    const { blocks: before } = new ScriptModel([madeGenesis, first, second]);
    const { blocks: after } = new ScriptModel([madeGenesis, first, other, next(other, 4)]);
    const store = await storeWith([]);
    const parts = { store, genesisHash: blockHash(madeGenesis), undoDepth: 1 };
    const writer = new ScriptWriter(parts);
    await writer.load();
    await writer.connect(before);
    expect(writer.loose?.storedBlocks).to.equal(3);
    await writer.disconnect();
    for (const block of after.slice(2)) {
      await writer.connect([block]);
      const restarted = new ScriptWriter(parts);
      await restarted.load();
      for await (const [key] of store.range({ gte: Buffer.from('s'), lt: Buffer.from('t') }))
        expect(restarted.loose?.mayHave(hashInRowKey(key))).to.equal(true);
    }
  });

  it('has the scripts of all rows with records of their own, whenever a writer stopped and however many blocks can be undone', async () => {
    const block = fc.array(plannedBlock, { minLength: 4, maxLength: 14 });
    const steps = fc.array(fc.record({ connect: fc.nat({ max: 5 }), undo: fc.nat({ max: 3 }), undoDepth: fc.nat({ max: 6 }) }), {
      maxLength: 8
    });
    await fc.assert(
      fc.asyncProperty(block, steps, async (plans, moves) => {
        const { blocks } = new ScriptModel(madeChain(plans));
        const store = await storeWith([]);
        let next = 0;
        for (const { connect, undo, undoDepth } of moves) {
          // Each is a process of its own, which ends without storing anything more.
          const writer = new ScriptWriter({ store, genesisHash: blockHash(madeGenesis), undoDepth });
          await writer.load();
          const some = blocks.slice(next, next + connect);
          await writer.connect(some);
          next += some.length;
          for (let i = 0; i < Math.min(undo, undoDepth, some.length, next - 1); i++, next--) await writer.disconnect();
          const { loose = expect.fail('a filter') } = writer;
          const loaded = await LooseScripts.load(store, next);
          for await (const [key] of store.range({ gte: Buffer.from('s'), lt: Buffer.from('t') })) {
            expect(key).to.not.deep.equal(firstKey(hashInRowKey(key)));
            for (const each of [loose, loaded]) expect(each.mayHave(hashInRowKey(key))).to.equal(true);
          }
        }
      }),
      { numRuns: 60 }
    );
  });
});
