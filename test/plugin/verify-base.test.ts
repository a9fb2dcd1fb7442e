import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { scanBlock } from '../../lib/bitcoin/block';
import { baseCoinKey, spentBaseKey } from '../../lib/index/records/base-coin';
import { filterEntryKey, filterKey } from '../../lib/index/records/filter';
import { decodeHeader, encodeHeader, headerKey, type StoredHeader } from '../../lib/index/records/chain';
import { BASE_KEY, putRecord, recordOf } from '../../lib/index/records/layout';
import { positionKey } from '../../lib/index/records/position';
import { TxidHasher } from '../../lib/index/records/txid-hash';
import { undoKey } from '../../lib/index/records/undo-record';
import { BcoinNode } from '../../lib/node/bcoin';
import { MemoryStore } from '../../lib/store/memory-store';
import { compareWithNode } from '../../plugin/cli/index-commands/verify/node-coins';
import { ProgressDisplay } from '../../plugin/progress';
import { baseOf, newBaseIndex, untilBackfilled, untilLive } from '../support/index/base-index';
import { untilFilled } from '../support/index/filters';
import { MemoryLog } from '../support/process/memory-log';
import { activeChain, chainWithSpends, mineCoinbases, spend } from '../support/chain/regtest-chain';
import { mine, openRegtestNode } from '../support/bcoin/regtest-node';
import type { TestFullNode } from '../support/bcoin/bcoin';

/** A block that spends a coin of a block after the base. */
const LAST_SPEND = 212;

describe('verifying an index that began with the coins of the node', () => {
  let host: TestFullNode;
  let node: BcoinNode;
  const store = new MemoryStore();

  before(async () => {
    host = await openRegtestNode();
    await chainWithSpends(host);
    node = new BcoinNode(host);
    const index = newBaseIndex({ node, store, log: new MemoryLog(), filters: true });
    await index.open();
    await untilLive(index);
    await untilBackfilled(store);
    await mine(host, 2);
    const [coinbase] = await mineCoinbases(host, 1);
    await mine(host, 100);
    await spend(host, coinbase ?? expect.fail('a coinbase'), 5_000_000_000);
    await mine(host, 1);
    await untilFilled(store);
    await index.close();
    await store.open();
  });

  after(async () => {
    await store.close();
    await host.close();
  });

  const verified = async (): Promise<string> => {
    const { exit, json } = await compareWithNode(
      {
        stopped: {
          node,
          network: 'regtest',
          indexFolder: '',
          scriptsFolder: '',
          refusedFile: '',
          options: undefined as never,
          close: () => Promise.resolve()
        }, // only the node is asked
        display: new ProgressDisplay(process.stderr),
        signal: new AbortController().signal
      },
      store,
      baseOf(store),
      node.tip()
    );
    return `${exit} ${JSON.stringify(json)}`;
  };

  /** The result without a record. */
  const without = async (key: Buffer): Promise<string> => {
    const value = store.get(key) ?? expect.fail(`a record under ${key.toString('hex')}`);
    await store.batch([{ type: 'del', key }], { durable: false });
    const said = await verified();
    await store.batch([{ type: 'put', key, value }], { durable: false });
    return said;
  };

  const firstKey = async (letter: string): Promise<Buffer> => {
    for await (const [key] of store.range({ gte: Buffer.from(letter), lt: Buffer.from([letter.charCodeAt(0) + 1]), limit: 1 })) return key;
    return expect.fail(`a record under '${letter}'`);
  };

  it('finds no difference in a correct index', async () => {
    expect((await activeChain(node)).length).to.equal(LAST_SPEND + 1);
    expect(await verified()).to.match(/^0 \{"verified":true,/);
  });

  it('finds a missing coin, of the base and of later blocks', async () => {
    expect(await without(await firstKey('c'))).to.match(
      /^1 .*"difference":"coin [0-9a-f]{64}-\d: expected \d+ satoshis of height \d+, got none"/
    );
    expect(await without(await firstKey('o'))).to.match(/^1 .*"difference":"coin /);
  });

  it('finds a superfluous coin', async () => {
    const like = await firstKey('c');
    const key = baseCoinKey(Buffer.alloc(32), 0);
    await store.batch([putRecord(key, recordOf(like, store.get(like) ?? expect.fail('a coin')))], { durable: false });
    expect(await verified()).to.match(/^1 .*"difference":"expected \d+ coins, got \d+"/);
    await store.batch([{ type: 'del', key }], { durable: false });
  });

  it('finds a transaction whose position is missing', async () => {
    const [coinbase] = scanBlock((await activeChain(node))[5] ?? expect.fail('a block')).transactions;
    expect(await without(positionKey(TxidHasher.of(store).hash(coinbase?.txid ?? expect.fail('a coinbase'))))).to.match(
      /^1 .*"difference":"position of transaction /
    );
  });

  /** The result with a changed, well-formed record. */
  const withRecord = async (key: Buffer, change: (record: Buffer) => Buffer): Promise<string> => {
    const value = store.get(key) ?? expect.fail(`a record under ${key.toString('hex')}`);
    await store.batch([putRecord(key, change(Buffer.from(recordOf(key, value))))], { durable: false });
    const said = await verified();
    await store.batch([{ type: 'put', key, value }], { durable: false });
    return said;
  };

  const changedAt =
    (offset: number) =>
    (record: Buffer): Buffer => {
      record.writeUInt8((record.readUInt8(offset) + 1) % 256, offset);
      return record;
    };

  const changedHeader = (key: Buffer, change: Partial<StoredHeader>) => (): Buffer =>
    encodeHeader({ ...decodeHeader(key, store.get(key) ?? expect.fail('a header')), ...change });

  it('finds a header with another work or median time, also of the base', async () => {
    for (const change of [{ chainwork: 5n }, { medianTime: 5 }])
      expect(await withRecord(headerKey(30), changedHeader(headerKey(30), change))).to.match(
        /^1 .*"difference":"header at height 30: expected work 62 and median time \d+, got /
      );
  });

  it('finds a header with other counts', async () => {
    for (const change of [{ transactionCount: 5 }, { chainTransactions: 5 }, { chainBytes: 5 }])
      expect(await withRecord(headerKey(106), changedHeader(headerKey(106), change))).to.match(
        /^1 .*"difference":"header at height 10[67]: expected 3 transactions of \d+ bytes, got /
      );
  });

  it('finds an undo record of another block, or with other coins, of the base and of later blocks', async () => {
    const lastByte = (record: Buffer): Buffer => changedAt(record.length - 1)(record);
    expect(await withRecord(undoKey(106), changedAt(0))).to.match(
      /^1 .*"difference":"undo record of height 106: expected that of [0-9a-f]{64} and the coins that it spent"/
    );
    expect(await withRecord(undoKey(106), changedAt(33))).to.include('undo record of height 106');
    expect(await withRecord(spentBaseKey(106), lastByte)).to.include('undo record of height 106');
    expect(await withRecord(undoKey(LAST_SPEND), lastByte)).to.include(`undo record of height ${LAST_SPEND}`);
    expect(await without(await firstKey('s'))).to.match(/"difference":"undo record of height \d+: expected that of/);
  });

  it('finds a gap in the undo records', async () => {
    expect(await without(undoKey(50))).to.match(/^1 .*"difference":"undo record of height 1: expected none below the gap at height 50"/);
    expect(await verified()).to.match(/^0 /);
  });

  it('finds missing and wrong filters and filter headers', async () => {
    expect(await without(filterKey(90))).to.include('"difference":"filter of the block at height 90: missing"');
    expect(await withRecord(filterKey(LAST_SPEND), changedAt(2))).to.include(`filter of the block at height ${LAST_SPEND}: expected`);
    expect(await without(filterEntryKey(90))).to.include('hashes of the filter of the block at height 90: missing');
    for (const offset of [0, 32, 64])
      expect(await withRecord(filterEntryKey(106), changedAt(offset))).to.include(
        'hashes of the filter of the block at height 106: expected'
      );
  });

  it('finds a block whose hash is missing', async () => {
    expect(await without(await firstKey('b'))).to.match(/^1 .*"difference":"header at height /);
    expect(store.get(BASE_KEY)).not.to.equal(undefined);
  });
});
