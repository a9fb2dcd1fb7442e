// Keeps the index at the tip of the node's chain, in one loop: wait until something happened, look where index and chain
// stand, do the next thing. Events of the chain are hints; the chain itself is the truth, and each turn compares with it.
//
// The loop waits for an event of the chain, for a reader's distrust, for the end of a pause, and for `close`. Between events
// it backfills in short steps. What it does with an event depends on how the index stands:
//
//   live      At the node's tip. bcoin waits until an event is acknowledged: events are held until the index is at the tip
//             again. So a transaction is always in the index, in the pool, or in both, and a reset is followed block by block.
//   behind    It catches up. Events are acknowledged at once: the chain never waits for an index that is not there.
//   failed    It does nothing. Events are acknowledged at once. If a block is to blame, the next event ends this.
//
// A node that downloads the chain is not held either: each block puts a live index behind, which catches up in batches, one
// a second. Once five seconds have passed without a block, the store is set up for single blocks.
//
// Damage, wherever it is met, leads to a rebuild: once for each reason since the index was last live, and not at all when the
// index cannot be built again (chain-index.ts).

import { setImmediate } from 'node:timers/promises';
import { toDisplayHex } from '../../bitcoin/hash';
import { previousHashOf } from '../../bitcoin/header';
import { StoreError } from '../../store/errors';
import { Backfill } from '../bootstrap/backfill';
import { copyCoins, type BootstrapParts } from '../bootstrap/copy-coins';
import { FilterFill } from '../bootstrap/filter-fill';
import { CatchUp, type CatchUpParts } from './catch-up';
import { isDamage, isBlockFault, LeftBehindError, TooDeepError } from '../errors';
import type { Subscription } from 'rxjs';
import type { BlockPoint, ChainEvent } from '../../node/types';
import type { StoreUse } from '../../store/store';
import type { BootstrapFrom, IndexCompanion } from '../types';

/** How long to wait for an event of a chain that is being reset; some resets send none. */
const PATIENCE_MS = 1_000;

/** Further behind the node's tip than this, the store is set up for catching up. */
const FEW_BLOCKS = 100;

/** This far behind, there is no pause before the next batch. */
const MANY_BLOCKS = 1_000;

/** From one batch of downloaded blocks to the next. */
const DOWNLOAD_PAUSE_MS = 1_000;

/** When no block has come for so long, the download is over, or has stopped. */
const DOWNLOAD_END_MS = 5_000;

export interface ChainSyncParts extends Omit<BootstrapParts & CatchUpParts, 'signal'> {
  /** What an empty index begins with. */
  readonly bootstrap: BootstrapFrom;
  /**
   * Empties the index because of damage. @throws NotRebuildableError if it could not be built from `from` again; nothing is
   * emptied then.
   */
  readonly rebuild: (damage: Error, from: BootstrapFrom) => Promise<void>;
  /** Sets the store up for what comes next; readers are without it for a moment. */
  readonly prepareFor: (use: StoreUse) => Promise<void>;
}

export class ChainSync {
  /** What follows the index while it is live, if anything does. */
  companion: IndexCompanion | undefined;
  readonly #parts: ChainSyncParts;
  readonly #catchUp: CatchUp;
  readonly #backfill: Backfill;
  readonly #filterFill: FilterFill;
  readonly #abort = new AbortController();
  #subscription: Subscription | undefined;
  #loop: Promise<void> = Promise.resolve();
  /** Ends a wait of the loop. */
  #wake: () => void = () => undefined;

  #live = false;
  /** Why the index has failed, as long as it has. */
  #failure: Error | undefined;
  /** Events that are not acknowledged yet. The chain stands still until they are. */
  #held: ChainEvent[] = [];
  /** Events heard so far, and before the turn under way. */
  #heard = 0;
  #heardBefore = 0;
  /** What a reader met, until the loop has seen to it; the index does not count as level with the node meanwhile. */
  #distrusted: Error | undefined;
  /** Whether to backfill when there is nothing else to do. */
  #backfilling = false;

  /** The node downloads the chain, and its blocks are taken in in batches. */
  #downloading = false;
  /** When to catch up with a download next. */
  #pausedUntil = -Infinity;
  /** When to set the store of a live index up for single blocks. */
  #settleAt = Infinity;
  /** When the index last became live. */
  #liveSince = -Infinity;
  #use: StoreUse = 'following';

  /** Why the index cannot begin with the node's coins, if it was tried. */
  #refusal: string | undefined;

  /** Since the index was last live: the failure that was logged, and the damage that it was rebuilt for. */
  #logged: string | undefined;
  readonly #rebuiltFor = new Set<string>();

  constructor(parts: ChainSyncParts) {
    this.#parts = parts;
    this.#backfill = new Backfill(parts);
    this.#filterFill = new FilterFill(parts);
    this.#catchUp = new CatchUp({ ...parts, signal: this.#abort.signal });
  }

  /** Starts to catch up, then to follow. */
  start(): void {
    this.#subscription = this.#parts.node.chain$.subscribe(this.#hear);
    this.#loop = this.#run();
  }

  /** A reader met something that must not be: nobody is answered until the loop has seen to it. */
  distrust(error: Error): void {
    if (this.#failure !== undefined || this.#distrusted !== undefined) return;
    this.#distrusted = error;
    if (this.#live) this.#parts.onState({ phase: 'loading' });
    this.#wake();
  }

  /** Stops listening, lets the chain go on, and waits for the write that is under way. */
  async close(): Promise<void> {
    this.#live = false;
    this.#abort.abort();
    this.#subscription?.unsubscribe();
    this.#release();
    this.#wake();
    await this.#loop;
  }

  /** Holds the chain when the index is live, and lets it go on otherwise. */
  readonly #hear = (event: ChainEvent): void => {
    const { node, writer, onState } = this.#parts;
    this.#heard++;
    if (this.#live && event.type === 'connect' && !node.synced) {
      // The node downloads the chain: one block is caught up with at once, further ones after a pause.
      this.#live = false;
      this.#pausedUntil = this.#liveSince + DOWNLOAD_PAUSE_MS;
      this.#downloading = this.#pausedUntil > performance.now();
      onState({ phase: 'indexing', height: writer.tip?.height ?? 0, target: node.tip().height, secondsLeft: undefined });
    }
    if (this.#live) this.#held.push(event);
    else event.acknowledge();
    this.#wake();
  };

  /** Lets the chain go on. */
  #release(): void {
    const held = this.#held;
    this.#held = [];
    for (const event of held) event.acknowledge();
  }

  /** Never rejects. */
  async #run(): Promise<void> {
    while (!this.#abort.signal.aborted) {
      try {
        const ms = this.#dueIn();
        if (ms > 0) {
          await (this.#live && this.#backfilling ? this.#backfillStep() : this.#wait(ms));
          continue;
        }
        const distrusted = this.#distrusted;
        this.#failure = this.#distrusted = undefined;
        this.#heardBefore = this.#heard;
        if (distrusted !== undefined) throw distrusted;
        const [event] = this.#held;
        if (!this.#live) await this.#approach();
        else if (event !== undefined) await this.#follow(event);
        else await this.#settle();
      } catch (error) {
        await this.#recover(error);
      }
    }
  }

  /** Milliseconds until there is something to do; 0 or less: there is now; Infinity: there is nothing until something happens. */
  #dueIn(): number {
    if (this.#failure !== undefined) return isBlockFault(this.#failure) && this.#heard !== this.#heardBefore ? 0 : Infinity;
    if (this.#distrusted !== undefined || this.#held.length > 0) return 0;
    return (this.#live ? this.#settleAt : this.#pausedUntil) - performance.now();
  }

  /** Until something happens, or for so long. */
  async #wait(ms: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      if (ms !== Infinity) timer = setTimeout(resolve, ms);
    });
    clearTimeout(timer);
  }

  /** Does what the event says, if it fits. If the index is not at the node's tip then, it is behind. */
  async #follow(event: ChainEvent): Promise<void> {
    const { writer, blocks } = this.#parts;
    const { tip } = writer;
    if (this.#isLevel()) {
      this.#release();
      return;
    }
    if (event.type === 'connect' && event.block.height - 1 === tip?.height) {
      const raw = event.rawBlock();
      if (previousHashOf(raw).equals(tip.hash)) {
        await writer.apply(raw);
        blocks.next({ type: 'connect', block: event.block });
        await this.companion?.follow({ type: 'connect', block: event.block, raw });
      }
    } else if (event.type === 'disconnect' && tip?.hash.equals(event.block.hash) === true) {
      const block = await writer.undo();
      blocks.next({ type: 'disconnect', block });
      await this.companion?.follow({ type: 'disconnect', block });
    }
    if (this.#isLevel()) this.#goLive();
    else this.#live = false;
  }

  /**
   * Brings an index that is behind closer to the node's tip, which may move meanwhile. The chain waits while blocks are only
   * undone, so that a reset is followed block by block, but not while blocks are read.
   */
  async #approach(): Promise<void> {
    const { node, writer } = this.#parts;
    await this.#catchUp.rewind();
    await this.#prepareStore();
    this.#abort.signal.throwIfAborted();
    if (this.#isLevel()) {
      this.#goLive();
      return;
    }
    this.#release();
    if (writer.tip === undefined && this.#source === 'coins')
      this.#refusal = await copyCoins({ ...this.#parts, signal: this.#abort.signal });
    const missing = await this.#catchUp.pull();
    if (this.#heard !== this.#heardBefore) {
      // Close behind the tip of a download, a batch would have only the block or two that came meanwhile.
      if (node.synced || this.#blocksBehind() > MANY_BLOCKS) return;
      this.#downloading = true;
      this.#pausedUntil = performance.now() + DOWNLOAD_PAUSE_MS;
    } else if (missing !== undefined && missing <= node.tip().height) {
      if (!node.resetting) throw this.#missingBlock(missing);
      // A reset takes its blocks out before it says so.
      await this.#wait(PATIENCE_MS);
    }
  }

  /** The download has ended: blocks will come one by one. */
  async #settle(): Promise<void> {
    this.#settleAt = Infinity;
    this.#downloading = false;
    await this.#prepareStore();
  }

  /** Backfills a bit, or fills in missing filters once that is done; events that have come by now are first. */
  async #backfillStep(): Promise<void> {
    await setImmediate();
    if (this.#live && this.#dueIn() > 0) this.#backfilling = (await this.#backfill.step()) || (await this.#filterFill.step());
  }

  /** Sets the store up for what comes next: batches of blocks, or single ones. It may also have to be fitted to a larger size. */
  async #prepareStore(): Promise<void> {
    const { node, writer, prepareFor } = this.#parts;
    if (node.synced) this.#downloading = false;
    if (this.#blocksBehind() > FEW_BLOCKS) this.#use = 'catching-up';
    else if (!this.#downloading) this.#use = 'following';
    await prepareFor(this.#use);
    if (this.#use === 'following') await writer.rowMaker.renew();
  }

  #blocksBehind(): number {
    const { node, writer } = this.#parts;
    return node.tip().height - (writer.tip?.height ?? -1);
  }

  #isLevel(): boolean {
    const { node, writer } = this.#parts;
    return this.#distrusted === undefined && writer.tip?.hash.equals(node.tip().hash) === true;
  }

  /** To be called in the tick in which the index was seen to be level, so that no event is lost. */
  #goLive(): void {
    if (!this.#live) {
      this.#live = true;
      this.#liveSince = performance.now();
      this.#settleAt = this.#downloading ? this.#liveSince + DOWNLOAD_END_MS : Infinity;
      this.#logged = undefined;
      this.#rebuiltFor.clear();
    }
    const { writer, onState } = this.#parts;
    this.#backfilling = writer.base !== undefined || writer.filters !== undefined;
    const { height } = writer.tip as BlockPoint; // level with the node's
    onState({ phase: 'live', height });
    this.#release();
  }

  /** Why the index cannot go on. */
  #missingBlock(height: number): Error {
    const { node } = this.#parts;
    const message = `the node has no block at height ${height}, which the index needs`;
    if (!node.pruned) return new Error(message);
    if (this.#source === 'coins') return new LeftBehindError(`${message}: it was pruned`);
    return new Error(
      `${message}: it was pruned${
        this.#refusal === undefined
          ? '; start the node with --rest-bootstrap=coins, or without --prune on a new folder'
          : `, and its coins cannot be taken: ${this.#refusal}`
      }`
    );
  }

  /** What an empty index begins with. */
  get #source(): BootstrapFrom {
    return this.#refusal === undefined ? this.#parts.bootstrap : 'blocks';
  }

  /** Rebuilds the index if it is damaged, and stops it otherwise. The chain goes on once nobody is answered from the index any more. */
  async #recover(caught: unknown): Promise<void> {
    try {
      this.#abort.signal.throwIfAborted();
      const error = (await this.#damageBehind(caught)) ?? caught;
      if (!isDamage(error)) throw error;
      this.#live = false;
      this.#parts.onState({ phase: 'loading' });
      this.#release();
      await this.#rebuild(error);
    } catch (error) {
      if (!this.#abort.signal.aborted) this.#fail(error);
    }
  }

  /** What is wrong with the files of a store that has failed, if anything is: it may have lost one. */
  async #damageBehind(error: unknown): Promise<Error | undefined> {
    if (!(error instanceof StoreError && error.reason === 'failed')) return undefined;
    const { store, logger } = this.#parts;
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

  /** @throws `error` if the index was already rebuilt for it, NotRebuildableError */
  async #rebuild(error: Error): Promise<void> {
    // A chain that reorganizes too deep again is another event, and no sign that rebuilding does not help.
    if (this.#rebuiltFor.has(error.message) && !(error instanceof TooDeepError)) throw error;
    this.#backfill.reset();
    this.#filterFill.reset();
    await this.#parts.rebuild(error, this.#source);
    this.#rebuiltFor.add(error.message);
    // What readers met until now is gone with the rest.
    this.#distrusted = undefined;
  }

  #fail(error: unknown): void {
    const {
      writer: { tip },
      logger,
      onState
    } = this.#parts;
    this.#live = false;
    this.#failure = error instanceof Error ? error : new Error(String(error));
    const { message } = this.#failure;
    // Once: the same failure is met again each time that the chain moves.
    if (message !== this.#logged)
      logger.error(
        `The index stopped at ${tip === undefined ? 'its beginning' : `block ${tip.height} (${toDisplayHex(tip.hash)})`}: ${message}.`
      );
    this.#logged = message;
    onState({ phase: 'failed', message });
    this.#release();
  }
}
