import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { ChainIndexer, type ChainIndexerOptions } from '../../lib/index/chain-index';
import { IndexUnavailableError } from '../../lib/index/errors';
import { coinKey } from '../../lib/index/records/coin-record';
import { decodeTip, TIP_KEY } from '../../lib/index/records/chain';
import { BcoinNode } from '../../lib/node/bcoin';
import { DiskStore } from '../../lib/store/disk-store';
import { MemoryStore } from '../../lib/store/memory-store';
import { newFolder } from '../support/process/folders';
import { MemoryLog } from '../support/process/memory-log';
import { reorganize } from '../support/chain/regtest-chain';
import { mine, openRegtestNode } from '../support/bcoin/regtest-node';
import { indexerOn, reach } from '../support/node/indexed-node';
import { ALWAYS_KEPT, KEPT_BLOCKS, withSmallPruning } from '../support/bcoin/small-pruning';
import { imageOf } from '../support/index/utxo-model';
import type { HostFullBlock, TestFullNode } from '../support/bcoin/bcoin';
import type { Store } from '../../lib/store/store';

const HEIGHT = ALWAYS_KEPT + 2 * KEPT_BLOCKS;
const WHAT_TO_DO = /it was left as it is; with --rest-bootstrap=coins it is built again from the coins that the node holds$/;

describe('an index of a node that prunes, which cannot be rebuilt', () => {
  withSmallPruning();
  let folder: string;
  let host: TestFullNode;
  let log: MemoryLog;
  let store: Store;
  let index: ChainIndexer;
  let blocks: HostFullBlock[];

  const newIndex = (options: Partial<ChainIndexerOptions> = {}): ChainIndexer =>
    indexerOn(new BcoinNode(host), { store, logger: log, ...options });

  beforeEach(async () => {
    folder = await newFolder();
    host = await openRegtestNode({ settings: { prune: true } });
    log = new MemoryLog();
    store = new MemoryStore();
    index = newIndex({ undoDepth: 3 });
    await index.open();
    blocks = await mine(host, HEIGHT);
    await reach('live', index);
  });

  afterEach(async () => {
    await index.close();
    await host.close();
  });

  /** Fails unless the index is closed to readers, says what to do, and has every record that it had. */
  async function expectLeft(image: readonly string[], reason: string): Promise<void> {
    const state = await reach('failed', index);
    expect(state).to.have.property('message').that.includes(reason).and.that.matches(WHAT_TO_DO);
    expect(log.lines.join('\n')).to.include(reason);
    expect(log.lines.join('\n')).to.not.include('warning Rebuilding the index');
    await index.close();
    await store.open();
    expect(await imageOf(store)).to.deep.equal(image);
    await store.close();
  }

  /** Opens an index with the option on the same store. */
  async function expectRebuiltFromCoins(): Promise<void> {
    index = newIndex({ bootstrap: 'coins' });
    await index.open();
    await reach('live', index);
    const coinbase = blocks[0]?.txs[0]?.hash() ?? expect.fail('a coinbase');
    expect(index.reader.read((snapshot) => snapshot.coin(coinbase, 0)?.height)).to.equal(1);
    await mine(host, 1);
    expect(index.state).to.deep.equal({ phase: 'live', height: host.chain.height });
  }

  it('stays as it is when a reader meets damage', async () => {
    await index.close();
    await store.open();
    await store.batch([{ type: 'put', key: coinKey({ height: 2, index: 0 }, 0), value: Buffer.alloc(40) }], { durable: false });
    const image = await imageOf(store);
    await store.close();
    // So that nothing is in memory.
    index = newIndex({ failurePauseMs: 1 });
    await index.open();
    await reach('live', index);
    const coinbase = blocks[1]?.txs[0]?.hash() ?? expect.fail('a coinbase');
    expect(() => index.reader.read((snapshot) => snapshot.coin(coinbase, 0))).to.throw(IndexUnavailableError);
    await reach('failed', index);
    await mine(host, 3);
    await expectLeft(image, 'is damaged');
    index = newIndex();
    await index.open();
    await index.close();
  });

  it('stays as it is when damage is met while it is opened, and the node starts', async () => {
    await index.close();
    await store.open();
    await store.batch([{ type: 'put', key: TIP_KEY, value: Buffer.alloc(20) }], { durable: false });
    const image = await imageOf(store);
    await store.close();
    index = newIndex();
    await index.open();
    await expectLeft(image, 'is damaged');
    await expectRebuiltFromCoins();
  });

  it('stays as it is when a file is damaged', async () => {
    await index.close();
    store = new DiskStore(join(folder, 'index'));
    // Built from coins: from blocks it could not be built.
    index = newIndex({ bootstrap: 'coins' });
    await index.open();
    await reach('live', index);
    await index.close();
    const table = (await readdir(join(folder, 'index'))).find((name) => name.endsWith('.ldb')) ?? expect.fail('a table');
    const path = join(folder, 'index', table);
    const bytes = await readFile(path);
    bytes[20] = bytes.readUInt8(20) ^ 1;
    await writeFile(path, bytes);
    index = newIndex();
    await index.open();
    expect(await reach('failed', index))
      .to.have.property('message')
      .that.includes(table)
      .and.that.matches(WHAT_TO_DO);
    await index.close();
    expect(await readFile(path)).to.deep.equal(bytes);
    await expectRebuiltFromCoins();
  });

  it('stays as it is when the chain goes back further than it can undo', async () => {
    await reorganize(host, 5, 6);
    const state = await reach('failed', index);
    expect(state).to.have.property('message').that.includes('expected an undo record').and.that.matches(WHAT_TO_DO);
    await index.close();
    await store.open();
    // The blocks that could be undone were undone.
    expect(decodeTip(store.get(TIP_KEY) ?? expect.fail('a tip')).height).to.equal(HEIGHT - 3);
    await store.close();
    await expectRebuiltFromCoins();
  });

  it('starts over from the coins of the node when the blocks that it needs were pruned while it was closed', async () => {
    await index.close();
    await mine(host, 2 * KEPT_BLOCKS);
    index = newIndex();
    await index.open();
    const missing = new RegExp(
      `^the node has no block at height ${HEIGHT + 1}, .*: it was pruned; start the node with --rest-bootstrap=coins`
    );
    expect(await reach('failed', index))
      .to.have.property('message')
      .that.matches(missing);
    await index.close();
    await expectRebuiltFromCoins();
  });
});
