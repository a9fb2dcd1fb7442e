import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { DamagedIndexError, IndexError, TooDeepError } from '../../lib/follow/errors';
import { GENESIS_KEY, putRecord, recordOf } from '../../lib/index/records/layout';
import { putTip, TIP_KEY } from '../../lib/index/records/chain';
import { undoKey } from '../../lib/scripts/records/undo-record';
import { SECRET_KEY } from '../../lib/index/records/txid-hash';
import { FILLING_KEY } from '../../lib/scripts/records/layout';
import { FURTHER_ROW_OVERHEAD, RowCursor, writeFurther } from '../../lib/scripts/records/row';
import { ScriptWriter } from '../../lib/scripts/write/script-writer';
import { MemoryStore } from '../../lib/store/memory-store';
import { LAYOUT_VERSION_KEY, versionRecord } from '../../lib/store/migrate';
import { caught } from '../support/expectations/caught';
import { blockHash } from '../support/chain/made-blocks';
import { madeChain, madeGenesis, plannedBlock } from '../support/chain/made-chains';
import { groupRows } from '../support/index/script-index';
import { ScriptModel } from '../support/index/script-model';
import { imageOf } from '../support/index/utxo-model';
import type { ScriptBlock } from '../../lib/scripts/scan/rows';
import type { BlockPoint } from '../../lib/node/types/chain';
import type { Store, StoreWrite } from '../../lib/store/store';

const genesisHash = blockHash(madeGenesis);
const [plans = []] = fc.sample(fc.array(plannedBlock, { minLength: 14, maxLength: 14 }), { seed: 18, numRuns: 1 });
const { blocks } = new ScriptModel(madeChain(plans));
const others = new ScriptModel(madeChain(plans, 1)).blocks;

async function openStore(writes: readonly StoreWrite[] = []): Promise<Store> {
  const store = new MemoryStore();
  await store.open();
  await store.batch(writes, { durable: false });
  return store;
}

async function writerOver(store: Store, undoDepth = 100): Promise<ScriptWriter> {
  const writer = new ScriptWriter({ store, genesisHash, undoDepth });
  await writer.load();
  return writer;
}

/** A new store with the secret of another store. */
async function twinOf(store: Store): Promise<Store> {
  const writes = [LAYOUT_VERSION_KEY, GENESIS_KEY, SECRET_KEY, Buffer.from('L')].map(
    (key) => ({ type: 'put', key, value: store.get(key) as Buffer }) as const
  );
  return openStore(writes);
}

const change = async (store: Store, ...writes: readonly StoreWrite[]): Promise<Store> => {
  await store.batch(writes, { durable: false });
  return store;
};

const pointOf = (block: ScriptBlock | undefined): BlockPoint => (block ?? expect.fail('a block')).point;

async function expectSame(store: Store, other: Store): Promise<void> {
  expect(await imageOf(store)).to.deep.equal(await imageOf(other));
}

describe('the writer of the index by script', () => {
  it('connects blocks one by one or many at once with the same result, and continues where it was', async () => {
    const [one, many] = [await openStore(), await openStore()];
    const single = await writerOver(one);
    expect(single.tip).to.equal(undefined);
    for (const block of blocks) await single.connect([block]);
    const twin = await twinOf(one);
    await (await writerOver(twin)).connect(blocks.slice(0, 5));
    const later = await writerOver(twin);
    expect(later.tip).to.deep.equal(pointOf(blocks[4]));
    await later.connect(blocks.slice(5));
    await later.connect([]);
    expect(later.tip).to.deep.equal(single.tip);
    await expectSame(twin, one);
    await (await writerOver(many)).connect(blocks);
    expect((await imageOf(many)).length).to.equal((await imageOf(one)).length);
  });

  it('undoes blocks by its undo records, and is then as if they had never come', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: 13 }), fc.boolean(), async (back, together) => {
        const store = await openStore();
        const writer = await writerOver(store);
        for (const block of together ? [] : blocks) await writer.connect([block]);
        if (together) await writer.connect(blocks);
        for (let i = 0; i < back; i++) expect(await writer.disconnect()).to.deep.equal(pointOf(blocks.at(-1 - i)));
        expect(writer.tip).to.deep.equal(pointOf(blocks.at(-1 - back)));
        const fresh = await twinOf(store);
        await (await writerOver(fresh)).connect(blocks.slice(0, blocks.length - back));
        await expectSame(store, fresh);
        expect((await writerOver(store)).tip).to.deep.equal(writer.tip);
      }),
      { numRuns: 12 }
    );
  });

  it('follows another branch', async () => {
    const store = await openStore();
    const writer = await writerOver(store);
    await writer.connect(blocks);
    while (writer.tip?.height !== 0) await writer.disconnect();
    await writer.connect(others.slice(1));
    const fresh = await twinOf(store);
    await (await writerOver(fresh)).connect(others);
    await expectSame(store, fresh);
  });

  it('refuses blocks that do not fit, and nothing is changed', async () => {
    const store = await openStore();
    const writer = await writerOver(store);
    const refused = async (given: readonly (ScriptBlock | undefined)[], words: string): Promise<void> => {
      const [before, { tip }] = [await imageOf(store), writer];
      const error = await caught(writer.connect(given as ScriptBlock[]));
      expect(error).to.be.instanceOf(IndexError).and.not.instanceOf(DamagedIndexError);
      expect((error as Error).message).to.include(words);
      expect(await imageOf(store)).to.deep.equal(before);
      expect(writer.tip).to.equal(tip);
    };
    const [genesis, first, second, third] = blocks as [ScriptBlock, ScriptBlock, ScriptBlock, ScriptBlock];
    await refused([first], 'expected the genesis block');
    await writer.connect([genesis, first]);
    await refused([genesis], 'on top of');
    await refused([second, second], 'on top of');
    await refused([third], 'on top of');
    await refused([others[2]], 'on top of');
    await refused([{ ...second, point: { ...second.point, height: 3 } }], 'at height 2');
    await refused([{ ...second, point: third.point }], 'expected block');
    const spending = blocks.findIndex(({ spent }, height) => height > 1 && spent !== undefined);
    await writer.connect(blocks.slice(2, spending));
    await refused([{ ...(blocks[spending] as ScriptBlock), spent: undefined }], 'does not fit its inputs');
    await writer.connect(blocks.slice(spending));
  });

  it('keeps as many undo records as it was told, and none of blocks below those that can be undone', async () => {
    const heights = async (store: Store): Promise<number[]> => {
      const found: number[] = [];
      for await (const [key] of store.range({ gte: Buffer.from('d'), lt: Buffer.from('e') })) found.push(key.readUInt32BE(1));
      return found;
    };
    const store = await openStore();
    const writer = await writerOver(store, 4);
    for (const block of blocks.slice(0, 8)) await writer.connect([block]);
    expect(await heights(store)).to.deep.equal([4, 5, 6, 7]);
    await writer.connect(blocks.slice(8));
    expect(await heights(store)).to.deep.equal([11, 12, 13, 14]);
    for (let i = 0; i < 4; i++) await writer.disconnect();
    const before = await imageOf(store);
    expect(await caught(writer.disconnect())).to.be.instanceOf(TooDeepError);
    expect(await imageOf(store)).to.deep.equal(before);
    expect(writer.tip?.height).to.equal(10);

    const partly = await openStore();
    await (await writerOver(partly, 4)).connect(blocks);
    expect(await heights(partly)).to.deep.equal([11, 12, 13, 14]);
    await writerOver(partly, 2);
    expect(await heights(partly)).to.deep.equal([13, 14]);
  });

  it('never undoes the genesis block, nor anything in an empty index', async () => {
    const store = await openStore();
    const writer = await writerOver(store);
    expect(await caught(writer.disconnect())).to.be.instanceOf(IndexError);
    await writer.connect(blocks.slice(0, 1));
    expect(await caught(writer.disconnect())).to.be.instanceOf(IndexError);
  });

  it('deletes only records with a single row: if rows share a record, this is damage, and nothing is changed', async () => {
    const store = await openStore();
    const writer = await writerOver(store);
    await writer.connect(blocks);
    await groupRows(store, 10);
    for (let height = 14; height > 10; height--) await writer.disconnect();
    const before = await imageOf(store);
    expect(await caught(writer.disconnect())).to.be.instanceOf(DamagedIndexError);
    expect(await imageOf(store)).to.deep.equal(before);
    expect(writer.tip?.height).to.equal(10);
  });

  it('does not delete rows of other blocks that are in a record of the block that it undoes', async () => {
    const store = await openStore();
    const writer = await writerOver(store);
    await writer.connect(blocks);
    const { height } = pointOf(blocks.at(-1));
    const records: (readonly [Buffer, Buffer])[] = [];
    for await (const entry of store.range({ gte: Buffer.from('s'), lt: Buffer.from('t') })) records.push(entry);
    const [key, value] = records.find((each) => new RowCursor(...each).height === height) ?? expect.fail('a row of the last block');
    const row = recordOf(key, value);
    const further = Buffer.alloc(FURTHER_ROW_OVERHEAD);
    const second = Buffer.concat([further.subarray(0, writeFurther(further, 0, 1, 0)), row]);
    await change(store, putRecord(key, Buffer.concat([row, second])));
    const before = await imageOf(store);
    const error = await caught(writer.disconnect());
    expect(error).to.be.instanceOf(DamagedIndexError).with.property('message').that.includes('one row');
    expect(await imageOf(store)).to.deep.equal(before);
    expect(writer.tip?.height).to.equal(height);
  });

  it('finds every record of the block that it undoes, or says that one is damaged', async () => {
    const store = await openStore();
    await (await writerOver(store)).connect(blocks);
    const records: (readonly [Buffer, Buffer])[] = [];
    for (const letter of ['d', 's'])
      for await (const entry of store.range({ gte: Buffer.from(letter), lt: Buffer.from([letter.charCodeAt(0) + 1]) })) records.push(entry);
    const ofTip = records.filter(([key]) => key.readUInt32BE(key[0] === 0x73 ? 11 : 1) === 14);
    expect(ofTip.length).to.be.greaterThan(3);
    for (const [key, value] of ofTip) {
      const flipped = Buffer.from(value);
      flipped.writeUInt8(flipped.readUInt8(1) ^ 4, 1);
      for (const write of [{ type: 'del', key } as const, { type: 'put', key, value: flipped } as const]) {
        await store.batch([write], { durable: false });
        expect(await caught(writerOver(store).then((writer) => writer.disconnect())), key.toString('hex')).to.be.instanceOf(
          DamagedIndexError
        );
      }
      await store.batch([{ type: 'put', key, value }], { durable: false });
    }
    expect((await (await writerOver(store)).disconnect()).height).to.equal(14);
  });

  it('does not continue with a store that is damaged, incomplete, of another network or of another layout', async () => {
    const made = async (): Promise<Store> => {
      const store = await openStore();
      await (await writerOver(store)).connect(blocks.slice(0, 4));
      return store;
    };
    const other = { hash: Buffer.alloc(32, 3), height: 4 };
    const stores: Readonly<Record<string, Store>> = {
      'no version': await change(await made(), { type: 'del', key: LAYOUT_VERSION_KEY }),
      'a damaged version': await change(await made(), { type: 'put', key: LAYOUT_VERSION_KEY, value: Buffer.alloc(8) }),
      'another layout': await change(await made(), versionRecord(2)),
      'no network': await change(await made(), { type: 'del', key: GENESIS_KEY }),
      'another network': await change(await made(), putRecord(GENESIS_KEY, Buffer.alloc(32, 1))),
      'no secret': await change(await made(), { type: 'del', key: SECRET_KEY }),
      'a damaged secret': await change(await made(), { type: 'put', key: SECRET_KEY, value: Buffer.alloc(36) }),
      'no tip': await change(await made(), { type: 'del', key: TIP_KEY }),
      'no size of the filter': await change(await made(), { type: 'del', key: Buffer.from('L') }),
      'a filter without the undo record of a later block': await change(await made(), { type: 'del', key: undoKey(3) }),
      'a damaged part of the filter': await change(await made(), {
        type: 'put',
        key: Buffer.from('l\0\0\0\0'),
        value: Buffer.alloc(4_100)
      }),
      'no txids of the last page': await change(await made(), { type: 'del', key: Buffer.from('P') }),
      'no numbers of transactions': await change(await made(), { type: 'del', key: Buffer.from('n\0\0\0\0') }),
      'numbers of other transactions': await change(await made(), putRecord(Buffer.from('n\0\0\0\0'), Buffer.alloc(12))),
      'a damaged tip': await change(await made(), { ...putTip(other), value: Buffer.alloc(40) }),
      'something else': await openStore([{ type: 'put', key: Buffer.from('x'), value: Buffer.from('y') }])
    };
    for (const [what, store] of Object.entries(stores)) expect(await caught(writerOver(store)), what).to.be.instanceOf(DamagedIndexError);
  });

  it('has no tip while the index is being filled', async () => {
    const store = await openStore();
    await (await writerOver(store)).connect(blocks.slice(0, 4));
    await change(store, { type: 'del', key: TIP_KEY }, putRecord(FILLING_KEY, Buffer.from('x')));
    expect((await writerOver(store)).tip).to.equal(undefined);
  });

  it('starts over after a reset, with another secret', async () => {
    const store = await openStore();
    const writer = await writerOver(store);
    await writer.connect(blocks);
    const { secret } = writer.hasher;
    writer.reset();
    await store.clear();
    await writer.load();
    expect(writer.tip).to.equal(undefined);
    expect(Buffer.from(writer.hasher.secret).equals(Buffer.from(secret))).to.equal(false);
    await writer.connect(blocks);
    expect(writer.tip).to.deep.equal(pointOf(blocks.at(-1)));
  });
});
