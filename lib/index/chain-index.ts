// The index of the node's chain: opens it, says what it does, answers from it, closes it.

import { setTimeout } from 'node:timers/promises';
import { BehaviorSubject, distinctUntilChanged, ReplaySubject, Subject, type Observable } from 'rxjs';
import { toDisplayHex } from '../bitcoin/hash';
import { LayoutVersionError, StoreError } from '../store/errors';
import { migrate, type Migration } from '../store/migrate';
import { IndexRefusedError, isDamage } from './errors';
import { IndexWriter } from './write/index-writer';
import { GENESIS_KEY, LAYOUT_VERSION, putRecord, recordOf } from './records/layout';
import { MigrationWatch } from './progress/migration-watch';
import { OpeningWatch } from './progress/opening-watch';
import { SnapshotReader } from './read/reader';
import { NotRebuildableError, requireRebuildable } from './follow/rebuilding';
import { Scrub } from './follow/scrub';
import { ChainSync } from './follow/sync';
import { StateLog } from './progress/state-log';
import type { BlockPoint, NodeSource } from '../node/types';
import type { Store, StoreUse } from '../store/store';
import type { IndexLogger } from './types';
import type { BootstrapFrom, ChainIndex, IndexedBlock, IndexReader, IndexState } from './types';

/** Blocks that can be undone without the node: a month of the main network. */
export const DEFAULT_UNDO_DEPTH = 4_320;

/** How long the node's start waits for files to be checked and migrated; the rest goes on behind it. */
const OPENING_PATIENCE_MS = 5_000;

export interface ChainIndexerOptions {
  readonly store: Store;
  readonly node: NodeSource;
  readonly logger: IndexLogger;
  readonly migrations: readonly Migration[];
  /** The last so many blocks can be undone without the node; deeper reorganizations build anew. */
  readonly undoDepth?: number;
  /** Memory for coins on their way into the index and those that were there lately. */
  readonly cacheBytes?: number;
  /** The same while many blocks are taken in; as much unless given. */
  readonly catchUpCacheBytes?: number;
  /** How long `open` waits. */
  readonly patienceMs?: number;
  /** What an empty index begins with; blocks unless given. */
  readonly bootstrap?: BootstrapFrom;
  /** How long it takes to look through the files of the open index, again and again; never unless given, or when 0. */
  readonly scrubMs?: number;
}

export class ChainIndexer implements ChainIndex {
  readonly reader: IndexReader;
  readonly state$: Observable<IndexState>;
  readonly tip$: Observable<BlockPoint>;
  readonly blocks$: Observable<IndexedBlock>;
  readonly #options: ChainIndexerOptions;
  readonly #reader: SnapshotReader;
  readonly #indexer: IndexWriter;
  readonly #sync: ChainSync;
  readonly #scrub: Scrub;
  readonly #log: StateLog;
  readonly #state = new BehaviorSubject<IndexState>({ phase: 'loading' });
  readonly #tip = new ReplaySubject<BlockPoint>(1);
  readonly #blocks = new Subject<IndexedBlock>();
  /** Settled when nothing is under way before the first block. Never rejects. */
  #opening: Promise<void> = Promise.resolve();
  #isOpening = false;
  #closing = false;

  constructor(options: ChainIndexerOptions) {
    this.#options = options;
    const { store, node, logger } = options;
    this.state$ = this.#state.asObservable();
    this.tip$ = this.#tip.pipe(distinctUntilChanged((a, b) => a.hash.equals(b.hash)));
    this.blocks$ = this.#blocks.asObservable();
    this.#indexer = new IndexWriter({
      store,
      genesisHash: node.network.genesisHash,
      undoDepth: options.undoDepth ?? DEFAULT_UNDO_DEPTH,
      ...options.cacheBytes !== undefined && { cacheBytes: options.cacheBytes },
      ...options.catchUpCacheBytes !== undefined && { catchUpCacheBytes: options.catchUpCacheBytes },
      onMove: () => this.#reader.renew(),
      onThreadLost: (reason) => { logger.warning(`The index has lost its thread, and goes on without: ${reason}. Blocks take longer.`); }
    });
    this.#reader = this.reader = new SnapshotReader(store, (error) => this.#sync.distrust(error), this.#indexer.headers);
    this.#log = new StateLog(logger);
    this.#sync = new ChainSync({
      node,
      store,
      indexer: this.#indexer,
      bootstrap: options.bootstrap ?? 'blocks',
      logger,
      onState: (state) => { this.#say(state); },
      onBlock: (block) => {
        this.#blocks.next(block);
        this.#sayTip();
      },
      clear: () => this.#clear(),
      prepareFor: (use) => this.#prepareFor(use)
    });
    this.#scrub = new Scrub({ store, logger, passMs: options.scrubMs ?? 0, onDamage: (error) => { this.#sync.distrust(error); } });
  }

  get state(): IndexState {
    return this.#state.value;
  }

  /**
   * Opens the store and starts to catch up, without waiting for that. What takes longer than
   * the patience of a starting node goes on afterwards, and the state says how it ends. A store
   * that cannot be opened, or is damaged and cannot be built anew, does not keep the node from
   * starting: the state says so, too.
   * @throws IndexRefusedError for another network's index or a newer layout.
   */
  async open(): Promise<void> {
    let isAwaited = true;
    const opening = this.#open().catch((error: unknown) => {
      if (isAwaited && !(error instanceof StoreError || error instanceof NotRebuildableError)) throw error;
      if (!this.#closing) this.#fail(error);
    });
    this.#opening = opening.catch(() => undefined);
    const opened = new AbortController();
    try {
      await Promise.race([opening, setTimeout(this.#options.patienceMs ?? OPENING_PATIENCE_MS, undefined, { signal: opened.signal })]);
    } finally {
      isAwaited = false;
      opened.abort();
    }
  }

  /** Stops listening to the chain first; waits for the write under way. */
  async close(): Promise<void> {
    this.#closing = true;
    // Ends what opening still does; what is not done of a migration is done the next time.
    if (this.#isOpening) await this.#closeStore();
    await this.#opening;
    await this.#scrub.close();
    await this.#sync.close();
    await this.#indexer.close();
    this.#reader.close();
    await this.#closeStore();
    this.#state.next({ phase: 'closed' });
    this.#state.complete();
    this.#tip.complete();
    this.#blocks.complete();
  }

  async #open(): Promise<void> {
    this.#isOpening = true;
    try {
      await this.#openStore();
      await this.#load();
    } catch (error) {
      await this.#closeStore();
      throw error;
    } finally {
      this.#isOpening = false;
    }
    if (this.#closing) return;
    this.#sayTip();
    this.#sync.start();
    this.#scrub.start();
  }

  #fail(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    this.#options.logger.error(`The index was not opened: ${message}.`);
    this.#say({ phase: 'failed', message });
  }

  /** A store that cannot even be closed must not keep the node from stopping. */
  async #closeStore(): Promise<void> {
    const { store, logger } = this.#options;
    try {
      await store.close();
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      logger.error(`The index was not closed well: ${error.message}.`);
    }
  }

  async #openStore(): Promise<void> {
    const { store, node, logger, bootstrap = 'blocks' } = this.#options;
    const watch = new OpeningWatch(performance.now());
    try {
      await store.open((progress) => {
        const state = watch.state(progress, performance.now());
        if (state !== undefined) this.#say(state);
      });
    } catch (error) {
      if (!isDamage(error)) throw error;
      await requireRebuildable(node, bootstrap, error);
      logger.warning(`Building the index anew: ${error.message}.`);
      await store.clear();
    }
    // Whatever was said of the files is over.
    if (this.state.phase === 'loading' && this.state.work !== undefined) this.#say({ phase: 'loading' });
  }

  /** Brings the store to our layout and makes sure that it is our network's. */
  async #prepare(): Promise<void> {
    const { store, node, migrations, logger } = this.#options;
    let watch = new MigrationWatch(performance.now());
    try {
      await migrate(store, migrations, {
        version: LAYOUT_VERSION,
        onStep: ({ from, to, info }) => {
          logger.info(`Migrating the index from layout ${from} to ${to}: ${info}.`);
          watch = new MigrationWatch(performance.now());
        },
        onProgress: (progress) => { this.#say(watch.state(progress, performance.now())); }
      });
    } catch (error) {
      if (error instanceof LayoutVersionError) throw new IndexRefusedError(error.message, { cause: error });
      throw error;
    }
    const { genesisHash, chain } = node.network;
    const value = store.get(GENESIS_KEY);
    if (value === undefined) {
      await store.batch([putRecord(GENESIS_KEY, genesisHash)], { durable: true });
      return;
    }
    const stored = recordOf(GENESIS_KEY, value);
    if (!stored.equals(genesisHash))
      throw new IndexRefusedError(`the index is of another network: expected ${chain} with genesis block ${toDisplayHex(genesisHash)}, got one with ${toDisplayHex(stored)}`);
  }

  async #load(): Promise<void> {
    try {
      await this.#prepare();
      await this.#indexer.load();
    } catch (error) {
      if (!isDamage(error)) throw error;
      const { node, logger, bootstrap = 'blocks' } = this.#options;
      await requireRebuildable(node, bootstrap, error);
      logger.warning(`Building the index anew: ${error.message}.`);
      await this.#clear();
    }
  }

  async #clear(): Promise<void> {
    this.#indexer.reset();
    await this.#options.store.clear();
    // Whoever has read while the store was being cleared saw what is no longer there.
    this.#reader.renew();
    await this.#prepare();
    await this.#indexer.load();
  }

  async #prepareFor(use: StoreUse): Promise<void> {
    this.#indexer.prepareFor(use);
    try {
      await this.#options.store.prepareFor(use);
    } finally {
      // Its snapshots may be closed.
      this.#reader.renew();
    }
  }

  #say(state: IndexState): void {
    this.#log.note(state);
    // An index that began with coins has heard of no block yet.
    if (state.phase === 'live') this.#sayTip();
    this.#state.next(state);
  }

  #sayTip(): void {
    const { tip } = this.#indexer;
    if (tip !== undefined) this.#tip.next({ hash: tip.hash, height: tip.height });
  }
}
