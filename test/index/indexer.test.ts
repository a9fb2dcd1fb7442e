import { expect } from 'chai';
import fc from 'fast-check';
import { beforeEach, describe, it } from 'mocha';
import { scanBlock } from '../../lib/bitcoin/block';
import { previousHashOf } from '../../lib/bitcoin/header';
import { DamagedIndexError, IndexError } from '../../lib/follow/errors';
import { IndexWriter } from '../../lib/index/write/index-writer';
import { coinKey } from '../../lib/index/records/coin-record';
import { decodeHeader, headerKey, TIP_KEY } from '../../lib/index/records/chain';
import { putRecord } from '../../lib/index/records/layout';
import { sameSecret } from '../../lib/index/records/txid-hash';
import { undoKey } from '../../lib/index/records/undo-record';
import { MemoryStore } from '../../lib/store/memory-store';
import { chainAActiveBlocks, chainABlocks, type ChainABlock } from '../support/chain/chain-a';
import { caught } from '../support/expectations/caught';
import { addBlocks } from '../support/index/filled-batch';
import { blockHash, madeBlock, madeCoinbase, madeTransaction, type MadeInput, type MadeOutput } from '../support/chain/made-blocks';
import { expectIndexOf, imageOf } from '../support/index/utxo-model';
import type { Store } from '../../lib/store/store';

const output = (value: number, script = '51'): MadeOutput => ({ value, script: Buffer.from(script, 'hex') });
const genesis = madeBlock(Buffer.alloc(32), [madeCoinbase(255, [output(50)])], 0);
const txidOf = (raw: Buffer, index = 0): Buffer => scanBlock(raw).transactions[index]?.txid ?? expect.fail('a transaction');

let store: Store;
let indexer: IndexWriter;

function openIndexer(options: { genesisHash?: Buffer; undoDepth?: number } = {}): IndexWriter {
  return new IndexWriter({
    store,
    genesisHash: options.genesisHash ?? blockHash(genesis),
    undoDepth: options.undoDepth ?? 10_000,
    onMove: () => undefined
  });
}

/** For each test of the group: an empty store with an indexer. */
function withIndexer(): void {
  beforeEach(async () => {
    store = new MemoryStore();
    await store.open();
    indexer = openIndexer();
    await indexer.load();
  });
}

async function applyAll(blocks: readonly Buffer[]): Promise<void> {
  for (const raw of blocks) await indexer.apply(raw);
}

describe('connecting and undoing blocks', () => {
  withIndexer();

  it('holds the coins, locations and headers of chain A, and undoing its last blocks leaves every byte as it was', async () => {
    const blocks = chainAActiveBlocks().map(({ raw }) => raw);
    indexer = openIndexer({ genesisHash: blockHash(blocks[0] as Buffer) });
    const checkedAt = [100, 125, 178, 470, 519, 560, 724];
    const images = new Map<number, string[]>();
    for (const [height, raw] of blocks.entries()) {
      await indexer.apply(raw);
      if (checkedAt.includes(height)) images.set(height, await imageOf(store));
    }
    await expectIndexOf(store, blocks);
    for (let height = blocks.length - 1; height > 0; height--) {
      const image = images.get(height);
      if (image !== undefined) expect(await imageOf(store), `height ${height}`).to.deep.equal(image);
      await indexer.undo();
    }
    await expectIndexOf(store, blocks.slice(0, 1));
  });

  it('writes the same in one batch as block by block', async () => {
    const blocks = chainAActiveBlocks()
      .map(({ raw }) => raw)
      .slice(0, 200);
    const genesisHash = blockHash(blocks[0] as Buffer);
    indexer = openIndexer({ genesisHash });
    await applyAll(blocks);
    const oneByOne = await imageOf(store);
    const secret = sameSecret(store);
    await store.clear();
    await store.batch([secret], { durable: false });
    indexer = openIndexer({ genesisHash });
    for (const part of [blocks.slice(0, 1), blocks.slice(1, 130), blocks.slice(130)]) {
      const batch = indexer.batch();
      await addBlocks(batch, part, indexer);
      await indexer.commit(batch).written;
    }
    expect(await imageOf(store)).to.deep.equal(oneByOne);
  });

  it('follows chain A through its reorganizations', async () => {
    const [start] = chainAActiveBlocks();
    const byHash = new Map<string, Buffer>();
    let chain = [(start as ChainABlock).raw];
    indexer = openIndexer({ genesisHash: blockHash(chain[0] as Buffer) });
    await applyAll(chain);
    let undone = 0;
    for (const { raw, height } of chainABlocks().filter((block) => block.height <= 475)) {
      byHash.set(blockHash(raw).toString('hex'), raw);
      if (height < chain.length) continue; // The longest chain counts, the first of equals.
      const branch = [raw];
      for (
        let parent = byHash.get(previousHashOf(raw).toString('hex'));
        parent !== undefined && !chain.includes(parent);
        parent = byHash.get(previousHashOf(parent).toString('hex'))
      )
        branch.unshift(parent);
      const fork = height - branch.length;
      for (; indexer.tip !== undefined && indexer.tip.height > fork; undone++) await indexer.undo();
      await applyAll(branch);
      chain = [...chain.slice(0, fork + 1), ...branch];
    }
    expect(undone).to.be.greaterThan(0);
    await expectIndexOf(store, chain);
  });

  it('keeps the location of the genesis coinbase and makes no coin of it', async () => {
    await indexer.apply(genesis);
    await expectIndexOf(store, [genesis]);
    expect(store.get(coinKey({ height: 0, index: 0 }, 0))).to.equal(undefined);
  });

  it('lets a later coinbase with the same txid replace the earlier one, and restores the earlier one', async () => {
    // As in blocks 91722 and 91880, 91812 and 91842 of the main network.
    const coinbase = madeCoinbase(1, [output(50), output(7, '52')]);
    const first = madeBlock(blockHash(genesis), [coinbase], 1);
    const between = madeBlock(
      blockHash(first),
      [madeCoinbase(2, [output(1)]), madeTransaction([{ txid: txidOf(first), index: 1 }], [output(6)], 0)],
      2
    );
    const second = madeBlock(blockHash(between), [coinbase], 3);
    await applyAll([genesis, first, between]);
    const before = await imageOf(store);
    await indexer.apply(second);
    await expectIndexOf(store, [genesis, first, between, second]);
    await indexer.undo();
    expect(await imageOf(store)).to.deep.equal(before);
    const batch = indexer.batch();
    await addBlocks(batch, [second], indexer);
    await indexer.commit(batch).written;
    await indexer.undo();
    await indexer.undo();
    await indexer.undo();
    const all = indexer.batch();
    await addBlocks(all, [first, between, second], indexer);
    await indexer.commit(all).written;
    await expectIndexOf(store, [genesis, first, between, second]);
    await indexer.undo();
    expect(await imageOf(store)).to.deep.equal(before);
  });

  it('counts work, transactions and bytes up, and takes the median of the last eleven times', async () => {
    const blocks = [genesis];
    for (let i = 1; i <= 14; i++) blocks.push(madeBlock(blockHash(blocks[i - 1] as Buffer), [madeCoinbase(i, [output(1)])], i));
    await applyAll(blocks);
    const key = headerKey(14);
    const header = decodeHeader(key, store.get(key));
    expect(header).to.include({ medianTime: 1_300_000_000 + 600 * 9, transactionCount: 1, chainTransactions: 15, chainwork: 30n });
    expect(header.chainBytes).to.equal(blocks.reduce((sum, raw) => sum + raw.length, 0));
    await indexer.undo();
    expect(indexer.tip).to.include({ height: 13, medianTime: 1_300_000_000 + 600 * 8 });
  });

  it('equals the model, block by block or in batches, over any chain, and undoes to every earlier state', async () => {
    await fc.assert(
      fc.asyncProperty(chainPlan, fc.array(fc.nat({ max: 4 }), { minLength: 1 }), async (plan, batchSizes) => {
        await store.clear();
        indexer = openIndexer();
        await indexer.load();
        const blocks = [genesis, ...makeChain(plan)];
        const images = [];
        for (const raw of blocks) {
          await indexer.apply(raw);
          images.push(await imageOf(store));
        }
        await expectIndexOf(store, blocks);
        while (indexer.tip !== undefined && indexer.tip.height > 0) {
          expect(await imageOf(store)).to.deep.equal(images[indexer.tip.height]);
          await indexer.undo();
        }
        for (let next = 1, turn = 0; next < blocks.length; turn++) {
          const batch = indexer.batch();
          await addBlocks(batch, blocks.slice(next, (next += 1 + (batchSizes[turn % batchSizes.length] ?? 0))), indexer);
          await indexer.commit(batch).written;
        }
        expect(await imageOf(store)).to.deep.equal(images.at(-1));
      }),
      { numRuns: 60 }
    );
  });
});

describe('what does not fit', () => {
  withIndexer();

  const first = madeBlock(blockHash(genesis), [madeCoinbase(1, [output(50)])], 1);

  async function refuses(raw: Buffer, message: string): Promise<void> {
    const before = await imageOf(store);
    expect(await caught(indexer.apply(raw)))
      .to.be.instanceOf(IndexError)
      .with.property('message')
      .that.includes(message);
    expect(await imageOf(store)).to.deep.equal(before);
  }

  it('is another genesis block', () => refuses(first, 'expected the genesis block'));

  it('is a block on top of another one', async () => {
    await applyAll([genesis, first]);
    await refuses(madeBlock(blockHash(genesis), [madeCoinbase(2, [])], 2), 'expected a block on top of');
  });

  it('is a block that spends a coin that does not exist, or spends one twice or before it is made', async () => {
    await applyAll([genesis, first]);
    const coinbase = madeCoinbase(2, []);
    const coin = { txid: txidOf(first), index: 0 };
    const spending = madeTransaction([coin], [output(1)], 1);
    const spendingThat = madeTransaction([{ txid: blockTxid(spending), index: 0 }], [output(1)], 2);
    const block = (...transactions: Buffer[]): Buffer => madeBlock(blockHash(first), [coinbase, ...transactions], 2);
    await refuses(block(madeTransaction([{ txid: txidOf(first), index: 1 }], [output(1)], 1)), 'expected a coin there, got none');
    await refuses(block(spending, madeTransaction([coin], [output(1)], 2)), 'expected a coin there, got none');
    await refuses(block(madeTransaction([coin, coin], [output(1)], 2)), 'expected a coin there, got none');
    await refuses(block(spendingThat, spending), 'expected a coin there, got none');
    await indexer.apply(block(spending, spendingThat));
  });

  it('is undoing the genesis block or nothing at all', async () => {
    expect(await caught(indexer.undo())).to.be.instanceOf(IndexError);
    await indexer.apply(genesis);
    expect(await caught(indexer.undo())).to.be.instanceOf(IndexError);
  });

  it('is undoing deeper than undo records are kept', async () => {
    indexer = openIndexer({ undoDepth: 2 });
    const blocks = [genesis];
    for (let i = 1; i <= 4; i++) blocks.push(madeBlock(blockHash(blocks[i - 1] as Buffer), [madeCoinbase(i, [output(1)])], i));
    await applyAll(blocks);
    await indexer.undo();
    await indexer.undo();
    expect(await caught(indexer.undo()))
      .to.be.instanceOf(DamagedIndexError)
      .with.property('message')
      .that.includes('expected an undo record for height 2');
    await expectIndexOf(store, blocks.slice(0, 3));
  });

  it('is a damaged undo record', async () => {
    await applyAll([genesis, first]);
    await store.batch([{ type: 'put', key: undoKey(1), value: Buffer.alloc(60) }], { durable: false });
    expect(await caught(indexer.undo())).to.be.instanceOf(DamagedIndexError);
    expect(indexer.tip?.height).to.equal(1);
  });
});

describe('opening an index', () => {
  withIndexer();

  const first = madeBlock(blockHash(genesis), [madeCoinbase(1, [output(50)])], 1);

  it('finds the tip where it was left', async () => {
    await applyAll([genesis, first]);
    const again = openIndexer();
    await again.load();
    expect(again.tip).to.deep.equal(indexer.tip);
    await again.apply(madeBlock(blockHash(first), [madeCoinbase(2, [])], 2));
    expect(again.tip?.height).to.equal(2);
  });

  it('drops the undo records of an earlier, larger undo depth', async () => {
    const blocks = [genesis, first];
    for (let i = 2; i <= 6; i++) blocks.push(madeBlock(blockHash(blocks[i - 1] as Buffer), [madeCoinbase(i, [output(1)])], i));
    await applyAll(blocks);
    const heights = (): number[] => blocks.map((_, height) => height).filter((height) => store.get(undoKey(height)) !== undefined);
    expect(heights()).to.deep.equal([1, 2, 3, 4, 5, 6]);
    const again = openIndexer({ undoDepth: 2 });
    await again.load();
    expect(heights()).to.deep.equal([5, 6]);
    await again.undo();
    expect(again.tip?.height).to.equal(5);
  });

  it('finds an empty store empty', async () => {
    await indexer.load();
    expect(indexer.tip).to.equal(undefined);
  });

  const damages: Readonly<Record<string, () => Promise<void>>> = {
    'a torn tip record': () => store.batch([{ type: 'put', key: TIP_KEY, value: Buffer.alloc(20) }], { durable: false }),
    'no tip record beside other records': () => store.batch([{ type: 'del', key: TIP_KEY }], { durable: false }),
    'no header at the tip': () => store.batch([{ type: 'del', key: headerKey(1) }], { durable: false }),
    "another block's header at the tip": () => {
      const value = store.get(headerKey(0)) as Buffer;
      return store.batch([putRecord(headerKey(1), value.subarray(0, -4))], { durable: false });
    }
  };
  for (const [damage, make] of Object.entries(damages)) {
    it(`notices ${damage}`, async () => {
      await applyAll([genesis, first]);
      await make();
      expect(await caught(openIndexer().load())).to.be.instanceOf(DamagedIndexError);
    });
  }
});

function blockTxid(transaction: Buffer): Buffer {
  return txidOf(madeBlock(Buffer.alloc(32), [transaction], 0));
}

interface BlockPlan {
  /** Few tags, so that coinbases repeat. */
  readonly tag: number;
  readonly coinbaseOutputs: number;
  readonly transactions: readonly { readonly spends: readonly number[]; readonly outputs: readonly string[] }[];
}

const chainPlan = fc.array(
  fc.record({
    tag: fc.nat({ max: 2 }),
    coinbaseOutputs: fc.integer({ min: 1, max: 2 }),
    transactions: fc.array(
      fc.record({
        spends: fc.array(fc.nat(), { minLength: 1, maxLength: 3 }),
        outputs: fc.array(fc.constantFrom('51', '', '6a01', '76a914', '00'.repeat(10_000), '00'.repeat(10_001)), {
          minLength: 1,
          maxLength: 4
        })
      }),
      { maxLength: 4 }
    )
  }),
  { maxLength: 10 }
);

/** Blocks on top of genesis that spend existing coins, also those of the same block. */
function makeChain(plan: readonly BlockPlan[]): Buffer[] {
  const blocks: Buffer[] = [];
  const coins = new Map<string, MadeInput>();
  let previousHash = blockHash(genesis);
  let unique = 0;
  const addCoins = (transaction: Buffer, outputs: readonly MadeOutput[]): void => {
    const txid = blockTxid(transaction);
    outputs.forEach(({ script }, index) => {
      if (script[0] !== 0x6a && script.length <= 10_000) coins.set(`${txid.toString('hex')}-${index}`, { txid, index });
    });
  };
  plan.forEach(({ tag, coinbaseOutputs, transactions }, i) => {
    const outputs = Array.from({ length: coinbaseOutputs }, (_, index) => output(50 + index));
    const raws = [madeCoinbase(tag * 2 + coinbaseOutputs, outputs)];
    addCoins(raws[0] as Buffer, outputs);
    for (const { spends, outputs: scripts } of transactions) {
      const inputs = new Map(spends.flatMap((pick) => [...coins].slice(pick % Math.max(1, coins.size)).slice(0, 1)));
      if (inputs.size === 0) continue;
      for (const outpoint of inputs.keys()) coins.delete(outpoint);
      const made = scripts.map((script, value) => output(value, script));
      const raw = madeTransaction([...inputs.values()], made, unique++);
      raws.push(raw);
      addCoins(raw, made);
    }
    const block = madeBlock(previousHash, raws, i + 1);
    blocks.push(block);
    previousHash = blockHash(block);
  });
  return blocks;
}
