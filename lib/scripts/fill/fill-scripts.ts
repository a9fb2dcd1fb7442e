// Fills an index by script from the node's blocks and the outputs that they spent: hands them to a thread (fill-thread.ts), which does
// the work (filling.ts).

import { setTimeout } from 'node:timers/promises';
import { toDisplayHex } from '../../bitcoin/hash';
import { previousHashOf } from '../../bitcoin/header';
import { prefetch } from '../../follow/prefetch';
import { ChainMovedError } from '../../node/errors';
import { FillingError } from '../errors';
import { missingBlocks, missingPart, scriptBlock } from '../scan/node-blocks';
import { FillThread, UselessFillingError, type FillStart } from './fill-thread';
import { FILLING_SIZES, type FillingSizes } from './filling';
import type { IndexLogger } from '../../follow/logger';
import type { BlockPoint } from '../../node/types/chain';
import type { NodeSource } from '../../node/types/source';
import type { ScriptBlock } from '../scan/rows';
import type { ScriptsState } from '../types';

/** Pause before a missing block is asked for again while the chain is being reset. */
const RETRY_MS = 200;

type FillingState = Extract<ScriptsState, { readonly phase: 'partitioning' | 'sorting' }>;

export type FillNode = Pick<NodeSource, 'network' | 'resetting' | 'activeHash' | 'rawBlock' | 'txidsOf' | 'spentOutputs' | 'hasAllBlocks'>;

export interface FillParts {
  /** Folder of the store, which must not be open meanwhile. */
  readonly path: string;
  /** Folder of the files in which rows are sorted; it is removed at the end. */
  readonly filesPath: string;
  readonly node: FillNode;
  /** Height of the last block to be in the index. A filling that was started for another target is resumed, and may end below this one. */
  readonly target: number;
  /** Called for each block and file. */
  readonly onState: (state: FillingState) => void;
  readonly logger: IndexLogger;
  /** Interrupts the filling. */
  readonly signal: AbortSignal;
  readonly sizes?: Partial<FillingSizes>;
}

/** @throws MissingBlocksError when the node lacks blocks of its chain, and so the outputs that they spent */
export async function requireAllBlocks(node: Pick<NodeSource, 'hasAllBlocks'>): Promise<void> {
  if (!(await node.hasAllBlocks())) throw missingBlocks('the node has thrown blocks away (--prune)');
}

/**
 * Fills an index by script, or resumes an interrupted filling; anything else in the store is deleted. Returns the block that the index
 * is then at. Starts over if that block leaves the chain meanwhile, or if the data filled so far is damaged.
 * @throws MissingBlocksError; FillingError: the disk is full, the store cannot be opened, and the like; ChainMovedError when there is no
 * longer a block at the target; UnreadableBlockError; the reason of the signal. After each of them the filling can be resumed.
 */
export async function fillScripts(parts: FillParts): Promise<BlockPoint> {
  await requireAllBlocks(parts.node);
  for (let fromScratch = false; ; fromScratch = true) {
    try {
      return await new Fill(parts, fromScratch).run();
    } catch (error) {
      if (!(error instanceof UselessFillingError)) throw error;
      // A disk that damages what was just written would make it start over forever.
      if (fromScratch && !(error instanceof OffChainError)) throw new FillingError(error.message, { cause: error });
      parts.logger.warning(`Filling the index by script again: ${error.message}.`);
    }
  }
}

/** The blocks filled so far are not in the chain any more. */
class OffChainError extends UselessFillingError {}

class Fill {
  readonly #parts: FillParts;
  readonly #fromScratch: boolean;

  constructor(parts: FillParts, fromScratch: boolean) {
    this.#parts = parts;
    this.#fromScratch = fromScratch;
  }

  async run(): Promise<BlockPoint> {
    const { path, filesPath, node, sizes, signal } = this.#parts;
    signal.throwIfAborted();
    const thread = new FillThread(
      { path, filesPath, genesisHash: node.network.genesisHash, fromScratch: this.#fromScratch, sizes: { ...FILLING_SIZES, ...sizes } },
      (done, total) => this.#parts.onState({ phase: 'sorting', done, total })
    );
    const stop = (): void => thread.stop(signal.reason as Error); // an AbortController gives an Error
    signal.addEventListener('abort', stop);
    try {
      const start = await thread.opened;
      if (start.damage !== undefined) this.#parts.logger.warning(`Filling the index by script again: ${start.damage}.`);
      const last = await this.#partition(thread, start);
      await thread.sort();
      await this.#requireInChain(last);
      await thread.finish();
      return last;
    } catch (error) {
      thread.stop(error as Error); // only errors are thrown here
      throw error;
    } finally {
      signal.removeEventListener('abort', stop);
      await thread.ended;
    }
  }

  /** Hands over the blocks that are not in the files yet. Returns the last block that is then in the files. */
  async #partition(thread: FillThread, { step, at }: FillStart): Promise<BlockPoint> {
    const { target, logger } = this.#parts;
    let last: BlockPoint | undefined = at && { height: at.height, hash: Buffer.from(at.hash) };
    if (last !== undefined) {
      await this.#requireInChain(last);
      logger.info(`Resuming the filling of the index by script after block ${last.height}.`);
    }
    if (step === 'partitioning') {
      const from = last === undefined ? 0 : last.height + 1;
      for await (const { block } of prefetch(from, target + 1 - from, 1, (height) => this.#block(height))) {
        if (block === undefined) break; // there is one for each height
        if (last !== undefined && !previousHashOf(block.raw).equals(last.hash)) throw offChain(last);
        await thread.take(block);
        last = block.point;
        this.#parts.onState({ phase: 'partitioning', height: last.height, target });
      }
    }
    if (last === undefined) throw new RangeError(`expected a target of 0 or more, got ${target}`);
    return last;
  }

  /** The block at a height of the chain with the outputs that it spends. @throws as fillScripts */
  async #block(height: number): Promise<ScriptBlock> {
    const { node, signal } = this.#parts;
    for (let missed = 0; ;) {
      signal.throwIfAborted();
      const hash = await node.activeHash(height);
      const block = hash && (await scriptBlock({ hash, height }, node));
      if (typeof block === 'object') return block;
      // The chain is being reset, or was while the node was asked.
      const now = await node.activeHash(height);
      if (node.resetting) await setTimeout(RETRY_MS, undefined, { signal });
      else if (now === undefined) throw new ChainMovedError(`there is no block at height ${height} any more`);
      // The block may have been missing during a reset that has just ended: it is missed twice before this fails.
      else if (block !== undefined && hash?.equals(now) === true && ++missed > 1) throw missingPart(block, { hash, height });
    }
  }

  async #requireInChain(block: BlockPoint): Promise<void> {
    const hash = await this.#parts.node.activeHash(block.height);
    if (block.height > this.#parts.target || hash?.equals(block.hash) !== true) throw offChain(block);
  }
}

function offChain({ height, hash }: BlockPoint): OffChainError {
  return new OffChainError(`block ${toDisplayHex(hash)} at height ${height} is not in the chain any more`);
}
