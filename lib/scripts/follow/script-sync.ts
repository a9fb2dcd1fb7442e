// Keeps the index by script at the block of the main index: each step compares the tips of the two, and does what comes next. While both
// are live, they are in lockstep: the main index hands over each block that it has connected or disconnected (`follow`), and the chain
// waits for both.
//
// While the index by script is behind, being filled, or has failed, the main index does not wait for it.

import { txidsIn } from '../../bitcoin/block';
import { consecutiveBlocks } from '../../follow/consecutive';
import { DamagedIndexError } from '../../follow/errors';
import { damageFoundBy, FollowLoop } from '../../follow/follow-loop';
import { IndexUnavailableError, NoStateError } from '../../index/errors';
import { ChainMovedError } from '../../node/errors';
import { StoreError } from '../../store/errors';
import { DamagedPageError } from '../../store/pages';
import { runAhead } from '../../turns/slices';
import { systemCodeOf } from '../../system/system-errors';
import { fillScripts, type FillParts } from '../fill/fill-scripts';
import { removeFillingFiles } from '../fill/partition-files';
import { findFilling } from '../records/filling';
import { whyMissing, scriptBlock } from '../scan/node-blocks';
import type { Subscription } from 'rxjs';
import type { IndexLogger } from '../../follow/logger';
import type { BlockPoint } from '../../node/types/chain';
import type { NodeSource } from '../../node/types/source';
import type { ChainIndex, IndexFollower, IndexMove } from '../../index/types';
import type { Store } from '../../store/store';
import type { ScriptBlock } from '../scan/rows';
import type { ScriptsState } from '../types';
import type { ScriptWriter } from '../write/script-writer';
import type { PairReader } from './pair';

/** For filling an empty store on disk, which is the fastest way to add many blocks (lib/scripts/fill). */
export type Filling = Pick<FillParts, 'path' | 'filesPath' | 'sizes'>;

export interface ScriptSyncParts {
  readonly store: Store;
  readonly writer: ScriptWriter;
  readonly node: NodeSource;
  readonly index: Pick<ChainIndex, 'latest' | 'state' | 'state$' | 'tip$'>;
  readonly reader: PairReader;
  readonly undoDepth: number;
  /** undefined: the store is in memory. */
  readonly filling: Filling | undefined;
  readonly logger: IndexLogger;
  readonly onState: (state: ScriptsState) => void;
  /** Pause before an index by script that has failed is tried again. */
  readonly failurePauseMs: number;
}

export class ScriptSync extends FollowLoop implements IndexFollower {
  readonly #parts: ScriptSyncParts;
  #subscription: Subscription | undefined;
  #isOpen = false;
  #live = false;
  /** Whether the txids have been looked through since the store was opened. */
  #areTxidsChecked = false;
  /** A page of txids that is to be written again. */
  #damagedPage: number | undefined;

  constructor(parts: ScriptSyncParts) {
    super(parts);
    this.#parts = parts;
  }

  start(): void {
    const { index } = this.#parts;
    this.#subscription = index.state$.subscribe(() => {
      if (this.#live && !this.#isLevel()) this.#fallBehind();
      else this.wake();
    });
    // For a block in lockstep, `tip$` emits after `follow` was called.
    this.#subscription.add(index.tip$.subscribe(this.#shown));
    this.run();
  }

  readonly #shown = (): void => {
    try {
      this.#parts.reader.keepUp();
    } catch (error) {
      // Damage was reported by the reader itself.
      if (!(error instanceof NoStateError)) throw error;
    }
    this.wake();
  };

  async follow(move: IndexMove): Promise<void> {
    if (this.#live) await this.beside(this.#followMove(move));
  }

  override async close(): Promise<void> {
    this.#endLockstep();
    this.#subscription?.unsubscribe();
    await super.close();
  }

  protected nextIn(): number {
    return this.isWoken && !this.#live ? 0 : Infinity;
  }

  /** Brings the index closer to the block of the main index, which may move meanwhile. */
  protected async approach(): Promise<void> {
    const { store, writer, index, filling, undoDepth, onState } = this.#parts;
    if (!this.#isOpen) {
      await store.open();
      await this.#load();
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
    await this.#repairPage();
    if (!this.#areTxidsChecked) await writer.txids?.check();
    this.#areTxidsChecked = true;
    await this.#pull();
    // If the two are not level, the main index has moved, or is no longer live: either wakes the loop.
    if (!this.#isLevel()) return;
    this.#live = true;
    this.recovered();
    this.#parts.reader.renew();
    onState({ phase: 'live', height: this.#height });
  }

  protected suspend(): void {
    if (this.#live) this.#parts.onState({ phase: 'loading' });
    this.#endLockstep();
  }

  /** The main index or the chain is busy. */
  protected override passesSoon(error: unknown): boolean {
    return error instanceof IndexUnavailableError || error instanceof ChainMovedError;
  }

  protected damageBehind(error: unknown): Promise<Error | undefined> {
    const openAgain = async (): Promise<void> => {
      await this.#closeStore();
      await this.#parts.store.open();
      this.#isOpen = true;
    };
    return damageFoundBy(this.#isOpen ? openAgain : undefined, error);
  }

  protected async rebuild(damage: Error): Promise<void> {
    const reason = damage instanceof DamagedPageError && this.#isOpen ? await this.#repair(damage) : damage;
    if (reason === undefined) return;
    this.#parts.logger.warning(`Filling the index by script again: ${reason.message}.`);
    await this.#clear();
  }

  protected reopen(): Promise<void> {
    return this.#closeStore();
  }

  protected stopped(): string {
    return 'The index by script stopped';
  }

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

  async #fill(filling: Filling, target: number): Promise<void> {
    const { store, node, logger, onState } = this.#parts;
    this.#isOpen = false;
    await store.close();
    await fillScripts({ ...filling, node, target, onState, logger, signal: this.signal });
    await store.open();
    await this.#load();
  }

  /** To be called when the store is open. */
  async #load(): Promise<void> {
    this.#isOpen = true;
    this.#areTxidsChecked = false;
    await this.#parts.writer.load();
  }

  /** Undoes the blocks that are not in the main index. @throws TooDeepError when the undo records do not reach the fork. */
  async #rewind(): Promise<void> {
    const { writer, index } = this.#parts;
    for (;;) {
      this.signal.throwIfAborted();
      const { tip } = writer;
      const isShared = tip === undefined || index.latest.read((main) => main.headerAt(tip.height)?.hash.equals(tip.hash) === true);
      if (isShared) return;
      this.#sayCatchingUp();
      await writer.disconnect();
    }
  }

  /** Repairs a page now, or in a later step if nothing can be read at present. Returns the damage for which the index must be filled again. */
  async #repair({ page }: DamagedPageError): Promise<DamagedIndexError | undefined> {
    this.#damagedPage = page;
    if (this.#parts.index.state.phase !== 'live') return undefined;
    try {
      await this.#rewind();
      await this.#repairPage();
    } catch (error) {
      if (error instanceof DamagedIndexError) return error;
      if (!this.passesSoon(error)) throw error;
    }
    return undefined;
  }

  /** Writes a damaged page of txids again from the node's blocks. The tip must be in the main index. @throws as `#read` */
  async #repairPage(): Promise<void> {
    const { writer, logger, onState } = this.#parts;
    const { txids, tip } = writer;
    const page = this.#damagedPage;
    if (page === undefined || txids === undefined || tip === undefined) return;
    logger.warning(`The txids of the index by script are damaged at page ${page}; they are taken from the node's blocks again.`);
    const repaired = txids.repair(page, async (height) => {
      this.signal.throwIfAborted();
      onState({ phase: 'catching-up', height, target: tip.height });
      return this.#txidsOf(height);
    });
    await repaired.catch((error: unknown) => {
      // Before the system writes a page to a bad sector it reads what lies beside the page: only another file helps.
      throw error instanceof StoreError && systemCodeOf(error.cause) === 'EIO' ? new DamagedIndexError(error.message) : error;
    });
    this.#damagedPage = undefined;
  }

  async #txidsOf(height: number): Promise<Buffer> {
    const hash = this.#parts.index.latest.read((main) => main.headerAt(height)?.hash);
    if (hash === undefined) throw new ChainMovedError(`there is no block at height ${height} any more`);
    const raw = await this.#parts.node.rawBlock(hash);
    if (raw === undefined) throw await whyMissing('block', { hash, height }, this.#parts.node);
    return runAhead(txidsIn(raw));
  }

  /** Adds the next blocks of the main index, up to its tip, or until one does not fit because the main index has moved. */
  async #pull(): Promise<void> {
    const { writer } = this.#parts;
    for (;;) {
      this.signal.throwIfAborted();
      const { height: target } = this.#indexTip();
      const from = this.#height + 1;
      if (from > target) return;
      this.#sayCatchingUp();
      const blocks = await this.#nextBlocks(from, target);
      if (blocks.length === 0) return;
      await writer.connect(blocks);
    }
  }

  /** The blocks of the main index from a height up, a batch of them; fewer, or none, if the main index moves meanwhile. */
  #nextBlocks(from: number, target: number): Promise<ScriptBlock[]> {
    const { writer, index } = this.#parts;
    return consecutiveBlocks(from, target, writer.tip?.hash, this.signal, async (height) => {
      const hash = index.latest.read((main) => main.headerAt(height)?.hash);
      return hash && (await this.#read({ hash, height }));
    });
  }

  /** @throws MissingBlocksError when the node lacks the block, or the outputs that it spends; ChainMovedError, UnreadableBlockError. */
  async #read(point: BlockPoint, known?: Buffer): Promise<ScriptBlock> {
    const { node } = this.#parts;
    const block = await scriptBlock(point, node, known);
    if (typeof block !== 'string') return block;
    throw await whyMissing(block, point, node);
  }

  #sayCatchingUp(): void {
    this.#parts.onState({ phase: 'catching-up', height: Math.max(0, this.#height), target: this.#indexTip().height });
  }

  /** Height of the tip; -1 while the index is empty. */
  get #height(): number {
    return this.#parts.writer.tip?.height ?? -1;
  }

  #indexTip(): BlockPoint {
    return this.#parts.index.latest.read(({ tip }) => tip);
  }

  #isLevel(): boolean {
    const { index, writer } = this.#parts;
    const { tip } = writer;
    if (tip === undefined || this.isDoubted || this.signal.aborted || index.state.phase !== 'live') return false;
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
    this.wake();
  }

  /** A store that has failed may not close cleanly; it is opened again. */
  async #closeStore(): Promise<void> {
    this.#isOpen = false;
    await this.#parts.store.close().catch(() => undefined);
  }

  async #clear(): Promise<void> {
    const { store, writer, filling } = this.#parts;
    writer.reset();
    if (filling !== undefined) removeFillingFiles(filling.filesPath);
    this.#damagedPage = undefined;
    await store.clear();
    await this.#load();
  }
}
