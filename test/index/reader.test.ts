import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { beforeEach, describe, it } from 'mocha';
import { scanBlock } from '../../lib/bitcoin/block';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { IndexUnavailableError } from '../../lib/index/errors';
import { IndexWriter } from '../../lib/index/write/index-writer';
import { blockHashKey, headerKey } from '../../lib/index/records/chain';
import { SnapshotReader } from '../../lib/index/read/reader';
import { StoreError } from '../../lib/store/errors';
import { MemoryStore } from '../../lib/store/memory-store';
import { caught } from '../support/expectations/caught';
import { chainAActiveBlocks } from '../support/chain/chain-a';
import { addBlocks } from '../support/index/filled-batch';
import { blockHash, madeBlock, madeCoinbase } from '../support/chain/made-blocks';
import { describeCoin, modelOf } from '../support/index/utxo-model';
import type { IndexSnapshot } from '../../lib/index/types';
import type { Store } from '../../lib/store/store';

const blocks = chainAActiveBlocks()
  .slice(0, 131)
  .map(({ raw }) => raw);
const transactions = blocks.flatMap((raw) => scanBlock(raw).transactions);

/** All headers of a chain, by run, height and hash, and positions of transactions. */
function expectHeaders(snapshot: IndexSnapshot, chain: readonly Buffer[]): void {
  expect(snapshot.tip.height).to.equal(chain.length - 1);
  for (let height = 0; height < chain.length;) {
    const run = snapshot.headerRun(height, 1_000) ?? expect.fail(`headers from ${height}`);
    expect(run.headers).to.deep.equal(Buffer.concat(chain.slice(height, height + run.count).map((raw) => raw.subarray(0, 80))));
    height += run.count;
    expect(run.lastHash).to.deep.equal(blockHash(chain[height - 1] as Buffer));
    expect(run.nextHash).to.deep.equal(chain.slice(height, height + 1).map(blockHash)[0]);
  }
  expect(snapshot.headerRun(chain.length, 1)).to.equal(undefined);
  chain.forEach((raw, height) => {
    expect(snapshot.heightOf(blockHash(raw))).to.equal(height);
    expect(snapshot.position(scanBlock(raw).transactions[0]?.txid ?? expect.fail('a coinbase'))).to.deep.equal({
      block: { hash: blockHash(raw), height },
      index: 0
    });
  });
}

/** Coins in the model's form. Fails if there is a coin after the last output of a transaction. */
function coinsIn(snapshot: IndexSnapshot, of: typeof transactions): Map<string, string> {
  const coins = new Map<string, string>();
  for (const { txid, outputs } of of) {
    outputs.forEach((_, index) => {
      const coin = snapshot.coin(txid, index);
      if (coin !== undefined) coins.set(`${toDisplayHex(txid)}-${index}`, describeCoin(coin));
    });
    expect(snapshot.coin(txid, outputs.length)).to.equal(undefined);
  }
  return coins;
}

describe('reading the index', () => {
  let store: Store;
  let indexer: IndexWriter;
  let reader: SnapshotReader;
  /** Snapshots of the store that are open. */
  let open: number;
  let taken: number;
  /** The errors that the reader reported. */
  let troubles: Error[];

  beforeEach(async () => {
    store = new MemoryStore();
    await store.open();
    [open, taken] = [0, 0];
    const snapshot = store.snapshot.bind(store);
    store.snapshot = () => {
      const made = snapshot();
      open++;
      taken++;
      return {
        ...made,
        close: () => {
          open--;
          made.close();
        }
      };
    };
    troubles = [];
    indexer = new IndexWriter({ store, genesisHash: blockHash(blocks[0] as Buffer), undoDepth: 100, onMove: () => reader.renew() });
    reader = new SnapshotReader(store, (error) => troubles.push(error), indexer);
    await indexer.load();
    const batch = indexer.batch();
    await addBlocks(batch, blocks, indexer);
    await indexer.commit(batch).written;
    // Only snapshots of the reader count.
    [open, taken] = [0, 0];
  });

  it('finds every existing coin, and no other, in memory and in the store', () => {
    const alone = new SnapshotReader(store, (error) => troubles.push(error));
    for (const each of [reader, alone])
      each.read((snapshot) => {
        expect(coinsIn(snapshot, transactions)).to.deep.equal(modelOf(blocks).coins);
      });
    alone.close();
  });

  it('gives the coins of its own state, also while a block is connected or undone and when that fails', async () => {
    const [last] = chainAActiveBlocks()
      .slice(blocks.length)
      .map(({ raw }) => raw);
    const longer = [...blocks, last as Buffer];
    const all = longer.flatMap((raw) => scanBlock(raw).transactions);
    const models = [blocks, longer].map((chain) => modelOf(chain).coins);
    const seen: number[] = [];
    const look = (): void => {
      reader.read((snapshot) => {
        seen.push(snapshot.tip.height);
        expect(coinsIn(snapshot, all)).to.deep.equal(models[snapshot.tip.height - 130]);
      });
    };
    const lookUntil = async (change: Promise<unknown>): Promise<void> => {
      const under = { way: true };
      const over = change.finally(() => {
        under.way = false;
      });
      while (under.way) {
        for (let turn = 0; turn < 10; turn++) {
          look();
          await Promise.resolve();
        }
        await setImmediate();
      }
      await over;
    };
    const held = reader.read(async (snapshot) => {
      await lookUntil(indexer.apply(last as Buffer));
      expect(coinsIn(snapshot, all)).to.deep.equal(models[0]);
    });
    await held;
    look();
    await lookUntil(indexer.undo());
    look();
    const write = store.batch.bind(store);
    // After all writes were handed over.
    store.batch = async (writes, { onTaken }) => {
      for (const { key } of writes) expect(key).to.have.length.above(0);
      onTaken?.();
      look();
      await setImmediate();
      throw new StoreError('failed', 'no space left');
    };
    expect(await caught(lookUntil(indexer.apply(last as Buffer)))).to.have.property('message', 'no space left');
    look();
    store.batch = write;
    await lookUntil(indexer.apply(last as Buffer));
    look();
    expect([...new Set(seen)]).to.deep.equal([130, 131]);
    expect(troubles).to.deep.equal([]);
  });

  it('finds every transaction in its block', () => {
    reader.read((snapshot) => {
      for (const { txid, raw } of transactions) {
        const location = snapshot.location(txid) ?? expect.fail('a location');
        const block = blocks[location.block.height] as Buffer;
        expect(location.block.hash).to.deep.equal(blockHash(block));
        expect(block.subarray(location.offset, location.offset + location.length)).to.deep.equal(raw);
      }
      expect(snapshot.location(Buffer.alloc(32))).to.equal(undefined);
    });
  });

  it('finds headers by height and hash, up to the tip', () => {
    reader.read((snapshot) => {
      blocks.forEach((raw, height) => {
        expect(snapshot.heightOf(blockHash(raw))).to.equal(height);
        expect(snapshot.headerAt(height)).to.include({ height });
        expect(snapshot.headerAt(height)?.header).to.deep.equal(raw.subarray(0, 80));
      });
      expect(snapshot.tip).to.deep.equal(snapshot.headerAt(130));
      expect([snapshot.headerAt(131), snapshot.headerAt(-1), snapshot.heightOf(Buffer.alloc(32))]).to.deep.equal([
        undefined,
        undefined,
        undefined
      ]);
    });
  });

  it('takes one snapshot for all readers of a block, and closes it when the index has moved and the last reader has left', async () => {
    expect(taken).to.equal(0);
    const tips: number[] = [];
    const noteTip = ({ tip }: IndexSnapshot): number => tips.push(tip.height);
    let letGo: () => void = () => undefined;
    const long = reader.read(async (snapshot) => {
      await new Promise<void>((resolve) => {
        letGo = resolve;
      });
      noteTip(snapshot);
    });
    reader.read(noteTip);
    reader.read(noteTip);
    expect([taken, open]).to.deep.equal([1, 1]);
    await indexer.undo();
    reader.read(noteTip);
    expect([taken, open]).to.deep.equal([2, 2]);
    letGo();
    await long;
    expect([taken, open]).to.deep.equal([2, 1]);
    expect(tips).to.deep.equal([130, 130, 129, 130]);
    reader.close();
    expect(open).to.equal(0);
  });

  it('releases the snapshot when a reader throws or rejects', async () => {
    expect(() =>
      reader.read(() => {
        throw new Error('reader');
      })
    ).to.throw('reader');
    expect(await caught(reader.read(() => Promise.reject(new Error('later'))))).to.have.property('message', 'later');
    reader.renew();
    expect(open).to.equal(0);
  });

  it('answers nothing from a damaged record, and reports it', async () => {
    await store.batch(
      [
        { type: 'put', key: headerKey(7), value: Buffer.alloc(172) },
        { type: 'del', key: headerKey(8) }
      ],
      { durable: false }
    );
    expect(() => reader.read((snapshot) => snapshot.headerAt(7))).to.throw(IndexUnavailableError, 'is damaged');
    expect(await caught(reader.read((snapshot) => Promise.resolve().then(() => snapshot.headerAt(8))))).to.be.instanceOf(
      IndexUnavailableError
    );
    expect(troubles.map(({ name }) => name)).to.deep.equal(['DamagedIndexError', 'DamagedIndexError']);
  });

  it('does not answer from a damaged height by hash, and needs none while the headers are in memory', async () => {
    const hash = blockHash(blocks[7] as Buffer);
    const key = blockHashKey(hash);
    const value = Buffer.from(store.get(key) ?? expect.fail('a height'));
    value.writeUInt8((value[3] as number) ^ 1, 3);
    await store.batch([{ type: 'put', key, value }], { durable: false });
    reader.renew();
    expect(reader.read((snapshot) => snapshot.heightOf(hash))).to.equal(7);
    // A reader without headers in memory reads from the store.
    const bare = new SnapshotReader(store, (error) => troubles.push(error));
    expect(() => bare.read((snapshot) => snapshot.heightOf(hash))).to.throw(IndexUnavailableError, 'is damaged');
    expect(troubles).to.have.length(1);
    bare.close();
  });

  it('gives each reader the headers of its own state, wherever the chain has moved meanwhile', async () => {
    const active = chainAActiveBlocks().map(({ raw }) => raw);
    const last = active[blocks.length] as Buffer;
    // Another block on top of the same one.
    const other = madeBlock(blockHash(blocks.at(-1) as Buffer), [madeCoinbase(9, [])], 99);
    const held: Promise<void>[] = [];
    let letGo: () => void = () => undefined;
    const gone = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    const hold = (chain: readonly Buffer[]): void => {
      held.push(
        reader.read(async (snapshot) => {
          await gone;
          expectHeaders(snapshot, chain);
        })
      );
    };
    hold(blocks);
    await indexer.apply(last);
    hold([...blocks, last]);
    await indexer.undo();
    hold(blocks);
    await indexer.apply(other);
    hold([...blocks, other]);
    await indexer.undo();
    await indexer.undo();
    hold(blocks.slice(0, -1));
    letGo();
    await Promise.all(held);
    expect(open).to.equal(1);
  });

  it('reads headers from the store as long as it has none in memory', () => {
    const alone = new SnapshotReader(store, (error) => troubles.push(error));
    alone.read((snapshot) => {
      expectHeaders(snapshot, blocks);
    });
    alone.close();
    expect(troubles).to.deep.equal([]);
  });

  it('says that the store cannot be read', () => {
    store.snapshot = () => {
      throw new StoreError('failed', 'input/output error');
    };
    expect(() => reader.read(() => 0)).to.throw(IndexUnavailableError, 'input/output error');
    expect(troubles).to.have.length(1);
  });

  it('does not report damage to a state that is no longer current, nor errors of the reader itself', async () => {
    await store.batch([{ type: 'del', key: headerKey(8) }], { durable: false });
    let letGo: () => void = () => undefined;
    const late = caught(
      reader.read(async (snapshot) => {
        await new Promise<void>((resolve) => {
          letGo = resolve;
        });
        return snapshot.headerAt(8);
      })
    );
    reader.renew();
    letGo();
    expect(await late).to.be.instanceOf(IndexUnavailableError);
    expect(() =>
      reader.read(() => {
        throw new Error('reader');
      })
    ).to.throw('reader');
    expect(troubles).to.deep.equal([]);
  });
});
