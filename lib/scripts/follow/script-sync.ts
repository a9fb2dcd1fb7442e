// Keeps the index by script at the block of the main index, in one loop: wait until something happens, compare the tips of the two, do
// what comes next. While both are live, they are in lockstep: the main index hands over each block that it has connected or disconnected
// (`follow`), and the chain waits for both.
//
// While the index by script is behind, being filled, or has failed, the main index does not wait for it.

import { previousHashOf } from '../../bitcoin/header';
import { errorOf, IndexUnavailableError, isDamage, isBlockFault, mayPass, TooDeepError } from '../../index/errors';
import { ChainMovedError } from '../../node/errors';
import { StoreError } from '../../store/errors';
import { fillScripts, type FillParts } from '../fill/fill-scripts';
import { removeFillingFiles } from '../fill/partition-files';
import { findFilling } from '../records/filling';
import { missingPart, scriptBlock } from '../scan/node-blocks';
import type { Subscription } from 'rxjs';
import type { BlockPoint, NodeSource } from '../../node/types';
import type { ChainIndex, IndexCompanion, IndexLogger, IndexMove } from '../../index/types';
import type { Store } from '../../store/store';
import type { ScriptBlock } from '../scan/rows';
import type { ScriptsState } from '../types';
import type { ScriptWriter } from '../write/script-writer';
import type { PairReader } from './pair';

/** Size of a batch of catching up, in bytes of blocks, and in blocks, since on regtest a block has 250 bytes. */
const BATCH_BYTES = 8_000_000;
const BATCH_BLOCKS = 500;

/** Pause before it tries again after the main index could not be read, or the chain was moving: no event may tell when that is over. */
const RETRY_MS = 200;

/** For filling an empty store on disk, which is the fastest way to add many blocks (lib/scripts/fill). */
export type Filling = Pick<FillParts, 'path' | 'filesPath' | 'sizes'>;

export interface ScriptSyncParts {
  readonly store: Store;
  readonly writer: ScriptWriter;
  readonly node: NodeSource;
  readonly index: Pick<ChainIndex, 'reader' | 'state' | 'state$' | 'tip$'>;
  readonly reader: PairReader;
  readonly undoDepth: number;
  /** undefined: the store is in memory. */
  readonly filling: Filling | undefined;
  readonly logger: IndexLogger;
  readonly onState: (state: ScriptsState) => void;
  /** Pause before an index by script that has failed is tried again. */
  readonly failurePauseMs: number;
}

export class ScriptSync implements IndexCompanion {
  readonly #parts: ScriptSyncParts;
  readonly #abort = new AbortController();
  #subscription: Subscription | undefined;
  #loop: Promise<void> = Promise.resolve();
  #following: Promise<void> = Promise.resolve();
  #wake: () => void = () => undefined;
  /** Whether something has happened since the current turn of the loop began. */
  #isWoken = true;
  #isOpen = false;
  #live = false;
  /** The error given to `distrust`, until the loop has handled it. */
  #met: Error | undefined;
  /** Why the index by script has failed; undefined while it has not. */
  #failure: Error | undefined;
  #retryTimer: NodeJS.Timeout | undefined;
  #isRetryDue = false;
  /** The failure that was logged since it was last live. */
  #logged: string | undefined;
  /** The damage for which it was emptied since it was last live. */
  readonly #emptiedFor = new Set<string>();

  constructor(parts: ScriptSyncParts) {
    this.#parts = parts;
  }

  start(): void {
    const { index } = this.#parts;
    this.#subscription = index.state$.subscribe(() => {
      if (this.#live && !this.#isLevel()) this.#fallBehind();
      else this.#hear();
    });
    // For a block in lockstep, `tip$` emits after `follow` was called.
    this.#subscription.add(index.tip$.subscribe(this.#hear));
    this.#loop = this.#run();
  }

  /** To be called when damage or another error is met: nothing is answered until the loop has handled it. */
  readonly distrust = (error: unknown): void => {
    if (this.#failure !== undefined || this.#met !== undefined) return;
    this.#met = errorOf(error);
    if (this.#live) this.#parts.onState({ phase: 'loading' });
    this.#endLockstep();
    this.#hear();
  };

  async follow(move: IndexMove): Promise<void> {
    if (!this.#live) return;
    this.#following = this.#followMove(move).catch(this.distrust);
    await this.#following;
  }

  async close(): Promise<void> {
    this.#abort.abort();
    clearTimeout(this.#retryTimer);
    this.#endLockstep();
    this.#subscription?.unsubscribe();
    this.#hear();
    await this.#following;
    await this.#loop;
  }

  readonly #hear = (): void => {
    this.#isWoken = true;
    this.#wake();
  };

  async #followMove(move: IndexMove): Promise<void> {
    const { writer, reader, onState } = this.#parts;
    const { block } = move;
    const { tip } = writer;
    if (tip === undefined) return;
    if (move.type === 'connect' && block.height === tip.height + 1) await writer.connect([await this.#read(block, move.raw)]);
    else if (move.type === 'disconnect' && tip.hash.equals(block.hash)) await writer.disconnect();
    // Readers get both indexes at the new block, or nothing. An error that a reader met meanwhile is handled first.
    if (!this.#live || !this.#isLevel()) {
      this.#fallBehind();
      return;
    }
    reader.renew();
    onState({ phase: 'live', height: this.#height });
  }

  /** Never rejects. */
  async #run(): Promise<void> {
    while (!this.#isClosing) {
      try {
        if (!this.#isDue()) {
          await new Promise<void>((resolve) => (this.#wake = resolve));
          continue;
        }
        this.#isWoken = false;
        // After the end of the lockstep, a block may still be on its way into the index.
        await this.#following;
        const failure = this.#failure;
        this.#failure = undefined;
        this.#isRetryDue = false;
        clearTimeout(this.#retryTimer);
        // LevelDB refuses all writes after one that has failed, until it is opened again.
        if (failure instanceof StoreError) await this.#closeStore();
        await this.#approach();
      } catch (error) {
        await this.#recover(error);
      }
    }
  }

  #isDue(): boolean {
    if (this.#met !== undefined || this.#isRetryDue) return true;
    return this.#isWoken && !this.#live && (this.#failure === undefined || isBlockFault(this.#failure));
  }

  /** Brings the index closer to the block of the main index, which may move meanwhile. */
  async #approach(): Promise<void> {
    const met = this.#met;
    this.#met = undefined;
    if (met !== undefined) throw met;
    const { store, writer, index, filling, undoDepth, onState } = this.#parts;
    if (!this.#isOpen) {
      await store.open();
      this.#isOpen = true;
      await writer.load();
    }
    if (index.state.phase !== 'live') {
      onState({ phase: 'waiting' });
      return;
    }
    const target = this.#indexTip().height - undoDepth;
    const isFilling = filling !== undefined && findFilling(store) !== undefined;
    if (filling !== undefined && target > 0 && (isFilling || writer.tip === undefined)) await this.#fill(filling, target);
    // The chain has become too short for filling.
    else if (isFilling) await this.#clear();
    await this.#rewind();
    await this.#pull();
    // If the two are not level, the main index has moved, or is no longer live: either wakes the loop.
    if (!this.#isLevel()) return;
    this.#live = true;
    this.#emptiedFor.clear();
    this.#logged = undefined;
    this.#parts.reader.renew();
    onState({ phase: 'live', height: this.#height });
  }

  async #fill(filling: Filling, target: number): Promise<void> {
    const { store, writer, node, logger, onState } = this.#parts;
    this.#isOpen = false;
    await store.close();
    await fillScripts({ ...filling, node, target, onState, logger, signal: this.#abort.signal });
    await store.open();
    this.#isOpen = true;
    await writer.load();
  }

  /** Undoes the blocks that are not in the main index. @throws TooDeepError when the undo records do not reach the fork. */
  async #rewind(): Promise<void> {
    const { writer, index } = this.#parts;
    for (;;) {
      this.#abort.signal.throwIfAborted();
      const { tip } = writer;
      const isShared = tip === undefined || index.reader.read((main) => main.headerAt(tip.height)?.hash.equals(tip.hash) === true);
      if (isShared) return;
      this.#sayCatchingUp();
      await writer.disconnect();
    }
  }

  /** Adds the next blocks of the main index, up to its tip, or until one does not fit because the main index has moved. */
  async #pull(): Promise<void> {
    const { writer, index, undoDepth } = this.#parts;
    for (;;) {
      this.#abort.signal.throwIfAborted();
      const { height: target } = this.#indexTip();
      const from = this.#height + 1;
      if (from > target) return;
      this.#sayCatchingUp();
      const blocks: ScriptBlock[] = [];
      let bytes = 0;
      let last = writer.tip?.hash;
      for (let height = from; height <= target && bytes < BATCH_BYTES && blocks.length < BATCH_BLOCKS; height++) {
        const hash = index.reader.read((main) => main.headerAt(height)?.hash);
        if (hash === undefined) return;
        const block = await this.#read({ hash, height });
        if (last !== undefined && !previousHashOf(block.raw).equals(last)) return;
        last = hash;
        bytes += block.raw.length;
        blocks.push(block);
      }
      await writer.connect(blocks, target - 2 * undoDepth + 1);
    }
  }

  /** @throws MissingBlocksError when the node lacks the block, or the outputs that it spends; ChainMovedError, UnreadableBlockError. */
  async #read(point: BlockPoint, known?: Buffer): Promise<ScriptBlock> {
    const { node } = this.#parts;
    const block = await scriptBlock(point, node, known);
    if (typeof block !== 'string') return block;
    const { hash, height } = point;
    // A reset removes blocks before it sends its event.
    if (node.resetting || (await node.activeHash(height))?.equals(hash) !== true)
      throw new ChainMovedError(`the block at height ${height} is not in the chain any more`);
    throw missingPart(block, point);
  }

  #sayCatchingUp(): void {
    this.#parts.onState({ phase: 'catching-up', height: Math.max(0, this.#height), target: this.#indexTip().height });
  }

  get #isClosing(): boolean {
    return this.#abort.signal.aborted;
  }

  /** Height of the tip; -1 while the index is empty. */
  get #height(): number {
    return this.#parts.writer.tip?.height ?? -1;
  }

  #indexTip(): BlockPoint {
    return this.#parts.index.reader.read(({ tip }) => tip);
  }

  #isLevel(): boolean {
    const { index, writer } = this.#parts;
    const { tip } = writer;
    if (tip === undefined || this.#met !== undefined || this.#isClosing || index.state.phase !== 'live') return false;
    try {
      return tip.hash.equals(this.#indexTip().hash);
    } catch (error) {
      if (error instanceof IndexUnavailableError) return false;
      throw error;
    }
  }

  #endLockstep(): void {
    this.#live = false;
    this.#parts.reader.close();
  }

  /** To be called when the two indexes are no longer level: nothing is answered until they are level again. */
  #fallBehind(): void {
    if (this.#live) this.#parts.onState({ phase: 'waiting' });
    this.#endLockstep();
    this.#hear();
  }

  /** Empties a damaged index, once for each reason; after other errors it tries again later, or stops. */
  async #recover(error: unknown): Promise<void> {
    const { onState } = this.#parts;
    if (this.#isClosing) return;
    this.#endLockstep();
    // The main index or the chain is busy: this passes.
    if (error instanceof IndexUnavailableError || error instanceof ChainMovedError) {
      onState({ phase: 'waiting' });
      setTimeout(this.#hear, RETRY_MS).unref();
      return;
    }
    try {
      const damage = (await this.#damageBehind(error)) ?? error;
      if (!isDamage(damage) || isBlockFault(damage)) throw damage;
      await this.#empty(damage);
    } catch (failure) {
      this.#fail(failure);
    }
  }

  /** Reopens a store that has failed, since it may have lost a file, which opening finds. Returns the damage, if there is any. */
  async #damageBehind(error: unknown): Promise<Error | undefined> {
    if (!(error instanceof StoreError && error.reason === 'failed' && this.#isOpen)) return undefined;
    const { store } = this.#parts;
    try {
      await this.#closeStore();
      await store.open();
      this.#isOpen = true;
      return undefined;
    } catch (found) {
      return isDamage(found) ? found : undefined;
    }
  }

  /** A store that has failed may not close cleanly; it is opened again. */
  async #closeStore(): Promise<void> {
    this.#isOpen = false;
    await this.#parts.store.close().catch(() => undefined);
  }

  async #empty(error: Error): Promise<void> {
    const { logger, onState } = this.#parts;
    // A second reorganization that is too deep is a new event, and no sign that emptying does not help.
    if (this.#emptiedFor.has(error.message) && !(error instanceof TooDeepError)) throw error;
    this.#emptiedFor.add(error.message);
    logger.warning(`Filling the index by script again: ${error.message}.`);
    onState({ phase: 'loading' });
    await this.#clear();
    this.#met = undefined;
    this.#isWoken = true;
  }

  async #clear(): Promise<void> {
    const { store, writer, filling } = this.#parts;
    writer.reset();
    if (filling !== undefined) removeFillingFiles(filling.filesPath);
    await store.clear();
    this.#isOpen = true;
    await writer.load();
  }

  #fail(error: unknown): void {
    if (this.#isClosing) return;
    const { logger, onState, failurePauseMs } = this.#parts;
    const { message } = (this.#failure = errorOf(error));
    // Logged once: the same failure recurs each minute.
    if (message !== this.#logged) logger.error(`The index by script stopped: ${message}.`);
    this.#logged = message;
    onState({ phase: 'failed', message });
    if (mayPass(error))
      this.#retryTimer = setTimeout(() => {
        this.#isRetryDue = true;
        this.#wake();
      }, failurePauseMs).unref();
  }
}
