// Fills in what an index with a base does not know yet: where the transactions of the blocks up
// to the base are, the newest block first. Works in short steps; between them the chain is
// followed. The blocks that may be taken out again get undo records (fill-batch.ts).

import { isBackfilling, type Base } from '../records/base';
import { BackfillBatch } from './backfill-batch';
import { backfillText } from '../progress/text';
import type { NodeSource } from '../../node/types';
import type { Store } from '../../store/store';
import type { IndexWriter } from '../write/index-writer';
import type { IndexLogger } from '../types';
import type { BlockRows } from '../scan/rows';

/** So long a block of the chain may have to wait, and the write of the step besides. */
const STEP_MS = 30;
const STEP_BLOCKS = 200;
const IN_FLIGHT = 8;
const LOG_MS = 10_000;

export interface BackfillOptions {
  readonly node: NodeSource;
  readonly store: Store;
  readonly indexer: IndexWriter;
  readonly logger: IndexLogger;
}

interface FilledBlock {
  readonly height: number;
  /** undefined: the node does not have the block. */
  readonly rows: BlockRows | undefined;
}

export class Backfill {
  readonly #options: BackfillOptions;
  /** Blocks on their way, downwards. */
  #ahead: Promise<FilledBlock>[] = [];
  /** The next one that is not on its way. */
  #next = -1;
  #saidAt = performance.now();

  constructor(options: BackfillOptions) {
    this.#options = options;
  }

  /** Whether the index has something to be filled in. */
  get isDue(): boolean {
    const { base } = this.#options.indexer;
    return base !== undefined && isBackfilling(base);
  }

  /** The index is built anew: blocks on their way were for another one. */
  reset(): void {
    this.#ahead = [];
  }

  /** Fills in some blocks. False: nothing more can be done for now. @throws DamagedIndexError, StoreError */
  async step(): Promise<boolean> {
    const { node, store, indexer, logger } = this.#options;
    const { base } = indexer;
    if (base === undefined || !isBackfilling(base)) return false;
    const batch = new BackfillBatch(base, { node, store, indexer });
    const until = performance.now() + STEP_MS;
    let missing = false;
    while (batch.base.positionsFrom > 0 && batch.blocks < STEP_BLOCKS && (batch.blocks === 0 || performance.now() < until)) {
      const { rows } = await this.#blockBelow(batch.base);
      missing = rows === undefined;
      // One that cannot stand in a batch with the others is the next step's.
      if (rows === undefined || !await batch.add(rows)) break;
      void this.#ahead.shift();
      indexer.rowMaker.release(rows);
    }
    // A node that does not prune is losing the block to a reset: it will say so.
    const filled: Base = missing && node.pruned ? { ...batch.base, ended: true } : batch.base;
    if (batch.blocks > 0 || filled.ended) await indexer.fill(batch.writes(), filled);
    this.#say(filled, logger);
    return isBackfilling(filled) && !missing;
  }

  /** The highest block that is not filled in. */
  async #blockBelow({ positionsFrom: positionsFrom }: Base): Promise<FilledBlock> {
    const wanted = positionsFrom - 1;
    if (this.#ahead.length === 0 || this.#next + this.#ahead.length !== wanted) [this.#ahead, this.#next] = [[], wanted];
    while (this.#next >= 0 && this.#ahead.length < IN_FLIGHT) {
      const fetched = this.#fetch(this.#next--);
      // Whether anybody still waits for it or not: a rejection that nobody hears ends the node.
      fetched.catch(() => undefined);
      this.#ahead.push(fetched);
    }
    const first = this.#ahead[0] as Promise<FilledBlock>; // wanted is not below 0
    const found = await first;
    // What was asked for in vain is asked for again.
    if (found.rows === undefined) this.#ahead = [];
    return found;
  }

  async #fetch(height: number): Promise<FilledBlock> {
    const { node, indexer } = this.#options;
    const raw = await node.rawBlock(indexer.headerAt(height).hash);
    return { height, rows: raw && await indexer.rowsOf(raw, height) };
  }

  #say(base: Base, logger: IndexLogger): void {
    if (!isBackfilling(base)) {
      logger.info(base.ended ? `Transactions are known from block ${base.positionsFrom} up; the node has thrown the earlier blocks away.` : 'All transactions are known.');
      return;
    }
    const now = performance.now();
    if (now - this.#saidAt < LOG_MS) return;
    this.#saidAt = now;
    logger.info(`Filling in transactions: ${backfillText({ height: base.positionsFrom, from: base.height })}.`);
  }
}
