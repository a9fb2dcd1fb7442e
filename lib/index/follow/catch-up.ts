// Brings the index towards the node's chain: back to the last block that both have, then up
// by reading the node's blocks, many of them in one batch.

import { setImmediate } from 'node:timers/promises';
import { previousHashOf } from '../../bitcoin/header';
import { OUTPOINT_WORDS } from '../records/cache-entry';
import { TooDeepError } from '../errors';
import { Progress, secondsLeft } from '../progress/pace';
import { readAhead } from './prefetch';
import type { NodeSource } from '../../node/types';
import type { BlockBatch } from '../write/block-batch';
import type { IndexWriter } from '../write/index-writer';
import type { IndexedBlock, IndexState } from '../types';

/** Blocks taken in before the store is looked after. */
const LEG_BLOCKS = 1_000;
const REPORT_MS = 1_000;

export interface CatchUpOptions {
  readonly node: NodeSource;
  readonly indexer: IndexWriter;
  /** Work stops between two blocks when it is aborted. */
  readonly signal: AbortSignal;
  readonly onState: (state: IndexState) => void;
  readonly onBlock: (block: IndexedBlock) => void;
}

/** What was taken in, over legs that follow one another. */
interface Course {
  readonly progress: Progress;
  bytes: number;
  coins: number;
}

export class CatchUp {
  readonly #options: CatchUpOptions;
  /** Of the last leg, when another one follows on it. */
  #course: Course | undefined;
  #reported = -Infinity;
  /** The write of the batch handed over last. */
  #underWay: Promise<void> = Promise.resolve();

  constructor(options: CatchUpOptions) {
    this.#options = options;
  }

  /**
   * Takes out the blocks that are not in the node's chain.
   * @throws TooDeepError when the undo records do not reach the fork.
   */
  async rewind(): Promise<void> {
    const { indexer, signal, onBlock } = this.#options;
    const target = await this.#forkHeight();
    // The next leg does not follow on the last one: blocks are taken out, or the way ends here.
    if (indexer.tip?.height !== target || this.#options.node.tip().height === target) this.#course = undefined;
    this.#reported = -Infinity;
    while (indexer.tip !== undefined && indexer.tip.height > target) {
      signal.throwIfAborted();
      const { height } = indexer.tip;
      this.#report(() => ({ phase: 'rewinding', height, target }));
      const block = await indexer.undo();
      onBlock({ type: 'disconnect', block });
      await setImmediate();
    }
  }

  /**
   * Reads and takes in the node's next blocks: up to its tip of now, a leg of the way at most, or until
   * they no longer fit: then the chain has moved. Returns the height of a block that the node did not have.
   */
  async pull(): Promise<{ readonly missing: number } | undefined> {
    this.#underWay = Promise.resolve();
    try {
      return await this.#pullBlocks();
    } finally {
      // When it fails, that is why: whatever else went wrong came after it.
      await this.#underWay;
    }
  }

  async #pullBlocks(): Promise<{ readonly missing: number } | undefined> {
    const { node, indexer, signal } = this.#options;
    const from = (indexer.tip?.height ?? -1) + 1;
    const { height: tip } = node.tip();
    const to = Math.min(tip, from + LEG_BLOCKS - 1);
    // Twice as many as are kept: the chain may go back by as much as can be undone before its tip is reached.
    const undoFrom = tip - 2 * indexer.undoDepth + 1;
    const course = this.#course ?? this.#setOut(from);
    this.#course = undefined;
    let batch = indexer.batch(undoFrom);
    for await (const { height, rows } of readAhead(node, indexer, from, to)) {
      signal.throwIfAborted();
      if (rows === undefined || !batch.isExtendedBy(previousHashOf(Buffer.from(rows.header)))) {
        await this.#commit(batch);
        return rows === undefined ? { missing: height } : undefined;
      }
      this.#reportDone(height - 1, course);
      await batch.addRows(rows);
      course.bytes += rows.length;
      course.coins += rows.coins + rows.inputs.length / OUTPOINT_WORDS;
      indexer.rowMaker.release(rows);
      if (batch.isFull) {
        await this.#commit(batch);
        batch = indexer.batch(undoFrom);
      }
      // A store in memory never leaves the microtasks; the node must get its turn.
      await setImmediate();
    }
    await this.#commit(batch);
    if (to < tip) this.#course = course;
    return undefined;
  }

  #setOut(from: number): Course {
    this.#reported = -Infinity;
    return { progress: new Progress(from, performance.now()), bytes: 0, coins: 0 };
  }

  /** Hands a batch over to the store, which may still write it while the next one is filled. */
  async #commit(batch: BlockBatch): Promise<void> {
    if (batch.blocks.length === 0) return;
    await this.#underWay;
    const { handedOver, written } = this.#options.indexer.commit(batch);
    this.#underWay = written.then(() => {
      for (const block of batch.blocks) this.#options.onBlock({ type: 'connect', block });
    });
    // Waited for by the next batch, or at the end.
    this.#underWay.catch(() => undefined);
    await handedOver;
  }

  /** Height of the last block that is in the index and in the node's chain; -1 for an empty index. */
  async #forkHeight(): Promise<number> {
    const { node, indexer, signal } = this.#options;
    const { tip } = indexer;
    if (tip === undefined) return -1;
    const lowest = Math.max(0, tip.height - indexer.undoDepth);
    for (let height = tip.height; height >= lowest; height--) {
      signal.throwIfAborted();
      const active = await node.activeHash(height);
      if (active?.equals(indexer.headerAt(height).hash) === true) return height;
    }
    throw new TooDeepError(`the chains of index and node part below height ${lowest}: expected that within the ${indexer.undoDepth} blocks that can be undone`);
  }

  #reportDone(height: number, { progress, bytes, coins }: Course): void {
    this.#report(() => {
      const target = Math.max(0, height, this.#options.node.tip().height);
      const pace = progress.pace({ height, bytes, coins }, performance.now());
      return {
        phase: 'indexing',
        height: Math.max(0, height),
        target,
        secondsLeft: pace && secondsLeft(height, target, pace),
        ...pace && { pace }
      };
    });
  }

  /** At once when a piece of work begins, then every second. */
  #report(state: () => IndexState): void {
    const now = performance.now();
    if (now - this.#reported < REPORT_MS) return;
    this.#reported = now;
    this.#options.onState(state());
  }
}
