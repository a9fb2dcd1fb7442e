// Keeps the index at the tip of the node's chain: each step compares the tips of index and chain, and does what comes next. Events of the
// chain are hints; the chain itself is the truth. What is done with an event depends on the state of the index:
//
//   live      At the node's tip. bcoin waits until an event is acknowledged: events are held until the index is at the tip
//             again. So a transaction is always in the index, in the pool, or in both, and a reset is followed block by block.
//   behind    It catches up. Events are acknowledged at once: the chain never waits for an index that is behind.
//   failed    Events are acknowledged at once. It tries again each minute, since a full disk may have room by then. If a block is to
//             blame, the next event makes it try again, too.
//
// A node that downloads the chain does not wait either: each block puts a live index behind, which catches up in batches, one
// a second. Once five seconds have passed without a block, the store is prepared for single blocks. Between events the index
// backfills in short steps.
//
// Any damage leads to a rebuild, but not when the index cannot be built again (chain-index.ts).

import { setImmediate } from 'node:timers/promises';
import { toDisplayHex } from '../../bitcoin/hash';
import { previousHashOf } from '../../bitcoin/header';
import { isDamage } from '../../follow/errors';
import { FollowLoop } from '../../follow/follow-loop';
import { megabytes } from '../../follow/state-text';
import { StoreError } from '../../store/errors';
import { Backfill } from '../bootstrap/backfill';
import { copyCoins, dropPartialCopy, type BootstrapParts } from '../bootstrap/copy-coins';
import { FilterFill } from '../bootstrap/filter-fill';
import { CatchUp, type CatchUpParts } from './catch-up';
import { LeftBehindError } from '../errors';
import type { Subscription } from 'rxjs';
import type { BlockPoint, ChainEvent } from '../../node/types/chain';
import type { StoreUse } from '../../store/store';
import type { BootstrapFrom, IndexFollower } from '../types';

/** How long to wait for an event of a chain that is being reset; some resets send none. */
const PATIENCE_MS = 1_000;

/** When the index is further behind the node's tip than this, the store is prepared for catching up. */
const FEW_BLOCKS = 100;

/** When the index is further behind than this, there is no pause before the next batch. */
const MANY_BLOCKS = 1_000;

/** Pause between two batches of downloaded blocks. */
const DOWNLOAD_PAUSE_MS = 1_000;

/** When no block has come for this long, the download is over, or has stalled. */
const DOWNLOAD_END_MS = 5_000;

export interface ChainSyncParts extends Omit<BootstrapParts & CatchUpParts, 'signal'> {
  /** What an empty index starts from. */
  readonly bootstrap: BootstrapFrom;
  /**
   * Empties the index because of damage. @throws NotRebuildableError, without emptying it, if it could not be built again from
   * `from`.
   */
  readonly rebuild: (damage: Error, from: BootstrapFrom) => Promise<void>;
  /** Prepares the store for a use; it may be closed to readers for a moment. */
  readonly prepareFor: (use: StoreUse) => Promise<void>;
  /** Closes and opens the store, and reads the index's tip again. */
  readonly reopen: () => Promise<void>;
  /** Absent: moves of the chain are shown at once. */
  readonly held?: HeldMoves;
  /** Pause before an index that has failed is tried again. */
  readonly failurePauseMs: number;
}

/** Moves of the chain that are shown only when the node's source says so. */
export interface HeldMoves {
  /** Has a move followed, which is shown when it may be. Without one: shows earlier moves when they may be. */
  readonly follow: (move?: () => Promise<void>) => Promise<void>;
  /** Shows what is not shown yet. */
  readonly end: () => void;
}

export class ChainSync extends FollowLoop {
  /** What follows the index while it is live, if there is something. */
  follower: IndexFollower | undefined;
  readonly #parts: ChainSyncParts;
  readonly #catchUp: CatchUp;
  readonly #backfill: Backfill;
  readonly #filterFill: FilterFill;
  #subscription: Subscription | undefined;

  #live = false;
  /** Events that are not acknowledged yet. The chain waits until they are. */
  #held: ChainEvent[] = [];
  /** Whether to backfill when there is nothing else to do. */
  #backfilling = false;

  /** The node downloads the chain, and its blocks are added in batches. */
  #downloading = false;
  /** When to catch up with a download next. */
  #pausedUntil = -Infinity;
  /** When to prepare the store of a live index for single blocks. */
  #settleAt = Infinity;
  /** When the index last became live. */
  #liveSince = -Infinity;
  #use: StoreUse = 'following';

  /** Why the index cannot start from the node's coins, if that was tried. */
  #refusal: string | undefined;

  constructor(parts: ChainSyncParts) {
    super(parts);
    this.#parts = parts;
    this.#backfill = new Backfill(parts);
    this.#filterFill = new FilterFill(parts);
    this.#catchUp = new CatchUp({ ...parts, signal: this.signal });
  }

  /** Starts to catch up, then to follow. */
  start(): void {
    this.#subscription = this.#parts.node.chain$.subscribe(this.#hear);
    this.run();
  }

  /** Stops listening, lets the chain continue, and waits for the current write. */
  override async close(): Promise<void> {
    this.#subscription?.unsubscribe();
    this.#fallBehind();
    await super.close();
  }

  protected nextIn(): number {
    return this.#held.length > 0 ? 0 : (this.#live ? this.#settleAt : this.#pausedUntil) - performance.now();
  }

  protected async approach(): Promise<void> {
    const [event] = this.#held;
    if (!this.#live) await this.#comeCloser();
    else if (event !== undefined) await this.#follow(event);
    else await this.#settle();
  }

  protected override idle(ms: number): Promise<void> {
    return this.#live && this.#backfilling ? this.#backfillStep() : super.idle(ms);
  }

  protected suspend(): void {
    if (this.#live) this.#parts.onState({ phase: 'loading' });
    this.#fallBehind();
  }

  protected passesSoon(): boolean {
    return false;
  }

  protected async damageBehind(error: unknown, isRepeated: boolean): Promise<Error | undefined> {
    if (isDamage(error)) return error;
    // A store that has failed may have lost a file. Its files were looked through when it failed for the first time.
    if (!(error instanceof StoreError && error.reason === 'failed') || isRepeated) return undefined;
    const { store, logger } = this.#parts;
    try {
      let bytes = 0;
      for await (const { count } of store.scrub()) {
        this.signal.throwIfAborted();
        bytes += count;
      }
      logger.info(`The store failed. Its files were looked through: ${megabytes(bytes)}, all sound.`);
      return undefined;
    } catch (found) {
      return isDamage(found) ? found : undefined;
    }
  }

  protected async rebuild(damage: Error): Promise<void> {
    this.#backfill.reset();
    this.#filterFill.reset();
    await this.#parts.rebuild(damage, this.#source);
  }

  protected reopen(): Promise<void> {
    return this.#parts.reopen();
  }

  protected stopped(): string {
    const { tip } = this.#parts.writer;
    return `The index stopped at ${tip === undefined ? 'its beginning' : `block ${tip.height} (${toDisplayHex(tip.hash)})`}`;
  }

  /** Makes the chain wait if the index is live, and lets it continue otherwise. */
  readonly #hear = (event: ChainEvent): void => {
    const { node, writer, onState } = this.#parts;
    if (this.#live && event.type === 'connect' && !node.synced) {
      // The node downloads the chain: its first block is added at once, further ones after a pause.
      this.#live = false;
      this.#pausedUntil = this.#liveSince + DOWNLOAD_PAUSE_MS;
      this.#downloading = this.#pausedUntil > performance.now();
      onState({ phase: 'indexing', height: writer.tip?.height ?? 0, target: node.tip().height, secondsLeft: undefined });
    }
    if (this.#live) this.#held.push(event);
    else event.acknowledge();
    this.wake();
  };

  #fallBehind(): void {
    this.#live = false;
    this.#release();
  }

  /** Lets the chain continue. */
  #release(): void {
    const held = this.#held;
    this.#held = [];
    for (const event of held) event.acknowledge();
  }

  /** Connects or disconnects the event's block, if it fits. If the index is not at the node's tip afterwards, it is behind. */
  async #follow(event: ChainEvent): Promise<void> {
    const { node, writer, blocks, held = SHOWN_AT_ONCE } = this.#parts;
    const { tip } = writer;
    if (this.#isLevel()) {
      await held.follow();
      this.#release();
      return;
    }
    if (event.type === 'connect' && event.block.height - 1 === tip?.height) {
      const raw = event.rawBlock();
      if (previousHashOf(raw).equals(tip.hash)) {
        await held.follow(async () => {
          await writer.apply(raw, node.txidsOf?.(raw));
          blocks.next({ type: 'connect', block: event.block });
          await this.follower?.follow({ type: 'connect', block: event.block, raw });
        });
      }
    } else if (event.type === 'disconnect' && tip?.hash.equals(event.block.hash) === true) {
      await held.follow(async () => {
        const block = await writer.undo();
        blocks.next({ type: 'disconnect', block });
        await this.follower?.follow({ type: 'disconnect', block });
      });
    }
    if (this.#isLevel()) this.#goLive();
    else this.#live = false;
  }

  /**
   * Brings an index that is behind closer to the node's tip, which may move meanwhile. The chain waits while blocks are undone,
   * so that a reset is followed block by block, but not while blocks are read.
   */
  async #comeCloser(): Promise<void> {
    const { node, writer, held } = this.#parts;
    held?.end();
    await this.#catchUp.rewind();
    await this.#prepareStore();
    this.signal.throwIfAborted();
    if (this.#isLevel()) {
      this.#goLive();
      return;
    }
    this.#release();
    if (writer.tip === undefined) {
      await dropPartialCopy(this.#parts);
      if (this.#source === 'coins') this.#refusal = await copyCoins({ ...this.#parts, signal: this.signal });
    }
    const missing = await this.#catchUp.pull();
    if (this.isWoken) {
      // Close behind the tip of a download, the next batch would have only the block or two that came meanwhile.
      if (node.synced || this.#blocksBehind() > MANY_BLOCKS) return;
      this.#downloading = true;
      this.#pausedUntil = performance.now() + DOWNLOAD_PAUSE_MS;
    } else if (missing !== undefined && missing <= node.tip().height) {
      if (!node.resetting) throw this.#missingBlock(missing);
      // A reset removes its blocks before it sends its event.
      await super.idle(PATIENCE_MS);
    }
  }

  /** Called when the download has ended and blocks come one by one. */
  async #settle(): Promise<void> {
    this.#settleAt = Infinity;
    this.#downloading = false;
    await this.#prepareStore();
  }

  /** Does one step of the backfill or, after it, of filling in missing filters; events that have come meanwhile go first. */
  async #backfillStep(): Promise<void> {
    await setImmediate();
    if (this.#live && this.dueIn() > 0) this.#backfilling = (await this.#backfill.step()) || (await this.#filterFill.step());
  }

  /** Prepares the store for batches of blocks or for single ones. It may also have to be reopened because it has grown. */
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
    return !this.isDoubted && writer.tip?.hash.equals(node.tip().hash) === true;
  }

  /** To be called in the same tick in which the index was seen to be level, so that no event is lost. */
  #goLive(): void {
    if (!this.#live) {
      this.#live = true;
      this.#liveSince = performance.now();
      this.#settleAt = this.#downloading ? this.#liveSince + DOWNLOAD_END_MS : Infinity;
      this.recovered();
    }
    const { writer, onState } = this.#parts;
    this.#backfilling = writer.base !== undefined || writer.filters !== undefined;
    const { height } = writer.tip as BlockPoint; // level with the node's
    onState({ phase: 'live', height });
    this.#release();
  }

  /** The error for a block that the index needs and the node lacks. */
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

  /** What an empty index starts from. */
  get #source(): BootstrapFrom {
    return this.#refusal === undefined ? this.#parts.bootstrap : 'blocks';
  }
}

const SHOWN_AT_ONCE: HeldMoves = { follow: async (move) => move?.(), end: () => undefined };
