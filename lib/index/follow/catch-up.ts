// Brings the index towards the node's chain: back to the last block that both have, then up
// by reading the node's blocks, many in one batch.

import { setImmediate } from 'node:timers/promises';
import { previousHashOf } from '../../bitcoin/header';
import { TooDeepError } from '../../follow/errors';
import { prefetch } from '../../follow/prefetch';
import { OUTPOINT_WORDS } from '../records/cache-entry';
import { Progress, secondsLeft } from '../progress/pace';
import type { Observer } from 'rxjs';
import type { BootstrapParts } from '../bootstrap/copy-coins';
import type { BlockBatch } from '../write/block-batch';
import type { BlockRows } from '../scan/rows';
import type { IndexedBlock, IndexState } from '../types';

/** Blocks that one `pull` (a leg) adds at most. Between legs the store is prepared for what comes next (sync.ts). */
const LEG_BLOCKS = 1_000;

export interface CatchUpParts extends Pick<BootstrapParts, 'node' | 'writer' | 'signal' | 'onState'> {
  /** Gets each block that enters or leaves the index. */
  readonly blocks: Pick<Observer<IndexedBlock>, 'next'>;
}

/** What was added so far, over consecutive legs. */
interface Course {
  readonly progress: Progress;
  bytes: number;
  coins: number;
}

export class CatchUp {
  readonly #parts: CatchUpParts;
  /** The course of the last leg, if the next one continues where it ended. */
  #course: Course | undefined;
  /** The write of the batch that was handed over last. */
  #writing: Promise<void> = Promise.resolve();

  constructor(parts: CatchUpParts) {
    this.#parts = parts;
  }

  /**
   * Undoes the blocks that are not in the node's chain.
   * @throws TooDeepError when the undo records do not reach the fork.
   */
  async rewind(): Promise<void> {
    const { node, writer, signal, onState, blocks } = this.#parts;
    const target = await this.#forkHeight();
    // The next leg does not continue where the last one ended: blocks are undone, or the tip is reached.
    if (writer.tip?.height !== target || node.tip().height === target) this.#course = undefined;
    while (writer.tip !== undefined && writer.tip.height > target) {
      signal.throwIfAborted();
      onState({ phase: 'rewinding', height: writer.tip.height, target });
      blocks.next({ type: 'disconnect', block: await writer.undo() });
      await setImmediate();
    }
  }

  /**
   * Reads and adds the node's next blocks: up to its present tip, one leg at most, or until a block does not fit because the
   * chain has moved. Returns the height of the missing block if it ended because the node lacks one.
   */
  async pull(): Promise<number | undefined> {
    this.#writing = Promise.resolve();
    try {
      return await this.#pullBlocks();
    } finally {
      // If the write fails, its error is the one to report: any other error came after it.
      await this.#writing;
    }
  }

  async #pullBlocks(): Promise<number | undefined> {
    const { node, writer, signal, onState } = this.#parts;
    const from = (writer.tip?.height ?? -1) + 1;
    const { height: tip } = node.tip();
    const to = Math.min(tip, from + LEG_BLOCKS - 1);
    // Twice as many undo records as needed: before the tip is reached, the chain may go back by as many blocks as can be undone.
    const undoFrom = tip - 2 * writer.undoDepth + 1;
    const course = this.#course ?? { progress: new Progress(from, performance.now()), bytes: 0, coins: 0 };
    this.#course = undefined;
    let batch = writer.batch(undoFrom);
    for await (const { height, block: rows } of prefetch(from, to - from + 1, 1, (next) => this.#fetch(next))) {
      signal.throwIfAborted();
      if (rows === undefined || !batch.isExtendedBy(previousHashOf(Buffer.from(rows.header)))) {
        await this.#handOver(batch);
        return rows === undefined ? height : undefined;
      }
      onState(this.#stateAt(height - 1, course));
      await batch.add(rows);
      course.bytes += rows.length;
      course.coins += rows.coins + rows.inputs.length / OUTPOINT_WORDS;
      writer.rowMaker.release(rows);
      if (batch.isFull) {
        await this.#handOver(batch);
        batch = writer.batch(undoFrom);
      }
      // With a store in memory all waiting ends within microtasks; the node must get its turn.
      await setImmediate();
    }
    await this.#handOver(batch);
    if (to < tip) this.#course = course;
    return undefined;
  }

  async #fetch(height: number): Promise<BlockRows | undefined> {
    const { node, writer } = this.#parts;
    const hash = await node.activeHash(height);
    const raw = hash && (await node.rawBlock(hash));
    return raw && (await writer.rowsOf(raw, height, node.txidsOf?.(raw)));
  }

  /** Commits a batch. Resolves when the next one can be filled: the store may still be writing this one. */
  async #handOver(batch: BlockBatch): Promise<void> {
    if (batch.blocks.length === 0) return;
    await this.#writing;
    const { writer, blocks } = this.#parts;
    const { handedOver, written } = writer.commit(batch);
    this.#writing = written.then(() => {
      for (const { point } of batch.blocks) blocks.next({ type: 'connect', block: point });
    });
    // Awaited by the next batch or at the end of `pull`; a rejection that is unhandled until then would end the node.
    this.#writing.catch(() => undefined);
    await handedOver;
  }

  /** Height of the last block that is both in the index and in the node's chain; -1 for an empty index. */
  async #forkHeight(): Promise<number> {
    const { node, writer, signal } = this.#parts;
    const { tip } = writer;
    if (tip === undefined) return -1;
    const lowest = Math.max(0, tip.height - writer.undoDepth);
    for (let height = tip.height; height >= lowest; height--) {
      signal.throwIfAborted();
      const active = await node.activeHash(height);
      if (active?.equals(writer.headerAt(height).hash) === true) return height;
    }
    throw new TooDeepError(
      `the chains of index and node fork below height ${lowest}: expected a fork within the ${writer.undoDepth} blocks that can be undone`
    );
  }

  #stateAt(lastHeight: number, { progress, bytes, coins }: Course): IndexState {
    const height = Math.max(0, lastHeight);
    const target = Math.max(height, this.#parts.node.tip().height);
    const pace = progress.pace({ height: lastHeight, bytes, coins }, performance.now());
    return { phase: 'indexing', height, target, secondsLeft: pace && secondsLeft(height, target, pace), ...(pace && { pace }) };
  }
}
