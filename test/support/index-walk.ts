// A real regtest node with a real index, walked through everything that can happen to them.
// After every step the index is compared, byte for byte, with one built from nothing.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { filter, firstValueFrom } from 'rxjs';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { previousHashOf } from '../../lib/bitcoin/header';
import { BASE_KEY } from '../../lib/index/records/base';
import { ChainIndexer } from '../../lib/index/chain-index';
import { IndexUnavailableError, NotYetKnownError } from '../../lib/index/errors';
import { sameSecret } from '../../lib/index/records/txid-hash';
import { BcoinNode } from '../../lib/node/bcoin';
import { DiskStore } from '../../lib/store/disk-store';
import { MemoryStore } from '../../lib/store/memory-store';
import { baseOf, expectRight as expectBaseIndexOf } from './base-index';
import { bcoin, type TestFullNode } from './bcoin';
import { regtestGenesis } from './chain-a';
import { expectSame, expectSameBytes } from './expect-same';
import { FAULT, FaultyStore, type StoreCall } from './faulty-store';
import { expectFilters, expectHonestFilters, FilterModel } from './filters';
import { expectSameBesideCoins, expectSameImage, FreshIndexes, storeImage } from './fresh-index';
import { blockHash } from './made-blocks';
import { knownHash } from './known-blocks';
import { MemoryLog } from './memory-log';
import { BlockMaker, type BlockPlan } from './mined-blocks';
import { activeChain } from './regtest-chain';
import { WalkedScripts } from './walked-scripts';
import { openRegtestNode } from './regtest-node';
import { waitingStore } from './waiting-store';
import { describeCoin, expectIndexOf, modelOf, modelTransactions } from './utxo-model';
import type { Store } from '../../lib/store/store';
import type { BootstrapFrom, IndexSnapshot } from '../../lib/index/types';

/** Events of the node's chain. */
export type NodeStep =
  | { readonly do: 'mine'; readonly plans: readonly BlockPlan[] }
  /** Mines on an earlier block: a reorganization if the new branch becomes longer than the old one. */
  | { readonly do: 'fork'; readonly back: number; readonly plans: readonly BlockPlan[] }
  | { readonly do: 'reset' | 'reset silently' | 'invalidate'; readonly back: number }
  /** Resets the chain and adds the same blocks again. */
  | { readonly do: 'replay'; readonly back: number }
  | { readonly do: 'connect or disconnect' };

export type WalkStep =
  | NodeStep
  /** Closes the index, runs steps, opens it again (with or without filters and the index by script), and runs steps at once. */
  | {
      readonly do: 'restart';
      readonly filters?: boolean;
      readonly scripts?: boolean;
      readonly closed: NodeStep | undefined;
      readonly opened: NodeStep | undefined;
    }
  /** The store starts to fail; steps are run; the index is opened again on the healed store. */
  | { readonly do: 'fault'; readonly call: StoreCall; readonly n: number; readonly afterwards: boolean; readonly meanwhile: NodeStep };

export interface WalkOptions {
  /** Whether the index is on disk. */
  readonly disk: boolean;
  readonly undoDepth: number;
  readonly bootstrap?: BootstrapFrom;
  /** Whether the index starts with filters; false unless given. */
  readonly filters?: boolean;
  /** Whether there is an index by script beside it; false unless given. */
  readonly scripts?: boolean;
  /** Whether the calls of a store in memory take turns of the event loop; false unless given. */
  readonly waits?: boolean;
}

/** A node and an index on disk that outlive the process. */
export interface LastingWalkOptions {
  readonly folder: string;
  readonly undoDepth: number;
  readonly bootstrap?: BootstrapFrom;
  readonly filters?: boolean;
  readonly scripts?: boolean;
  /** A different number for each process, below 1,000. */
  readonly turn: number;
}

/** So little that catching up takes many batches, generations swap, and coins have to be read. */
const CACHE_BYTES = 8 * 1024;

/** Enough for the first coinbases to be mature. */
const BASE_BLOCKS = 104;

export class IndexWalk {
  readonly log = new MemoryLog();
  /** How long each pass over the files takes in an index that is opened from now on. */
  scrubMs = 0;
  readonly store: FaultyStore;
  index: ChainIndexer;
  /** undefined: there is no index by script. */
  readonly scripts: WalkedScripts | undefined;
  readonly node: BcoinNode;
  readonly #maker: BlockMaker;
  readonly #fresh = new FreshIndexes();
  readonly #filters = new FilterModel();
  /** All blocks that the node was given here, or had before. */
  readonly #blocks = new Map<string, Buffer>([[knownHash(regtestGenesis).toString('hex'), regtestGenesis]]);
  #connected = false;
  /** Whether the index by script is opened with the index. */
  #hasScripts = true;

  private constructor(
    readonly host: TestFullNode,
    private readonly folder: string | undefined,
    private readonly undoDepth: number,
    private readonly bootstrap: BootstrapFrom = 'blocks',
    private filters = false,
    turn = 0,
    scripts = false,
    waits = false
  ) {
    this.#maker = new BlockMaker(turn * 1_000_000);
    this.node = new BcoinNode(host);
    const inMemory = (): Store => (waits ? waitingStore(new MemoryStore()) : new MemoryStore());
    this.store = new FaultyStore(folder === undefined ? inMemory() : new DiskStore(join(folder, 'index')));
    this.scripts = scripts ? new WalkedScripts(this.node, { folder, inMemory }, undoDepth, this.log) : undefined;
    this.index = this.newIndex();
  }

  /** A node with a hundred blocks and an index that is level with it. */
  static async open({ disk, undoDepth, bootstrap, filters, scripts, waits }: WalkOptions): Promise<IndexWalk> {
    const folder = disk ? await mkdtemp(join(tmpdir(), 'rest-walk-')) : undefined;
    const walk = new IndexWalk(await openRegtestNode(), folder, undoDepth, bootstrap, filters, 0, scripts, waits);
    await walk.mineBase();
    await walk.openIndex();
    return walk;
  }

  /** The same on disk: a new node is given these blocks, an existing one continues. The index is not open yet. */
  static async on({ folder, undoDepth, bootstrap, filters, turn, scripts }: LastingWalkOptions): Promise<IndexWalk> {
    const walk = new IndexWalk(await openRegtestNode({ prefix: folder }), folder, undoDepth, bootstrap, filters, turn, scripts);
    for (const raw of await activeChain(walk.node)) {
      walk.#maker.learn(raw);
      walk.#blocks.set(knownHash(raw).toString('hex'), raw);
    }
    if (walk.host.chain.height < BASE_BLOCKS) await walk.mineBase();
    return walk;
  }

  async close(): Promise<void> {
    this.store.heal();
    this.scripts?.store.heal();
    await this.closeIndex();
    await this.host.close();
    if (this.folder !== undefined) await rm(this.folder, { recursive: true });
  }

  async step(step: WalkStep): Promise<void> {
    await this.stepUnchecked(step);
    await this.expectRight();
  }

  async stepUnchecked(step: WalkStep): Promise<void> {
    switch (step.do) {
      case 'restart':
        await this.closeIndex();
        if (step.closed !== undefined) await this.nodeStep(step.closed);
        this.filters = step.filters ?? this.filters;
        this.#hasScripts = step.scripts ?? this.#hasScripts;
        this.index = this.newIndex();
        await this.openIndex();
        if (step.opened !== undefined) await this.nodeStep(step.opened);
        break;
      case 'fault':
        return this.faultStep(step.call, step.n, step.afterwards, () => this.nodeStep(step.meanwhile));
      default:
        await this.nodeStep(step);
    }
  }

  /** Fails unless the chain continues, the index is right or says why it stopped, and is right on the healed store. */
  async faultStep(call: StoreCall, n: number, afterwards: boolean, meanwhile: () => Promise<void>): Promise<void> {
    this.store.fail(call, n, afterwards);
    for (const again of [false, true]) {
      if (again) await this.reopen();
      await meanwhile();
      const phase = await this.untilAtRest();
      this.expectHonest();
      if (phase === 'failed') expect(this.index.state).to.deep.equal({ phase, message: FAULT });
    }
    this.store.heal();
    await this.reopen();
    await this.expectRight();
  }

  /** The same for the store of the index by script: the main index continues, and is always right. */
  async scriptsFaultStep(call: StoreCall, n: number, afterwards: boolean, meanwhile: () => Promise<void>): Promise<void> {
    const scripts = this.scripts ?? expect.fail('a walk with an index by script');
    scripts.store.fail(call, n, afterwards);
    for (const again of [false, true]) {
      if (again) await this.reopen();
      await meanwhile();
      await this.expectIndexRight(await this.#activeChain());
      const phase = await scripts.untilAtRest();
      await this.expectHonestScripts();
      if (phase === 'failed') expect(scripts.indexer.state).to.deep.equal({ phase, message: FAULT });
    }
    scripts.store.heal();
    await this.reopen();
    await this.expectRight();
  }

  /** Fails if a reader of the index by script gets anything but the whole state after one of the node's blocks. False: it got no answer. */
  async expectHonestScripts(): Promise<boolean> {
    return (await this.scripts?.expectHonest((tip) => this.#chainTo(tip))) === true;
  }

  /** Fails if a reader gets anything but the whole state after one of the node's blocks. */
  expectHonest(): void {
    const tip = this.readTip();
    if (tip === undefined) return;
    const chain = this.#chainTo(tip.hash);
    const { coins, locations, headers } = modelOf(chain);
    const filters = this.#filters.of(chain);
    this.readOrNothing((snapshot) => {
      expect(snapshot.headerAt(chain.length)).to.equal(undefined);
      const told = chain.map((_, height) => snapshot.headerAt(height) ?? expect.fail('a header'));
      // During the backfill of an index that started from coins, facts that only blocks tell are not known yet.
      if (snapshot.backfilling !== undefined)
        expectSame(
          told.map(({ hash }) => toDisplayHex(hash)),
          headers.map((header) => header.slice(0, 64))
        );
      else {
        expectSame(
          told.map(({ hash, transactionCount, chainBytes }) => `${toDisplayHex(hash)} ${transactionCount} ${chainBytes}`),
          headers
        );
        expectRuns(snapshot, chain);
      }
      filters.forEach(({ filter, header }, height) => {
        expectSameBytes(snapshot.filterAt(height) ?? filter, filter);
        expectSameBytes(snapshot.filterHeaderAt(height) ?? header, header);
      });
      chain.forEach((raw, height) => {
        expectSame(snapshot.heightOf(knownHash(raw)), height);
      });
      // The genesis block's coinbase has a location but no coin, and may be asked for like the others.
      for (const { txid, name, outputs } of chain.flatMap(modelTransactions)) {
        const expected = locations.get(name);
        try {
          const location = snapshot.location(txid);
          expectSame(location && `${location.block.height} ${location.offset} ${location.length}`, expected);
          expectSame(snapshot.position(txid)?.block, location?.block);
        } catch (error) {
          if (!(error instanceof NotYetKnownError)) throw error;
          expect(error.backfill).to.equal(snapshot.backfilling);
          expect(Number(expected?.split(' ')[0])).to.be.below(snapshot.backfilling?.height ?? 0);
          expect(() => snapshot.position(txid)).to.throw(NotYetKnownError);
        }
        outputs.forEach(({ name }, index) => {
          const coin = snapshot.coin(txid, index);
          expectSame(coin && describeCoin(coin), coins.get(name));
        });
      }
    });
  }

  /** Fails unless the index is live and equals an index built from nothing in every byte, and the index by script likewise. */
  async expectRight(): Promise<void> {
    const chain = await this.#activeChain();
    await this.expectIndexRight(chain);
    if (this.#hasScripts) await this.scripts?.expectRight(chain);
  }

  private async expectIndexRight(chain: readonly Buffer[]): Promise<void> {
    expect(await this.untilAtRest(), this.log.lines.slice(-3).join('\n')).to.equal('live');
    expect(this.readTip()).to.deep.equal(this.node.tip());
    const fresh = await this.#fresh.imageOf(chain, sameSecret(this.store));
    if (this.filters) await expectFilters(this.store, chain, this.#filters);
    else await expectHonestFilters(this.store, chain, this.#filters);
    if (this.store.get(BASE_KEY) !== undefined) {
      await expectBaseIndexOf(this.store, this.node, chain);
      expectSameBesideCoins(await storeImage(this.store), fresh, baseOf(this.store));
      return;
    }
    await expectIndexOf(this.store, chain);
    expectSameImage(await storeImage(this.store), fresh, this.undoDepth);
  }

  async nodeStep(step: NodeStep): Promise<void> {
    const { chain } = this.host;
    switch (step.do) {
      case 'mine':
        return this.extend(chain.height, step.plans);
      case 'fork':
        return this.extend(Math.max(1, chain.height - step.back), step.plans);
      case 'reset':
        return chain.reset(Math.max(1, chain.height - step.back));
      case 'reset silently':
        return chain.replay(Math.max(2, chain.height - step.back));
      case 'invalidate': {
        const entry = await chain.getEntryByHeight(Math.max(2, chain.height - step.back));
        return entry === null ? undefined : chain.invalidate(entry.hash);
      }
      case 'replay': {
        const blocks = (await this.#activeChain()).slice(-step.back);
        await chain.reset(chain.height - blocks.length);
        return this.add(blocks);
      }
      case 'connect or disconnect':
        await (this.#connected ? this.host.disconnect() : this.host.connect());
        this.#connected = !this.#connected;
    }
  }

  /** Resolves with the phase in which the index stays until something happens. */
  async untilAtRest(): Promise<'live' | 'failed'> {
    const { phase } = await firstValueFrom(
      this.index.state$.pipe(filter(({ phase }) => phase === 'failed' || (phase === 'live' && this.isLevel())))
    );
    return phase as 'live' | 'failed'; // the filter lets no other through
  }

  private isLevel(): boolean {
    const { height } = this.index.state as { height: number }; // asked when live
    return height === this.host.chain.height && this.readTip()?.hash.equals(this.node.tip().hash) !== false;
  }

  private readTip(): { hash: Buffer; height: number } | undefined {
    return this.readOrNothing(({ tip: { hash, height } }) => ({ hash, height }));
  }

  /** undefined: the index has nothing to read. */
  private readOrNothing<T>(use: (snapshot: IndexSnapshot) => T): T | undefined {
    try {
      return this.index.reader.read(use);
    } catch (error) {
      if (error instanceof IndexUnavailableError) return undefined;
      throw error;
    }
  }

  async openIndex(): Promise<void> {
    await this.index.open();
    if (this.#hasScripts) this.scripts?.open();
  }

  async closeIndex(): Promise<void> {
    await this.scripts?.close();
    await this.index.close();
  }

  /** Closes the index and opens it again. */
  async reopen(): Promise<void> {
    await this.closeIndex();
    this.index = this.newIndex();
    await this.openIndex();
  }

  private newIndex(): ChainIndexer {
    const index = new ChainIndexer({
      store: this.store,
      node: this.node,
      logger: this.log,
      migrations: [],
      undoDepth: this.undoDepth,
      bootstrap: this.bootstrap,
      filters: this.filters,
      cacheBytes: CACHE_BYTES,
      scrubMs: this.scrubMs
    });
    if (this.#hasScripts) this.scripts?.beside(index);
    return index;
  }

  #activeChain(): Promise<Buffer[]> {
    return activeChain(this.node, this.#blocks);
  }

  /** The blocks from the genesis block to one that the node was given. */
  #chainTo(tip: Buffer): Buffer[] {
    const later: Buffer[] = [];
    for (let hash = tip; !hash.equals(this.node.network.genesisHash); hash = previousHashOf(later[0] as Buffer))
      later.unshift(this.#blocks.get(hash.toString('hex')) ?? expect.fail(`a block of the node, got ${hash.toString('hex')}`));
    return [regtestGenesis, ...later];
  }

  private async mineBase(): Promise<void> {
    const { height } = this.host.chain;
    const plans = Array.from({ length: BASE_BLOCKS - height }, (_, i) => ({
      repeat: height + i < 4 ? height + i : undefined,
      transactions: []
    }));
    await this.extend(height, plans);
  }

  private async extend(height: number, plans: readonly BlockPlan[]): Promise<void> {
    const parent = await this.node.activeHash(height);
    if (parent === undefined) throw new Error(`the node has no block at height ${height}`);
    const blocks: Buffer[] = [];
    for (const plan of plans) {
      const last = blocks.at(-1);
      blocks.push(this.#maker.make(last === undefined ? parent : blockHash(last), plan));
    }
    await this.add(blocks);
  }

  /** Skips blocks that the node already has; stops at a block that it has invalidated. */
  private async add(blocks: readonly Buffer[]): Promise<void> {
    for (const raw of blocks) {
      this.#blocks.set(blockHash(raw).toString('hex'), raw);
      if ((await this.node.entry(blockHash(raw))) !== undefined) continue;
      try {
        await this.host.chain.add(bcoin.Block.fromRaw(raw));
      } catch (error) {
        // The block was invalidated before: the same plan on the same block makes the same bytes.
        if ((error as { readonly reason?: string }).reason !== 'duplicate') throw error;
        return;
      }
    }
  }
}

/** Fails unless headers in runs of any length are those of the chain, in order. */
function expectRuns(snapshot: IndexSnapshot, chain: readonly Buffer[]): void {
  const headers: Buffer[] = [];
  for (let height = 0; height < chain.length;) {
    const run = snapshot.headerRun(height, chain.length) ?? expect.fail(`headers from ${height} on`);
    headers.push(run.headers);
    height += run.count;
    const next = chain[height];
    expectSame(run.nextHash, next && knownHash(next));
  }
  expect(Buffer.concat(headers).equals(Buffer.concat(chain.map((raw) => raw.subarray(0, 80))))).to.equal(true);
  expect(snapshot.headerRun(chain.length, 1)).to.equal(undefined);
}
