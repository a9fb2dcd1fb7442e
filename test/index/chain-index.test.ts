import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { filter, firstValueFrom, Subject } from 'rxjs';
import { scanBlock } from '../../lib/bitcoin/block';
import { ChainIndexer, type ChainIndexerOptions } from '../../lib/index/chain-index';
import { IndexRefusedError, IndexUnavailableError } from '../../lib/index/errors';
import { coinKey, GENESIS_KEY, headerKey, TIP_KEY, undoKey } from '../../lib/index/layout';
import { BcoinNode } from '../../lib/node/bcoin';
import { StoreError } from '../../lib/store/errors';
import { diskStore, memoryStore } from '../../lib/store/level-store';
import { LAYOUT_VERSION_KEY, versionRecord } from '../../lib/store/migrate';
import { caught } from '../support/caught';
import { nodeWith } from '../support/changed-node';
import { MemoryLog } from '../support/memory-log';
import { mine, openRegtestNode } from '../support/regtest-node';
import { activeChain, chainWithSpends, mineCoinbases, reorganize, spend } from '../support/regtest-chain';
import { expectIndexOf } from '../support/utxo-model';
import type { IndexedBlock, IndexState } from '../../lib/index/types';
import type { BlockPoint, ChainEvent } from '../../lib/node/types';
import type { HostTransaction } from '../../lib/node/host';
import type { Store } from '../../lib/store/store';
import type { TestFullNode } from '../support/bcoin';

let host: TestFullNode;
let node: BcoinNode;
let store: Store;
let log: MemoryLog;
let index: ChainIndexer;

/** For each test of the group: a node, a store, and an index that is not open yet. */
function withNodeAndIndex(): void {
  beforeEach(async () => {
    host = await openRegtestNode();
    node = new BcoinNode(host);
    store = memoryStore();
    log = new MemoryLog();
    index = newIndex();
  });

  afterEach(async () => {
    await index.close();
    await host.close();
  });
}

function newIndex(options: Partial<ChainIndexerOptions> = {}): ChainIndexer {
  return new ChainIndexer({ store, node, logger: log, migrations: [], ...options });
}

async function reach(phase: IndexState['phase'], of = index): Promise<IndexState> {
  return firstValueFrom(of.state$.pipe(filter((state) => state.phase === phase)));
}

/** Fails unless the index is live and holds exactly the node's chain. */
async function expectLevel(): Promise<void> {
  expect(index.state).to.deep.equal({ phase: 'live', height: host.chain.height });
  index.reader.read(({ tip }) => {
    expect(tip.height).to.equal(host.chain.height);
    expect(tip.hash).to.deep.equal(node.tip().hash);
  });
  await expectIndexOf(store, await activeChain(node));
}

describe('an index that catches up', () => {
  withNodeAndIndex();

  it('starts from nothing and ends at the node\'s tip with every coin', async () => {
    await chainWithSpends(host);
    await index.open();
    await reach('live');
    await expectLevel();
    expect(log.lines).to.deep.equal([
      `info Indexing: block 0 of ${host.chain.height} (0.0%).`,
      `info The index is at the node's tip, block ${host.chain.height}.`
    ]);
  });

  it('does not make open() wait', async () => {
    await mine(host, 5);
    await index.open();
    expect(index.state.phase).to.not.equal('live');
    await reach('live');
  });

  it('goes on where it was closed, also when the node went ahead', async () => {
    await mine(host, 5);
    await index.open();
    await reach('live');
    await index.close();
    await mine(host, 7);
    index = newIndex();
    const blocks: IndexedBlock[] = [];
    index.blocks$.subscribe((block) => blocks.push(block));
    await index.open();
    await reach('live');
    await expectLevel();
    expect(blocks.map(({ type, block }) => `${type} ${block.height}`)).to.deep.equal([6, 7, 8, 9, 10, 11, 12].map((height) => `connect ${height}`));
  });

  it('does nothing when the node has not moved', async () => {
    await mine(host, 5);
    await index.open();
    await reach('live');
    await index.close();
    index = newIndex();
    const states: string[] = [];
    index.state$.subscribe(({ phase }) => states.push(phase));
    await index.open();
    await reach('live');
    expect(states).to.deep.equal(['loading', 'live']);
  });

  it('rewinds to the fork when the node reorganized meanwhile, without the node\'s help', async () => {
    await chainWithSpends(host);
    await index.open();
    await reach('live');
    await index.close();
    await reorganize(host, 3, 5);
    index = newIndex();
    await index.open();
    await reach('live');
    await expectLevel();
  });

  it('rewinds when the node is behind it', async () => {
    await chainWithSpends(host);
    await index.open();
    await reach('live');
    await index.close();
    await host.chain.reset(host.chain.height - 6);
    index = newIndex();
    await index.open();
    await reach('live');
    await expectLevel();
  });

  it('misses nothing when blocks come while it catches up', async () => {
    await mine(host, 30);
    await index.open();
    await mine(host, 10);
    await reorganize(host, 2, 4);
    await mine(host, 10);
    await reach('live');
    await expectLevel();
    await mine(host, 1);
    await expectLevel();
  });

  it('does not hold the chain while it catches up', async () => {
    let letGo: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => { letGo = resolve; });
    await mine(host, 3);
    index = newIndex({ node: nodeWith(node, { rawBlock: async (hash) => { await gate; return node.rawBlock(hash); } }) });
    await index.open();
    await mine(host, 3);
    expect(host.chain.height).to.equal(6);
    letGo();
    await reach('live');
    await expectLevel();
  });

  it('says how far it is, from the first block on', async () => {
    await mine(host, 30);
    const states: IndexState[] = [];
    index.state$.subscribe((state) => states.push(state));
    await index.open();
    await reach('live');
    expect(states.slice(0, 2)).to.deep.equal([
      { phase: 'loading' },
      { phase: 'indexing', height: 0, target: 30, secondsLeft: undefined }
    ]);
  });

  it('turns back with a chain that was reset and has not said so yet', async () => {
    await mine(host, 40);
    let give: () => void = () => undefined;
    const given = new Promise<void>((resolve) => { give = resolve; });
    const lowest = 15;
    index = newIndex({
      node: nodeWith(node, {
        rawBlock: async (hash) => {
          if (((await node.entry(hash))?.height ?? 0) >= lowest) await given;
          return node.rawBlock(hash);
        }
      })
    });
    await index.open();
    await firstValueFrom(index.state$.pipe(filter((state) => state.phase === 'indexing')));
    // bcoin looks at the deployments between the moment at which it has its new tip and that at which it says so.
    const { chain } = host;
    const getDeploymentState = chain.getDeploymentState.bind(chain);
    chain.getDeploymentState = async (): Promise<unknown> => {
      give();
      await setTimeout(100);
      return getDeploymentState();
    };
    await chain.reset(10);
    await reach('live');
    await expectLevel();
  });

  it('waits for a chain that is being reset below it', async () => {
    await mine(host, 5);
    const missing = (await activeChain(node)).length - 1;
    let resetting = true;
    const chain$ = new Subject<ChainEvent>();
    index = newIndex({
      node: nodeWith(node, {
        chain$,
        get resetting() { return resetting; },
        activeHash: (height: number) => (resetting && height === missing ? Promise.resolve(undefined) : node.activeHash(height))
      })
    });
    const indexed = firstValueFrom(index.tip$.pipe(filter(({ height }) => height === missing - 1)));
    await index.open();
    await indexed;
    expect(index.state.phase).to.equal('indexing');
    resetting = false;
    chain$.next({ type: 'reset', acknowledge: () => undefined });
    await reach('live');
    await expectLevel();
  });
});

describe('an index that follows', () => {
  withNodeAndIndex();

  beforeEach(async () => {
    // A reset leaves 1.0.2's pool behind while it is not connected.
    await host.connect();
    await chainWithSpends(host);
    await index.open();
    await reach('live');
  });

  it('is at the node\'s tip whenever the chain says that a block is in', async () => {
    for (let i = 0; i < 3; i++) {
      await mine(host, 1);
      await expectLevel();
    }
  });

  it('follows a reorganization of five blocks over three in lockstep', async () => {
    const blocks: IndexedBlock[] = [];
    index.blocks$.subscribe((block) => blocks.push(block));
    const { height } = host.chain;
    await reorganize(host, 3, 5);
    await expectLevel();
    expect(blocks.map(({ type, block }) => `${type} ${block.height - height}`)).to.deep.equal([
      'disconnect 0', 'disconnect -1', 'disconnect -2', 'connect -2', 'connect -1', 'connect 0', 'connect 1', 'connect 2'
    ]);
  });

  for (const back of [1, 2, 10, 40]) {
    it(`follows a reset by ${back} blocks in lockstep, and the blocks after it`, async () => {
      await host.chain.reset(host.chain.height - back);
      await expectLevel();
      await mine(host, 2);
      await expectLevel();
    });
  }

  it('follows a reset that the chain does not announce, without waiting for a block', async () => {
    await host.chain.replay(host.chain.height - 3);
    await firstValueFrom(index.state$.pipe(filter((state) => state.phase === 'live' && state.height === host.chain.height)));
    await expectLevel();
  });

  it('follows a reset to the genesis block', async () => {
    await host.chain.reset(0);
    await expectLevel();
    await mine(host, 2);
    await expectLevel();
  });

  it('has every block on the disk itself when the chain goes on, whether it came or went', async () => {
    const durable: boolean[] = [];
    const batch = store.batch.bind(store);
    store.batch = async (writes, options): Promise<void> => {
      await batch(writes, options);
      durable.push(options.durable);
    };
    const each: boolean[][] = [];
    for (const change of [(): Promise<unknown> => mine(host, 1), (): Promise<unknown> => host.chain.reset(host.chain.height - 2), (): Promise<unknown> => mine(host, 2)]) {
      await change();
      each.push(durable.splice(0));
      await expectLevel();
    }
    expect(each).to.deep.equal([[true], [true, true], [true, true]]);
  });

  it('tells its tip: the current one at once, then each', async () => {
    const tips: BlockPoint[] = [];
    const { height } = host.chain;
    index.tip$.subscribe((tip) => tips.push(tip));
    await mine(host, 2);
    await host.chain.reset(height);
    expect(tips.map((tip) => tip.height - height)).to.deep.equal([0, 1, 2, 1, 0]);
  });

  it('reads one state from beginning to end, whatever happens meanwhile', async () => {
    const { height } = host.chain;
    await index.reader.read(async (snapshot) => {
      const coinbase = await coinbaseAt(height);
      await reorganize(host, 1, 2);
      expect(snapshot.tip.height).to.equal(height);
      expect(snapshot.coin(coinbase, 0)?.height).to.equal(height);
      expect(index.reader.read((now) => now.tip.height)).to.equal(height + 1);
      expect(index.reader.read((now) => now.coin(coinbase, 0))).to.equal(undefined);
    });
  });
});

/** Txid of the coinbase of an active block. */
async function coinbaseAt(height: number): Promise<Buffer> {
  const raw = (await activeChain(node))[height] as Buffer;
  return scanBlock(raw).transactions[0]?.txid ?? expect.fail('a coinbase');
}

describe('an index that cannot go on from what it has', () => {
  withNodeAndIndex();

  async function closedIndex(): Promise<void> {
    await chainWithSpends(host);
    await index.open();
    await reach('live');
    await index.close();
    await store.open();
  }

  async function expectRebuilt(reason: string, options: Partial<ChainIndexerOptions> = {}): Promise<void> {
    await store.close();
    index = newIndex(options);
    await index.open();
    await reach('live');
    await expectLevel();
    expect(log.lines.filter((line) => line.startsWith('warning Building the index anew: ')).join()).to.include(reason);
  }

  it('builds anew when the undo records do not reach the fork', async () => {
    index = newIndex({ undoDepth: 2 });
    await closedIndex();
    await reorganize(host, 3, 5);
    await expectRebuilt('within the 2 blocks that can be undone', { undoDepth: 2 });
  });

  it('builds anew as often as the chain goes back too deep while it is being built', async () => {
    await mine(host, 8);
    index = newIndex({ undoDepth: 2 });
    await closedIndex();
    const { height } = host.chain;
    await reorganize(host, 5, 6);
    const top = await node.activeHash(height + 1);
    let moved = false;
    const moveAtTheTop = async (hash: Buffer): Promise<Buffer | undefined> => {
      if (moved || top?.equals(hash) !== true) return node.rawBlock(hash);
      moved = true;
      await reorganize(host, 6, 7);
      return undefined;
    };
    index = newIndex({ undoDepth: 2, node: nodeWith(node, { rawBlock: moveAtTheTop }) });
    await index.open();
    await reach('live');
    await expectLevel();
    expect(log.lines.filter((line) => line.includes('within the 2 blocks that can be undone'))).to.have.length(2);
    expect(new Set(log.lines.filter((line) => line.includes('within the 2 blocks')))).to.have.length(1);
  });

  it('builds anew from a live state too', async () => {
    index = newIndex({ undoDepth: 2 });
    await mine(host, 6);
    await index.open();
    await reach('live');
    await reorganize(host, 4, 5);
    await reach('live');
    await expectLevel();
    expect(log.lines.join()).to.include('Building the index anew');
  });

  const damages: Readonly<Record<string, () => Promise<void>>> = {
    'a torn tip record': () => store.batch([{ type: 'put', key: TIP_KEY, value: Buffer.alloc(20) }], { durable: false }),
    'a missing header at the tip': () => store.batch([{ type: 'del', key: headerKey(host.chain.height) }], { durable: false }),
    'a damaged record of the network': () => store.batch([{ type: 'put', key: GENESIS_KEY, value: Buffer.alloc(36) }], { durable: false })
  };
  for (const [damage, make] of Object.entries(damages)) {
    it(`builds anew over ${damage}`, async () => {
      await closedIndex();
      await make();
      await expectRebuilt('is damaged');
    });
  }

  it('builds anew when an undo record that it needs is missing or damaged', async () => {
    await closedIndex();
    const { height } = host.chain;
    await store.batch([{ type: 'put', key: undoKey(height - 1), value: Buffer.alloc(90) }], { durable: false });
    await reorganize(host, 3, 5);
    await expectRebuilt('is damaged');
  });

  it('builds anew when a reader meets a damaged record, and answers nothing meanwhile', async () => {
    const [coinbase] = await mineCoinbases(host, 5);
    const txid = (coinbase as HostTransaction).hash();
    await index.open();
    await reach('live');
    await store.batch([{ type: 'put', key: coinKey({ height: 1, position: 0 }, 0), value: Buffer.alloc(40) }], { durable: false });
    expect(() => index.reader.read((snapshot) => snapshot.coin(txid, 0))).to.throw(IndexUnavailableError, 'is damaged');
    expect(index.state.phase).to.equal('loading');
    await reach('live');
    await expectLevel();
    expect(index.reader.read((snapshot) => snapshot.coin(txid, 0)?.height)).to.equal(1);
    expect(log.lines.filter((line) => line.startsWith('warning Building the index anew: the record under 6f')).length).to.equal(1);
  });

  it('builds anew once, whoever meets the damage and whatever the chain does meanwhile', async () => {
    const [coinbase] = await mineCoinbases(host, 30);
    const txid = (coinbase as HostTransaction).hash();
    await index.open();
    await reach('live');
    await store.batch([{ type: 'put', key: coinKey({ height: 1, position: 0 }, 0), value: Buffer.alloc(40) }], { durable: false });
    for (let i = 0; i < 3; i++)
      expect(() => index.reader.read((snapshot) => snapshot.coin(txid, 0))).to.throw(IndexUnavailableError);
    await mine(host, 2);
    await reorganize(host, 2, 3);
    await reach('live');
    await expectLevel();
    expect(log.lines.filter((line) => line.includes('anew')).length).to.equal(1);
  });

  it('does not become live in the block during which a reader meets a damaged record', async () => {
    const [coinbase] = await mineCoinbases(host, 5);
    const txid = (coinbase as HostTransaction).hash();
    await index.open();
    await reach('live');
    await store.batch([{ type: 'put', key: coinKey({ height: 1, position: 0 }, 0), value: Buffer.alloc(40) }], { durable: false });
    const states: string[] = [];
    const takeSnapshot = store.snapshot.bind(store);
    store.snapshot = () => {
      store.snapshot = takeSnapshot;
      expect(() => index.reader.read((snapshot) => snapshot.coin(txid, 0))).to.throw(IndexUnavailableError);
      index.state$.subscribe(({ phase }) => states.push(phase));
      return takeSnapshot();
    };
    await mine(host, 1);
    await reach('live');
    await expectLevel();
    expect(states.filter((phase, i) => phase !== states[i - 1])).to.deep.equal(['loading', 'indexing', 'live']);
  });

  it('stops when a reader finds that the store cannot be read', async () => {
    await mine(host, 2);
    await index.open();
    await reach('live');
    const snapshot = store.snapshot.bind(store);
    await mine(host, 1);
    store.snapshot = () => { throw new StoreError('failed', 'input/output error'); };
    expect(() => index.reader.read(() => 0)).to.throw(IndexUnavailableError, 'input/output error');
    expect(await reach('failed')).to.have.property('message', 'input/output error');
    store.snapshot = snapshot;
    await mine(host, 2);
    expect(index.state.phase).to.equal('failed');
  });

  it('builds anew when the engine finds its files damaged', async () => {
    await mine(host, 3);
    await index.open();
    await reach('live');
    const snapshot = store.snapshot.bind(store);
    store.snapshot = () => { throw new StoreError('corrupt', 'bad block'); };
    const cleared = store.clear.bind(store);
    store.clear = () => { store.snapshot = snapshot; return cleared(); };
    await mine(host, 1);
    await reach('live');
    await expectLevel();
    expect(log.lines.join()).to.include('Building the index anew: bad block');
  });

  it('builds anew when a coin that is spent is missing, while it follows', async () => {
    const [coinbase] = await mineCoinbases(host, 101);
    await index.open();
    await reach('live');
    await index.close();
    await store.open();
    await store.batch([{ type: 'del', key: coinKey({ height: 1, position: 0 }, 0) }], { durable: false });
    await store.close();
    index = newIndex();
    await index.open();
    await reach('live');
    await spend(host, coinbase as HostTransaction, 5_000_000_000);
    await mine(host, 1);
    await reach('live');
    await expectLevel();
    expect(log.lines.join()).to.include('expected a coin there, got none');
  });
});

describe('an index that fails', () => {
  withNodeAndIndex();

  it('says so, lets the chain go on, and takes nothing down', async () => {
    await mine(host, 3);
    let full = false;
    const batch = store.batch.bind(store);
    store.batch = (writes, options) => (full ? Promise.reject(new StoreError('failed', 'no space left on device')) : batch(writes, options));
    await index.open();
    await reach('live');
    full = true;
    await mine(host, 3);
    expect(index.state).to.deep.equal({ phase: 'failed', message: 'no space left on device' });
    expect(log.lines.at(-1)).to.match(/^error The index stopped at block 3 \([0-9a-f]{64}\): no space left on device\.$/);
    full = false;
    await mine(host, 1);
    await host.chain.reset(2);
    expect(index.state.phase).to.equal('failed');
    await index.close();
    index = newIndex();
    await index.open();
    await reach('live');
    await expectLevel();
  });

  it('says which block the node no longer has', async () => {
    await mine(host, 3);
    const second = await node.activeHash(2);
    index = newIndex({ node: nodeWith(node, { rawBlock: (hash) => (second?.equals(hash) === true ? Promise.resolve(undefined) : node.rawBlock(hash)) }) });
    await index.open();
    expect(await reach('failed')).to.have.property('message').that.includes('the node has no block at height 2');
  });

  it('says that a block does not fit when building anew did not help', async () => {
    await mine(host, 3);
    const second = await node.activeHash(2);
    const withoutItsCoinbase = async (hash: Buffer): Promise<Buffer | undefined> => {
      const raw = await node.rawBlock(hash);
      return second?.equals(hash) === true && raw !== undefined ? spendingNothing(raw) : raw;
    };
    index = newIndex({ node: nodeWith(node, { rawBlock: withoutItsCoinbase }) });
    await index.open();
    expect(await reach('failed')).to.have.property('message').that.includes('expected a coin there, got none');
    expect(log.lines.filter((line) => line.includes('Building the index anew'))).to.have.length(1);
  });
});

/** The block with its coinbase turned into a transaction that spends a coin that never was. */
function spendingNothing(raw: Buffer): Buffer {
  const changed = Buffer.from(raw);
  changed.fill(7, 81 + raw.subarray(81).indexOf(Buffer.alloc(32)), 81 + raw.subarray(81).indexOf(Buffer.alloc(32)) + 32);
  return changed;
}

describe('opening and closing an index', () => {
  withNodeAndIndex();

  it('refuses an index of another network and leaves it alone', async () => {
    await mine(host, 2);
    await index.open();
    await reach('live');
    await index.close();
    const other = { ...node.network, chain: 'main', genesisHash: Buffer.alloc(32, 1) };
    const error = await caught(newIndex({ node: nodeWith(node, { network: other }) }).open());
    expect(error).to.be.instanceOf(IndexRefusedError)
      .with.property('message').that.matches(/^the index is of another network: expected main with genesis block (01){32}, got one with 0f9188f1/);
    index = newIndex();
    await index.open();
    await reach('live');
    await expectLevel();
  });

  it('refuses an index of a newer layout', async () => {
    await store.open();
    await store.batch([versionRecord(99)], { durable: false });
    await store.close();
    expect(await caught(index.open())).to.be.instanceOf(IndexRefusedError).with.property('message').that.includes('layout 99');
  });

  it('builds anew over a layout version that is damaged or missing', async () => {
    await mine(host, 5);
    await index.open();
    await reach('live');
    for (const damage of [{ type: 'put', key: LAYOUT_VERSION_KEY, value: Buffer.from('00000003282c9631', 'hex') }, { type: 'del', key: LAYOUT_VERSION_KEY }] as const) {
      await index.close();
      await store.open();
      await store.batch([damage], { durable: false });
      await store.close();
      const said = log.lines.length;
      index = newIndex();
      await index.open();
      await reach('live');
      await expectLevel();
      expect(log.lines[said]).to.match(/^warning Building the index anew: .* layout version/);
    }
  });

  it('has nothing to read before its first block and when it is closed', async () => {
    expect(() => index.reader.read(() => 0)).to.throw(IndexUnavailableError, 'the index is not open');
    await store.open();
    expect(() => index.reader.read(() => 0)).to.throw(IndexUnavailableError, 'the index is empty');
    await index.open();
    await reach('live');
    await index.close();
    expect(index.state).to.deep.equal({ phase: 'closed' });
    expect(() => index.reader.read(() => 0)).to.throw(IndexUnavailableError, 'the index is closed');
  });

  it('lets the chain go on when it is closed, also in the middle of catching up', async () => {
    await mine(host, 20);
    await index.open();
    const mined = mine(host, 3);
    await index.close();
    await mined;
    expect(host.chain.height).to.equal(23);
    index = newIndex();
    await index.open();
    await reach('live');
    await expectLevel();
  });
});

describe('an index on disk', () => {
  withNodeAndIndex();

  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'rest-index-'));
    store = diskStore(join(folder, 'index'));
    index = newIndex();
    await mine(host, 12);
    await index.open();
    await reach('live');
  });

  afterEach(async () => {
    await index.close();
    await rm(folder, { recursive: true });
  });

  it('goes on after it was closed', async () => {
    await index.close();
    await mine(host, 2);
    store = diskStore(join(folder, 'index'));
    index = newIndex();
    await index.open();
    await reach('live');
    await expectLevel();
    expect(log.lines.join()).to.not.include('anew');
  });

  it('builds anew when its folder was deleted', async () => {
    await index.close();
    await rm(join(folder, 'index'), { recursive: true });
    store = diskStore(join(folder, 'index'));
    index = newIndex();
    await index.open();
    await reach('live');
    await expectLevel();
  });

  it('builds anew from a live state, the files gone in between', async () => {
    await index.close();
    index = newIndex({ undoDepth: 1 });
    await index.open();
    await mine(host, 4);
    await reach('live');
    await reorganize(host, 3, 4);
    await reach('live');
    await expectLevel();
    expect(log.lines.join()).to.include('Building the index anew');
  });
});
