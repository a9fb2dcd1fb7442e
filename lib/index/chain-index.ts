// The index of the node's chain: opens it, says what it does, answers from it, closes it.

import { BehaviorSubject, distinctUntilChanged, ReplaySubject, Subject, type Observable } from 'rxjs';
import { toDisplayHex } from '../bitcoin/hash';
import { LayoutVersionError, StoreError } from '../store/errors';
import { migrate, type Migration } from '../store/migrate';
import { IndexRefusedError, isDamage } from './errors';
import { Indexer } from './indexer';
import { GENESIS_KEY, LAYOUT_VERSION, putRecord, recordOf } from './layout';
import { SnapshotReader } from './reader';
import { ChainSync } from './sync';
import { StateLog } from './state-log';
import type { BlockPoint, NodeSource } from '../node/types';
import type { Store } from '../store/store';
import type { IndexLogger } from './logger';
import type { ChainIndex, IndexedBlock, IndexReader, IndexState } from './types';

/** Blocks that can be undone without the node: a month of the main network. */
export const DEFAULT_UNDO_DEPTH = 4_320;

export interface ChainIndexerOptions {
  readonly store: Store;
  readonly node: NodeSource;
  readonly logger: IndexLogger;
  readonly migrations: readonly Migration[];
  /** The last so many blocks can be undone without the node; deeper reorganizations build anew. */
  readonly undoDepth?: number;
  /** Memory for coins on their way into the index and those that were there lately. */
  readonly cacheBytes?: number;
}

export class ChainIndexer implements ChainIndex {
  readonly reader: IndexReader;
  readonly state$: Observable<IndexState>;
  readonly tip$: Observable<BlockPoint>;
  readonly blocks$: Observable<IndexedBlock>;
  readonly #options: ChainIndexerOptions;
  readonly #reader: SnapshotReader;
  readonly #indexer: Indexer;
  readonly #sync: ChainSync;
  readonly #state = new BehaviorSubject<IndexState>({ phase: 'loading' });
  readonly #tip = new ReplaySubject<BlockPoint>(1);
  readonly #blocks = new Subject<IndexedBlock>();

  constructor(options: ChainIndexerOptions) {
    this.#options = options;
    const { store, node, logger } = options;
    this.#reader = this.reader = new SnapshotReader(store, (error) => this.#sync.distrust(error));
    this.state$ = this.#state.asObservable();
    this.tip$ = this.#tip.pipe(distinctUntilChanged((a, b) => a.hash.equals(b.hash)));
    this.blocks$ = this.#blocks.asObservable();
    this.#indexer = new Indexer({
      store,
      genesisHash: node.network.genesisHash,
      undoDepth: options.undoDepth ?? DEFAULT_UNDO_DEPTH,
      ...options.cacheBytes !== undefined && { cacheBytes: options.cacheBytes },
      onMove: () => this.#reader.renew()
    });
    const log = new StateLog(logger);
    this.#sync = new ChainSync({
      node,
      indexer: this.#indexer,
      logger,
      onState: (state) => {
        log.note(state);
        this.#state.next(state);
      },
      onBlock: (block) => {
        this.#blocks.next(block);
        this.#sayTip();
      },
      clear: () => this.#clear()
    });
  }

  get state(): IndexState {
    return this.#state.value;
  }

  /**
   * Opens the store and starts to catch up, without waiting for that.
   * @throws IndexRefusedError for another network's index or a newer layout; StoreError.
   */
  async open(): Promise<void> {
    await this.#openStore();
    try {
      await this.#load();
    } catch (error) {
      await this.#closeStore();
      throw error;
    }
    this.#sayTip();
    this.#sync.start();
  }

  /** Stops listening to the chain first; waits for the write under way. */
  async close(): Promise<void> {
    await this.#sync.close();
    await this.#indexer.close();
    this.#reader.close();
    await this.#closeStore();
    this.#state.next({ phase: 'closed' });
    this.#state.complete();
    this.#tip.complete();
    this.#blocks.complete();
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
    const { store, logger } = this.#options;
    try {
      await store.open();
    } catch (error) {
      if (!isDamage(error)) throw error;
      logger.warning(`Building the index anew: ${error.message}.`);
      await store.clear();
    }
  }

  /** Brings the store to our layout and makes sure that it is our network's. */
  async #prepare(): Promise<void> {
    const { store, node, migrations, logger } = this.#options;
    try {
      await migrate(store, migrations, {
        version: LAYOUT_VERSION,
        onStep: ({ from, to, info }) => { logger.info(`Migrating the index from layout ${from} to ${to}: ${info}.`); }
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
      this.#options.logger.warning(`Building the index anew: ${error.message}.`);
      await this.#clear();
    }
  }

  async #clear(): Promise<void> {
    this.#indexer.reset();
    await this.#options.store.clear();
    // Whoever has read while the store was being cleared saw what is no longer there.
    this.#reader.renew();
    await this.#prepare();
  }

  #sayTip(): void {
    const { tip } = this.#indexer;
    if (tip !== undefined) this.#tip.next({ hash: tip.hash, height: tip.height });
  }
}
