// The index of the node's chain: opens it, reports its state, answers from it, rebuilds it, closes it.

import { setTimeout } from 'node:timers/promises';
import { BehaviorSubject, distinctUntilChanged, ReplaySubject, Subject, type Observable } from 'rxjs';
import { errorOf, isDamage, mayPass, NotRebuildableError } from '../follow/errors';
import { FAILURE_PAUSE_MS } from '../follow/follow-loop';
import { scrubAgainAndAgain } from '../follow/scrub';
import { StoreError } from '../store/errors';
import { prepareStore } from './prepare-store';
import { IndexWriter } from './write/index-writer';
import { StateLog } from './progress/log';
import { Throttle } from '../follow/throttle';
import { checkingText } from './progress/text';
import { ShownState } from './read/shown-state';
import { undoableBlocks } from './read/undoable';
import { ChainSync } from './follow/sync';
import type { IndexLogger } from '../follow/logger';
import type { BlockPoint } from '../node/types/chain';
import type { NodeSource } from '../node/types/source';
import type { Migration } from '../store/migrate';
import type { Store, StoreUse } from '../store/store';
import type { BootstrapFrom, ChainIndex, IndexFigures, IndexFollower, IndexedBlock, HoldableReader, IndexState } from './types';

/** Blocks that can be undone without asking the node: a month of the main network. */
export const DEFAULT_UNDO_DEPTH = 4_320;

/** How long the node's start waits for files to be checked and migrated; after that, the work continues in the background. */
const OPENING_PATIENCE_MS = 5_000;

/** How often progress within one phase is reported. */
const REPORT_MS = 1_000;

export interface ChainIndexerOptions {
  readonly store: Store;
  readonly node: NodeSource;
  readonly logger: IndexLogger;
  readonly migrations: readonly Migration[];
  /** How many blocks can be undone without asking the node; deeper reorganizations lead to a rebuild. */
  readonly undoDepth?: number;
  /** Memory for the coin cache. */
  readonly cacheBytes?: number;
  /** Memory for the coin cache while the index catches up; `cacheBytes` unless given. */
  readonly catchUpCacheBytes?: number;
  /** How long `open` waits at most. */
  readonly patienceMs?: number;
  /** What an empty index starts from; blocks unless given. */
  readonly bootstrap?: BootstrapFrom;
  /** Whether all blocks get filters, including those that entered the index without one; false unless given. */
  readonly filters?: boolean;
  /** Whether blocks get a hash over the coins that they spend (`IndexSnapshot.spentHash`). */
  readonly spentHashes?: boolean;
  /** How long one pass over the files of the open index takes (lib/follow/scrub.ts); 0 (the default): no passes. */
  readonly scrubMs?: number;
  /** Pause before an index that could not be opened, or has failed, is tried again; a minute unless given. */
  readonly failurePauseMs?: number;
}

export class ChainIndexer implements ChainIndex {
  readonly reader: HoldableReader;
  readonly latest: HoldableReader;
  readonly state$: Observable<IndexState>;
  readonly tip$: Observable<BlockPoint>;
  readonly blocks$: Observable<IndexedBlock>;
  readonly #options: ChainIndexerOptions;
  readonly #bootstrap: BootstrapFrom;
  readonly #failurePauseMs: number;
  readonly #writer: IndexWriter;
  readonly #shown: ShownState;
  readonly #sync: ChainSync;
  readonly #log: StateLog;
  readonly #reports = new Throttle(REPORT_MS);
  readonly #state = new BehaviorSubject<IndexState>({ phase: 'loading' });
  readonly #tip = new ReplaySubject<BlockPoint>(1);
  readonly #blocks = new Subject<IndexedBlock>();
  /** Resolves when `#open` has ended, successfully or not. Never rejects. */
  #opening: Promise<void> = Promise.resolve();
  #isOpening = false;
  /** Aborted by `close`. */
  readonly #abort = new AbortController();
  #scrubbing: Promise<void> = Promise.resolve();
  /** The share of the files that the scrub has read in this pass. */
  #scrubbed: number | undefined;
  #undoableFrom: { readonly tip: BlockPoint; readonly blocks: number } | undefined;

  constructor(options: ChainIndexerOptions) {
    this.#options = options;
    const {
      store,
      node,
      logger,
      bootstrap = 'blocks',
      filters = false,
      spentHashes = false,
      undoDepth = DEFAULT_UNDO_DEPTH,
      cacheBytes,
      catchUpCacheBytes
    } = options;
    this.#bootstrap = bootstrap;
    this.#failurePauseMs = options.failurePauseMs ?? FAILURE_PAUSE_MS;
    this.state$ = this.#state.asObservable();
    this.tip$ = this.#tip.pipe(distinctUntilChanged((a, b) => a.hash.equals(b.hash)));
    this.blocks$ = this.#blocks.asObservable();
    this.#writer = new IndexWriter({
      store,
      genesisHash: node.network.genesisHash,
      undoDepth,
      filters,
      spentHashes,
      ...(cacheBytes !== undefined && { cacheBytes }),
      ...(catchUpCacheBytes !== undefined && { catchUpCacheBytes }),
      onMove: () => {
        this.#shown.noteMove();
      },
      onThreadLost: (reason) => {
        logger.warning(`The index has lost its worker thread and continues without it: ${reason}. Blocks take longer.`);
      }
    });
    this.#shown = new ShownState({
      store,
      memory: this.#writer,
      mayShow: node.mayShow,
      onDamage: (error) => {
        this.#sync.reportDamage(error);
      },
      onShown: () => {
        const { tip } = this.#writer;
        if (tip !== undefined) this.#tip.next({ hash: tip.hash, height: tip.height });
      }
    });
    this.reader = this.#shown.reader;
    this.latest = this.#shown.latest;
    this.#log = new StateLog(logger);
    this.#sync = new ChainSync({
      node,
      store,
      writer: this.#writer,
      bootstrap,
      logger,
      onState: this.#say,
      blocks: this.#blocks,
      ...(node.mayShow !== undefined && { held: this.#shown }),
      clear: () => this.#clear(),
      rebuild: (damage, from) => this.#rebuild(damage, from),
      prepareFor: (use) => this.#prepareFor(use),
      reopen: () => this.#reopen(),
      failurePauseMs: this.#failurePauseMs
    });
  }

  get state(): IndexState {
    return this.#state.value;
  }

  get figures(): IndexFigures {
    return { ...this.#writer.figures, scrub: this.#scrubbed, undoable: this.#undoable };
  }

  addFollower(follower: IndexFollower): void {
    this.#sync.follower = follower;
  }

  /**
   * Opens the store and starts to catch up, without waiting for the end of either. If opening takes longer than `patienceMs`, it
   * continues in the background, and the state says how it ends. A store that cannot be opened is tried again each minute, one
   * that is damaged and cannot be rebuilt is not; neither keeps the node from starting, and the state reports it.
   * @throws IndexRefusedError for another network's index or a newer layout.
   */
  async open(): Promise<void> {
    let isAwaited = true;
    const opening = this.#open().catch((error: unknown) => {
      if (isAwaited && !(error instanceof StoreError || error instanceof NotRebuildableError)) throw error;
      this.#notOpened(error);
      return errorOf(error);
    });
    this.#opening = opening.then(
      (failure) => failure && this.#openLater(failure),
      () => undefined
    );
    const opened = new AbortController();
    try {
      await Promise.race([opening, setTimeout(this.#options.patienceMs ?? OPENING_PATIENCE_MS, undefined, { signal: opened.signal })]);
    } finally {
      isAwaited = false;
      opened.abort();
    }
  }

  /** Stops listening to the chain, then waits for the current write. */
  async close(): Promise<void> {
    this.#abort.abort();
    // Ends the work of `#open`. A migration that was interrupted is run again at the next start.
    if (this.#isOpening) await this.#closeStore();
    await this.#opening;
    await this.#scrubbing;
    await this.#sync.close();
    await this.#writer.close();
    this.#shown.close();
    await this.#closeStore();
    this.#state.next({ phase: 'closed' });
    this.#state.complete();
    this.#tip.complete();
    this.#blocks.complete();
  }

  async #open(): Promise<void> {
    this.#isOpening = true;
    try {
      await this.#load();
    } catch (error) {
      await this.#closeStore();
      throw error;
    } finally {
      this.#isOpening = false;
    }
    if (this.#abort.signal.aborted) return;
    this.#sync.start();
    const { store, logger, scrubMs: passMs = 0 } = this.#options;
    if (passMs > 0)
      this.#scrubbing = scrubAgainAndAgain({
        store,
        name: 'the index',
        wasChecked: true,
        logger,
        passMs,
        onDamage: this.#sync.reportDamage,
        onPart: (share) => {
          this.#scrubbed = share;
        },
        signal: this.#abort.signal
      });
  }

  #notOpened(error: unknown, before?: Error): void {
    if (this.#abort.signal.aborted) return;
    const { message } = errorOf(error);
    if (message !== before?.message) this.#options.logger.error(`The index was not opened: ${message}.`);
    this.#say({ phase: 'failed', message });
  }

  /** Tries again until the index is open, or cannot be, or `close` is called. */
  async #openLater(failure: Error): Promise<void> {
    const { signal } = this.#abort;
    let before = failure;
    while (mayPass(before)) {
      await setTimeout(this.#failurePauseMs, undefined, { signal, ref: false }).catch(() => undefined);
      if (signal.aborted) return;
      try {
        await this.#open();
        return;
      } catch (error) {
        this.#notOpened(error, before);
        before = errorOf(error);
      }
    }
  }

  /** A store that cannot even be closed must not keep the node from stopping. */
  async #closeStore(): Promise<void> {
    const { store, logger } = this.#options;
    try {
      await store.close();
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      logger.error(`The index was not closed cleanly: ${error.message}.`);
    }
  }

  /** Opens the store, which may be damaged, and reads the index's tip. */
  async #load(): Promise<void> {
    const { store } = this.#options;
    this.#reports.restart();
    try {
      await store.open((progress) => {
        this.#say({ phase: 'loading', work: checkingText(progress) });
      });
      // The check of the files is over.
      if (this.state.phase === 'loading' && this.state.work !== undefined) this.#say({ phase: 'loading' });
      await this.#prepare();
      await this.#writer.load();
    } catch (error) {
      if (!isDamage(error)) throw error;
      await this.#rebuild(error, this.#bootstrap);
    }
  }

  #prepare(): Promise<void> {
    return prepareStore(this.#options, (work) => {
      this.#say({ phase: 'loading', work });
    });
  }

  /**
   * Empties a damaged index, so that it is built again. An index that cannot be built again is never emptied: it may be all
   * that is left of blocks that the node has pruned.
   * @throws NotRebuildableError that names the damage, why the index cannot be rebuilt, and what to do.
   */
  async #rebuild(damage: Error, from: BootstrapFrom): Promise<void> {
    const { node, logger } = this.#options;
    const why = await whyNotRebuildable(node, from);
    if (why !== undefined) throw new NotRebuildableError(`${damage.message}; ${why}`, { cause: damage });
    logger.warning(`Rebuilding the index: ${damage.message}.`);
    await this.#clear();
  }

  async #clear(): Promise<void> {
    this.#writer.reset();
    await this.#options.store.clear();
    // Readers that came while the store was being cleared share a snapshot of its old content.
    this.#shown.renew();
    await this.#prepare();
    await this.#writer.load();
  }

  async #reopen(): Promise<void> {
    const { store } = this.#options;
    // A store that has failed may not close cleanly: that was logged when it failed.
    await store.close().catch(() => undefined);
    this.#writer.reset();
    await store.open();
    this.#shown.renew();
    await this.#writer.load();
  }

  async #prepareFor(use: StoreUse): Promise<void> {
    this.#writer.prepareFor(use);
    try {
      await this.#options.store.prepareFor(use);
    } finally {
      // The store may have closed its snapshots.
      this.#shown.renew();
    }
  }

  /** Undo records are large: they are looked for once for each tip. */
  get #undoable(): number | undefined {
    const { tip } = this.#writer;
    try {
      if (tip !== undefined && this.#undoableFrom?.tip !== tip)
        this.#undoableFrom = { tip, blocks: undoableBlocks(this.#options.store, tip) };
      return tip && this.#undoableFrom?.blocks;
    } catch (error) {
      // The store is closed at the moment.
      if (error instanceof StoreError) return undefined;
      throw error;
    }
  }

  readonly #say = (state: IndexState): void => {
    const { phase } = state;
    const tellsProgress = phase === 'loading' ? state.work !== undefined : phase !== 'live' && phase !== 'failed';
    if (phase !== this.#state.value.phase) this.#reports.restart();
    else if (tellsProgress && !this.#reports.isDue()) return;
    this.#log.note(state);
    this.#state.next(state);
  };
}

/** Why an index cannot be rebuilt from the node's blocks or coins, and what to do about it, without a full stop; undefined: it can. */
export async function whyNotRebuildable(node: Pick<NodeSource, 'hasAllBlocks'>, from: BootstrapFrom): Promise<string | undefined> {
  if (from === 'coins' || (await node.hasAllBlocks())) return undefined;
  return (
    'the node has thrown blocks away (--prune), without which the index cannot be built again: it was left as it is; ' +
    'with --rest-bootstrap=coins it is built again from the coins that the node holds'
  );
}
