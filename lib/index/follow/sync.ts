// Keeps the index at the node's tip. Events are hints, the node's chain is the truth: the
// index compares itself with it at the start and at every event, catches up, then follows in
// lockstep. While it catches up, or when it has failed, events are acknowledged at once: the
// chain never waits for an index that is not there. One that failed at a block tries again when the
// chain has moved. Nor does a node that downloads the chain wait: what came is caught up with now
// and then, many blocks in one batch.

import { setTimeout } from 'node:timers/promises';
import { concatMap, filter, firstValueFrom, from, map, merge, of, Subject, tap, timer, type Subscription } from 'rxjs';
import { toDisplayHex } from '../../bitcoin/hash';
import { previousHashOf } from '../../bitcoin/header';
import { StoreError } from '../../store/errors';
import { Bootstrap } from '../bootstrap/copy-coins';
import { CatchUp } from './catch-up';
import { isDamage, isOfBlock, LeftBehindError, TooDeepError } from '../errors';
import { Backfill } from '../bootstrap/backfill';
import { requireRebuildable } from './rebuilding';
import type { BlockPoint, ChainEvent, NodeSource } from '../../node/types';
import type { Store, StoreUse } from '../../store/store';
import type { IndexWriter } from '../write/index-writer';
import type { IndexLogger } from '../types';
import type { BootstrapFrom, IndexedBlock, IndexState } from '../types';

/** How long to wait for a moving chain to say that it has moved; a silent replay never says so. */
const PATIENCE_MS = 1_000;

/** Further behind the node's tip the store is set up for being filled. */
const FEW_BLOCKS = 100;

/** So many are worth a batch in any case. */
const MANY_BLOCKS = 1_000;

/** From one batch of downloaded blocks to the next. */
const DOWNLOAD_PAUSE_MS = 1_000;

/** After so long without a block the download is over, or has stopped. */
const DOWNLOAD_END_MS = 5_000;

/** Turns among the events: of filling in, and of setting the store up once a download has ended. */
const FILL = 'fill';
const SETTLE = 'settle';
type Step = ChainEvent | typeof FILL | typeof SETTLE;

export interface ChainSyncOptions {
  readonly node: NodeSource;
  readonly store: Store;
  readonly indexer: IndexWriter;
  /** What an empty index begins with. */
  readonly bootstrap: BootstrapFrom;
  readonly logger: IndexLogger;
  readonly onState: (state: IndexState) => void;
  readonly onBlock: (block: IndexedBlock) => void;
  /** Empties the store and makes it ready for the first block. */
  readonly clear: () => Promise<void>;
  /** Sets the store up for what comes next; readers are without it for a moment. */
  readonly prepareFor: (use: StoreUse) => Promise<void>;
}

export class ChainSync {
  readonly #options: ChainSyncOptions;
  readonly #catchUp: CatchUp;
  readonly #abort = new AbortController();
  readonly #moved$ = new Subject<void>();
  /** A look at where index and chain stand, without an event. */
  readonly #look$ = new Subject<undefined>();
  /** Only when the index is to begin with the node's coins. */
  readonly #bootstrap: Bootstrap | undefined;
  readonly #fill: Backfill;
  readonly #turn$ = new Subject<typeof FILL | typeof SETTLE>();
  #fillWaits = false;
  /** Events heard so far. */
  #moves = 0;
  /** Events that wait for their turn, and the chain with them. */
  readonly #waiting = new Set<ChainEvent>();
  #live = false;
  /** Why it has stopped. */
  #failure: Error | undefined;
  /** Why it has stopped since it was last live, as it was said in the log. */
  #said: string | undefined;
  /** When the index was last made level with the node's tip. */
  #levelAt = -Infinity;
  /** Blocks come faster than they are to be taken in one by one. */
  #downloading = false;
  #use: StoreUse = 'following';
  /** What comes next of a download. */
  #later: Subscription | undefined;
  /** What a reader met and nobody has seen to yet. */
  #trouble: Error | undefined;
  /** Why the index was built anew since it was last live. */
  #rebuiltFor = new Set<string>();
  #subscription: Subscription | undefined;
  #work: Promise<void> = Promise.resolve();

  constructor(options: ChainSyncOptions) {
    this.#options = options;
    const { node, indexer, onState, onBlock } = options;
    this.#fill = new Backfill(options);
    if (options.bootstrap === 'coins') this.#bootstrap = new Bootstrap({ ...options, signal: this.#abort.signal });
    this.#catchUp = new CatchUp({ node, indexer, signal: this.#abort.signal, onState, onBlock });
  }

  /** Starts to catch up, then to follow. */
  start(): void {
    const events = this.#options.node.chain$.pipe(
      tap((event) => {
        this.#moves++;
        if (this.#live && event.type === 'connect' && !this.#options.node.progress().synced) this.#fallBehind();
        if (this.#live) this.#waiting.add(event);
        else event.acknowledge();
        this.#moved$.next();
      }),
      filter(() => this.#live || this.#isToTryAgain()),
      map((event) => this.#live ? event : undefined)
    );
    this.#subscription = merge(of(undefined), events, this.#look$, this.#turn$).pipe(
      concatMap((event) => from(this.#work = this.#process(event)))
    ).subscribe();
  }

  /** A reader met something that must not be: nothing is live until it has been seen to. */
  distrust(error: Error): void {
    if (this.#failure !== undefined || this.#trouble !== undefined) return;
    this.#trouble = error;
    if (!this.#live) return;
    this.#options.onState({ phase: 'loading' });
    this.#look$.next(undefined);
  }

  /** Stops listening, lets the chain go on, and waits for the write that is under way. */
  async close(): Promise<void> {
    this.#live = false;
    this.#abort.abort();
    this.#subscription?.unsubscribe();
    this.#later?.unsubscribe();
    this.#moved$.next();
    await this.#work;
  }

  /** Never rejects, and always acknowledges. */
  async #process(event: Step | undefined): Promise<void> {
    const moves = this.#moves;
    try {
      if (this.#failure === undefined && !this.#abort.signal.aborted) await this.#reconcile(event);
    } catch (error) {
      if (!this.#abort.signal.aborted) this.#fail(error);
    } finally {
      if (typeof event === 'object') this.#acknowledge(event);
    }
    // Nobody else would: what came meanwhile was for an index that was catching up.
    if (this.#moves !== moves && this.#isToTryAgain()) await this.#process(undefined);
  }

  /** A failure for which a block is to blame ends when the chain moves. */
  #isToTryAgain(): boolean {
    if (!isOfBlock(this.#failure)) return false;
    this.#failure = undefined;
    return true;
  }

  #acknowledge(event: ChainEvent): void {
    this.#waiting.delete(event);
    event.acknowledge();
  }

  /** Lets the chain go on, also where it waits for an event whose turn has not come. */
  #release(): void {
    for (const event of this.#waiting) this.#acknowledge(event);
  }

  async #reconcile(event: Step | undefined): Promise<void> {
    for (let step = event; ; step = undefined) {
      try {
        if (step !== undefined && await this.#take(step)) return;
        this.#live = false;
        await this.#reachTip();
        return;
      } catch (caught) {
        const error = await this.#damageBehind(caught) ?? caught;
        if (!isDamage(error)) throw error;
        this.#live = false;
        this.#release();
        await this.#rebuild(error);
      }
    }
  }

  /** False: there is more to do. */
  async #take(step: Step): Promise<boolean> {
    if (step === FILL) await this.#fillIn();
    else if (step === SETTLE) await this.#settle();
    else return await this.#follow(step);
    return true;
  }

  /** Does what the event says if that leads to the node's tip. False: there is more to do. */
  async #follow(event: ChainEvent): Promise<boolean> {
    const { indexer, onBlock } = this.#options;
    if (this.#isLevel()) return true;
    const { tip } = indexer;
    if (tip === undefined) return false;
    if (event.type === 'connect' && event.block.height === tip.height + 1) {
      const raw = event.rawBlock();
      if (!previousHashOf(raw).equals(tip.hash)) return false;
      await indexer.apply(raw);
      onBlock({ type: 'connect', block: event.block });
    } else if (event.type === 'disconnect' && event.block.hash.equals(tip.hash)) {
      const block = await indexer.undo();
      onBlock({ type: 'disconnect', block });
    }
    if (!this.#isLevel()) return false;
    this.#sayLive();
    this.#planFill();
    return true;
  }

  /** Lets the chain go on without the index, which then catches up: at once with one block, in a download after a pause. */
  #fallBehind(): void {
    const { node, indexer, onState } = this.#options;
    this.#live = false;
    onState({ phase: 'indexing', height: indexer.tip?.height ?? 0, target: node.tip().height, secondsLeft: undefined });
    const pause = this.#levelAt + DOWNLOAD_PAUSE_MS - performance.now();
    this.#downloading = pause > 0;
    this.#after(Math.max(0, pause), () => { this.#look$.next(undefined); });
  }

  /** In the place of what was to come. */
  #after(ms: number, run: () => void): void {
    this.#later?.unsubscribe();
    this.#later = timer(ms).subscribe(run);
  }

  /** Right behind the tip of a download, each batch would be of the one block that came meanwhile. */
  async #letBlocksGather(): Promise<void> {
    const { node, indexer } = this.#options;
    if (node.progress().synced || node.tip().height - (indexer.tip?.height ?? -1) > MANY_BLOCKS) return;
    this.#downloading = true;
    await setTimeout(DOWNLOAD_PAUSE_MS, undefined, { signal: this.#abort.signal });
  }

  /** The download has ended: blocks will come one by one. */
  async #settle(): Promise<void> {
    if (!this.#live) return;
    this.#downloading = false;
    await this.#prepareStore();
  }

  /**
   * Catches up with a chain that may move meanwhile. The chain is held back while the index
   * only takes blocks out, so that a reset stays in lockstep, and let go before it reads any.
   */
  async #reachTip(): Promise<void> {
    const { node } = this.#options;
    for (;;) {
      const moves = this.#moves;
      this.#throwTrouble();
      await this.#catchUp.rewind();
      await this.#prepareStore();
      if (this.#goLive()) return;
      this.#release();
      if (this.#options.indexer.tip === undefined) await this.#bootstrap?.fill();
      const stopped = await this.#catchUp.pull();
      this.#abort.signal.throwIfAborted();
      if (this.#moves !== moves) await this.#letBlocksGather();
      // A reset takes its blocks out before it says so.
      if (stopped === undefined || this.#isLevel() || this.#moves !== moves || stopped.missing > node.tip().height) continue;
      if (!node.resetting) throw this.#missing(stopped.missing);
      await firstValueFrom(merge(this.#moved$, timer(PATIENCE_MS)).pipe(map(() => undefined)));
    }
  }

  /** For as long as blocks come in batches, and again for following. It may also have become larger. */
  async #prepareStore(): Promise<void> {
    const { node, indexer, prepareFor } = this.#options;
    const behind = node.tip().height - (indexer.tip?.height ?? -1);
    if (node.progress().synced) this.#downloading = false;
    if (behind > FEW_BLOCKS) this.#use = 'catching-up';
    else if (!this.#downloading) this.#use = 'following';
    await prepareFor(this.#use);
    if (this.#use === 'following') await indexer.rowMaker.renew();
  }

  /** Why the index cannot go on. */
  #missing(height: number): Error {
    const { node } = this.#options;
    const message = `the node has no block at height ${height}, which the index needs`;
    if (!node.pruned) return new Error(message);
    if (this.#bootstrap === undefined)
      return new Error(`${message}: it was pruned; start the node with --rest-bootstrap=coins, or without --prune on a new folder`);
    const { refusal } = this.#bootstrap;
    if (refusal !== undefined) return new Error(`${message}: it was pruned, and its coins cannot be taken: ${refusal}`);
    return new LeftBehindError(`${message}: it was pruned`);
  }

  /** A step of filling in, in its turn. */
  async #fillIn(): Promise<void> {
    this.#fillWaits = false;
    if (this.#live && await this.#fill.step()) this.#planFill();
  }

  /** Events that are there by then come first. */
  #planFill(): void {
    if (this.#fillWaits || !this.#fill.isDue) return;
    this.#fillWaits = true;
    setImmediate(() => { this.#turn$.next(FILL); });
  }

  #throwTrouble(): void {
    const trouble = this.#trouble;
    this.#trouble = undefined;
    if (trouble !== undefined) throw trouble;
  }

  /** Between the comparison and the change nothing else runs, so that no event is lost. */
  #goLive(): boolean {
    if (this.#abort.signal.aborted || !this.#isLevel()) return false;
    this.#live = true;
    this.#said = undefined;
    this.#levelAt = performance.now();
    if (this.#downloading) this.#after(DOWNLOAD_END_MS, () => { this.#turn$.next(SETTLE); });
    this.#rebuiltFor.clear();
    this.#sayLive();
    this.#planFill();
    return true;
  }

  #isLevel(): boolean {
    return this.#trouble === undefined && this.#options.indexer.tip?.hash.equals(this.#options.node.tip().hash) === true;
  }

  #sayLive(): void {
    const tip = this.#options.indexer.tip as BlockPoint; // level with the node's
    this.#options.onState({ phase: 'live', height: tip.height });
  }

  /** A store that fails may have lost a file: what is wrong with its files, if anything is. */
  async #damageBehind(error: unknown): Promise<Error | undefined> {
    if (!(error instanceof StoreError && error.reason === 'failed')) return undefined;
    const { store, logger } = this.#options;
    try {
      let bytes = 0;
      for await (const { count } of store.scrub()) {
        this.#abort.signal.throwIfAborted();
        bytes += count;
      }
      logger.info(`The store failed. Its files were looked through: ${(bytes / 1_000_000).toFixed(1)} MB, all sound.`);
      return undefined;
    } catch (found) {
      return isDamage(found) ? found : undefined;
    }
  }

  /** @throws the error when building anew did not help, NotRebuildableError when it cannot be done: then nothing is emptied. */
  async #rebuild(error: Error): Promise<void> {
    const { node, bootstrap, onState } = this.#options;
    // First of all: nobody is answered from what is damaged.
    onState({ phase: 'loading' });
    await requireRebuildable(node, this.#bootstrap?.refusal === undefined ? bootstrap : 'blocks', error);
    // A chain that goes back too deep once more, while the index is being built, is no damage that stays.
    if (this.#rebuiltFor.has(error.message) && !(error instanceof TooDeepError)) throw error;
    this.#rebuiltFor.add(error.message);
    this.#options.logger.warning(`Building the index anew: ${error.message}.`);
    this.#fill.reset();
    await this.#options.clear();
    // Whatever readers met until now is gone with the rest.
    this.#trouble = undefined;
  }

  #fail(error: unknown): void {
    this.#live = false;
    this.#failure = error instanceof Error ? error : new Error(String(error));
    const { message } = this.#failure;
    const { tip } = this.#options.indexer;
    // Once: it is met again each time that the chain moves.
    if (message !== this.#said)
      this.#options.logger.error(`The index stopped at ${tip === undefined ? 'its beginning' : `block ${tip.height} (${toDisplayHex(tip.hash)})`}: ${message}.`);
    this.#said = message;
    this.#options.onState({ phase: 'failed', message });
  }
}
