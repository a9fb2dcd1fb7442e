import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { filterMatchesAny } from '../support/client/filter-client';
import { ChainIndexer } from '../../lib/index/chain-index';
import { IndexUnavailableError } from '../../lib/index/errors';
import { FILTER_RECORDS, filterKey, FILTERS_KEY, findFilterSpan } from '../../lib/index/records/filter';
import { SnapshotReader } from '../../lib/index/read/reader';
import { IndexWriter } from '../../lib/index/write/index-writer';
import { BcoinNode } from '../../lib/node/bcoin';
import { MemoryStore } from '../../lib/store/memory-store';
import { untilLive } from '../support/index/base-index';
import { COINBASE_SATS } from '../support/chain/coinbases';
import { nodeWith } from '../support/bcoin/changed-node';
import { expectFilters, expectHonestFilters, filterFrom, FilterModel, untilFilled } from '../support/index/filters';
import { blockHash, madeBlock, madeCoinbase, madeTransaction, type MadeInput, type MadeOutput } from '../support/chain/made-blocks';
import { indexerOn } from '../support/node/indexed-node';
import { MemoryLog } from '../support/process/memory-log';
import { activeChain, chainWithSpends, mineCoinbases, reorganize, spend } from '../support/chain/regtest-chain';
import { mine, openRegtestNode } from '../support/bcoin/regtest-node';
import { scanBlock } from '../../lib/bitcoin/block';
import type { TestFullNode } from '../support/bcoin/bcoin';
import type { BootstrapFrom } from '../../lib/index/types';
import type { NodeSource } from '../../lib/node/types/source';

describe('an index with filters', () => {
  let host: TestFullNode;
  let node: NodeSource;
  let store: MemoryStore;
  let index: ChainIndexer;
  let log: MemoryLog;
  const model = new FilterModel();

  beforeEach(async () => {
    host = await openRegtestNode();
    await host.connect();
    node = new BcoinNode(host);
    store = new MemoryStore();
    log = new MemoryLog();
    await chainWithSpends(host);
  });

  afterEach(async () => {
    await index.close();
    await host.close();
  });

  const open = async (
    filters: boolean,
    options: { readonly node?: NodeSource; readonly bootstrap?: BootstrapFrom } = {}
  ): Promise<void> => {
    index = indexerOn(node, { store, logger: log, filters, ...options });
    await index.open();
    await untilLive(index);
  };

  const reopen = async (filters: boolean, options: { readonly node?: NodeSource } = {}): Promise<void> => {
    await index.close();
    await open(filters, options);
  };

  const expectRight = async (): Promise<void> => expectFilters(store, await activeChain(node), model);

  const expectHonest = async (): Promise<void> => expectHonestFilters(store, await activeChain(node), model);

  const filterImage = async (): Promise<string[]> => {
    const image: string[] = [];
    for await (const [key, value] of store.range(FILTER_RECORDS)) image.push(`${key.toString('hex')} ${value.toString('hex')}`);
    return image;
  };

  const said = (text: string): boolean => log.lines.some((line) => line.includes(text));

  it('has them while it catches up and follows, and the same bytes when they are filled in', async () => {
    await open(true);
    const coinbases = await mineCoinbases(host, 101);
    await spend(host, coinbases[0] ?? expect.fail('a coinbase'), COINBASE_SATS);
    await mine(host, 2);
    await expectRight();
    const followed = await filterImage();
    await index.close();
    store = new MemoryStore();
    await open(false);
    expect(await filterImage()).to.deep.equal([]);
    expect(store.get(FILTERS_KEY)).to.equal(undefined);
    await reopen(true);
    await expectRight();
    expect(await filterImage()).to.deep.equal(followed);
    expect(said('All blocks have their filters.')).to.equal(true);
  });

  it('gives readers its filters and filter headers', async () => {
    await open(true);
    const chain = await activeChain(node);
    const expected = model.of(chain);
    index.reader.read((snapshot) => {
      expected.forEach(({ filter, header }, height) => {
        expect(snapshot.filterAt(height)).to.deep.equal(filter);
        expect(snapshot.filterHeaderAt(height)).to.deep.equal(header);
      });
      expect(snapshot.filterAt(chain.length)).to.equal(undefined);
      expect(snapshot.filterHeaderAt(chain.length)).to.equal(undefined);
    });
  });

  it('finds the filters of disconnected blocks only by their hashes', async () => {
    await open(true);
    const before = await activeChain(node);
    const [last, above] = [before.at(-2), before.at(-1)].map((raw) => raw ?? expect.fail('a block')) as [Buffer, Buffer];
    const filters = model.of(before);
    expect(index.reader.read((snapshot) => snapshot.staleFilter(blockHash(above)))).to.equal(undefined);
    await reorganize(host, 2, 3);
    await untilLive(index);
    await expectRight();
    index.reader.read((snapshot) => {
      expect(snapshot.staleFilter(blockHash(last))).to.deep.equal(filters.at(-2)?.filter);
      expect(snapshot.staleFilter(blockHash(above))).to.deep.equal(filters.at(-1)?.filter);
      expect(snapshot.filterAt(before.length - 1)).not.to.deep.equal(filters.at(-1)?.filter);
    });
    await host.chain.reset(node.tip().height - 10);
    await untilLive(index);
    await expectRight();
  });

  it('fills in missing filters after the option was off, and keeps nothing of blocks that were disconnected meanwhile', async () => {
    await open(true);
    await expectRight();
    await reopen(false);
    await mine(host, 5);
    await reorganize(host, 12, 20);
    await untilLive(index);
    await expectHonest();
    const missing = node.tip().height - 5;
    expect(index.reader.read((snapshot) => [snapshot.filterAt(missing), snapshot.filterHeaderAt(missing)])).to.deep.equal([
      undefined,
      undefined
    ]);
    await reopen(true);
    await mine(host, 2);
    await expectRight();
  });

  it('does not use filters of other blocks that an older program left', async () => {
    await open(true);
    await expectRight();
    await index.close();
    await store.open();
    const left = await filterImage();
    const span = store.get(FILTERS_KEY) ?? expect.fail('a span');
    await store.close();
    await open(false);
    await reorganize(host, 6, 9);
    await untilLive(index);
    await index.close();
    await store.open();
    for (const record of left) {
      const [key = '', value = ''] = record.split(' ');
      await store.batch([{ type: 'put', key: Buffer.from(key, 'hex'), value: Buffer.from(value, 'hex') }], { durable: false });
    }
    await store.batch([{ type: 'put', key: FILTERS_KEY, value: span }], { durable: false });
    await store.close();
    await open(false);
    const { height } = node.tip();
    expect(index.reader.read((snapshot) => [snapshot.filterAt(height - 4), snapshot.filterHeaderAt(height - 4)])).to.deep.equal([
      undefined,
      undefined
    ]);
    await reopen(true);
    await expectRight();
  });

  it('has them when it started from coins, also for blocks that spend these coins', async () => {
    const coinbases = await mineCoinbases(host, 101);
    await open(true, { bootstrap: 'coins' });
    await spend(host, coinbases[0] ?? expect.fail('a coinbase'), COINBASE_SATS);
    await mine(host, 1);
    await expectRight();
    await reorganize(host, 1, 2);
    await untilLive(index);
    await expectRight();
  });

  it('has no filter headers before it has all filters, and continues where it was', async () => {
    await open(false);
    const lowest = 60;
    const heightOf = async (hash: Buffer): Promise<number> => (await node.entry(hash))?.height ?? 0;
    await reopen(true, {
      node: nodeWith(node, { rawBlock: async (hash) => ((await heightOf(hash)) < lowest ? undefined : node.rawBlock(hash)) })
    });
    while (findFilterSpan(store)?.from !== lowest) await setImmediate();
    await expectHonest();
    index.reader.read((snapshot) => {
      expect(snapshot.filterAt(lowest)).not.to.equal(undefined);
      expect(snapshot.filterAt(lowest - 1)).to.equal(undefined);
      expect(snapshot.filterHeaderAt(lowest)).to.equal(undefined);
    });
    await mine(host, 2);
    expect(findFilterSpan(store)).to.deep.equal({ ...node.tip(), from: lowest });
    expect(log.lines.filter((line) => line.includes('Blocks have filters from 60 up: the node cannot read block 59'))).to.have.length(1);
    await reopen(true);
    await expectRight();
  });

  it('stops where the node no longer has the coins that blocks spent, and says so', async () => {
    const lowest = 106;
    await open(false);
    await reopen(true, {
      node: nodeWith(node, {
        pruned: true,
        spentCoins: async (hash) => (((await node.entry(hash))?.height ?? 0) < lowest ? undefined : node.spentCoins(hash))
      })
    });
    while (findFilterSpan(store)?.from !== lowest) await setImmediate();
    await mine(host, 1);
    await expectHonest();
    expect(said(`Blocks have filters from ${lowest} up: the node has thrown the earlier blocks away.`)).to.equal(true);
  });

  it('never answers from a filter that is damaged', async () => {
    await open(true);
    await index.close();
    await store.open();
    const key = filterKey(50);
    const value = Buffer.from(store.get(key) ?? expect.fail('a filter'));
    value.writeUInt8(value.readUInt8(1) ^ 1, 1);
    await store.batch([{ type: 'put', key, value }], { durable: false });
    await store.close();
    await open(true);
    expect(() => index.reader.read((snapshot) => snapshot.filterAt(50))).to.throw(IndexUnavailableError);
    await untilLive(index);
    while (index.state.phase !== 'live' || !said('Rebuilding the index')) await setImmediate();
    await expectRight();
  });

  it('has the filter and the filter header of each block again when it is rebuilt', async () => {
    await open(true);
    await index.close();
    await store.open();
    await store.batch([{ type: 'put', key: FILTERS_KEY, value: Buffer.alloc(44) }], { durable: false });
    await store.close();
    await open(true);
    await expectRight();
    expect(said('Rebuilding the index')).to.equal(true);
    await untilFilled(store);
  });
});

describe('the filter of any block', () => {
  const script = fc.oneof(
    fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
    fc
      .constantFrom('76a914', 'a914', '0014')
      .map((start) => Buffer.from(`${start}${'ab'.repeat(20)}${start === 'a914' ? '87' : '88ac'}`, 'hex')),
    fc.uint8Array({ maxLength: 5 }).map((bytes) => Buffer.from([0x6a, ...bytes])),
    fc.constant(Buffer.alloc(0)),
    fc.integer({ min: 9_990, max: 10_010 }).map((length) => Buffer.alloc(length, 0x51))
  );
  const block = fc.record({
    coinbase: fc.array(script, { minLength: 1, maxLength: 4 }),
    transactions: fc.array(
      fc.record({ spends: fc.array(fc.nat(), { minLength: 1, maxLength: 4 }), outputs: fc.array(script, { maxLength: 40 }) }),
      {
        maxLength: 4
      }
    )
  });

  /** Of coins beyond the first 32 of their transaction, which lie in another record, and before. */
  const SPENDING_FAR_OUTPUTS = [
    { coinbase: Array.from({ length: 40 }, (_, n) => Buffer.from([0x51, n])), transactions: [] },
    { coinbase: [Buffer.from([0x52])], transactions: [{ spends: [39, 3, 34], outputs: [Buffer.from([0x53])] }] }
  ];

  it('matches every script that the block pays to or spends from, and is the one that BIP158 defines', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(block, { minLength: 1, maxLength: 4 }), async (plans) => {
        const store = new MemoryStore();
        await store.open();
        const genesis = madeBlock(Buffer.alloc(32), [madeCoinbase(0, [{ value: 1, script: Buffer.from('51', 'hex') }])], 0);
        const writer = new IndexWriter({ store, genesisHash: blockHash(genesis), undoDepth: 2, filters: true, onMove: () => undefined });
        await writer.load();
        await writer.apply(genesis);
        const coins: (MadeInput & MadeOutput)[] = [];
        const expected: { readonly raw: Buffer; readonly spent: Buffer[] }[] = [];
        let tip = genesis;
        for (const [i, { coinbase, transactions }] of plans.entries()) {
          const spent: Buffer[] = [];
          const made = [
            madeCoinbase(
              i + 1,
              coinbase.map((each) => ({ value: 7, script: each }))
            )
          ];
          for (const [n, { spends, outputs }] of transactions.entries()) {
            const inputs = spends.flatMap((pick) => (coins.length === 0 ? [] : coins.splice(pick % coins.length, 1)));
            if (inputs.length === 0) continue;
            spent.push(...inputs.map((each) => each.script));
            made.push(
              madeTransaction(
                inputs,
                outputs.map((each) => ({ value: 3, script: each })),
                i * 10 + n
              )
            );
            for (const { txid, outputs: ours } of scanBlock(madeBlock(Buffer.alloc(32), made.slice(-1), 0)).transactions)
              ours.forEach((output, index) => {
                if (output.script[0] !== 0x6a && output.script.length <= 10_000)
                  coins.push({ txid: Buffer.from(txid), index, value: 3, script: Buffer.from(output.script) });
              });
          }
          tip = madeBlock(blockHash(tip), made, i + 1);
          expected.push({ raw: tip, spent });
          await writer.apply(tip);
          const [{ txid, outputs } = expect.fail('a coinbase')] = scanBlock(tip).transactions;
          outputs.forEach((output, index) => {
            if (output.script[0] !== 0x6a && output.script.length <= 10_000)
              coins.push({ txid: Buffer.from(txid), index, value: 7, script: output.script });
          });
        }
        new SnapshotReader(store, (error) => {
          throw error;
        }).read((snapshot) => {
          expected.forEach(({ raw, spent }, i) => {
            const filter = snapshot.filterAt(i + 1) ?? expect.fail('a filter');
            expect(filter).to.deep.equal(filterFrom(raw, spent));
            const outputs = scanBlock(raw).transactions.flatMap((transaction) => transaction.outputs.map((output) => output.script));
            for (const each of [...outputs.filter((output) => output[0] !== 0x6a), ...spent])
              expect(filterMatchesAny(filter, blockHash(raw), [each])).to.equal(each.length > 0);
          });
        });
        await writer.close();
      }),
      { numRuns: 60, examples: [[SPENDING_FAR_OUTPUTS]] }
    );
  });
});
