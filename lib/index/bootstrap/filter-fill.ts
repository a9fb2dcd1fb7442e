// Adds filters to blocks that entered the index without one: while the option was off, or with the node's coins. First come the
// filters, the newest block first; then the filter headers, from the lowest block without one up. Works in short steps, between
// which the index follows the chain. Every step is one batch, and the next step continues where it ended.

import { setImmediate } from 'node:timers/promises';
import { filterHeaderOf, NO_FILTER_HEADER } from '../../bitcoin/block-filter';
import { Descent } from '../../follow/prefetch';
import { LOG_MS, Throttle } from '../../follow/throttle';
import { backfillText } from '../progress/text';
import { OUTPOINT_WORDS } from '../records/cache-entry';
import { filterEntryKey, filterEntryOf, isFilled, putFilter, putFilterEntry, type FilterEntry } from '../records/filter';
import { damaged } from '../records/layout';
import { filterOverNodeCoins } from '../write/block-filter';
import { ifReadable, STEP_BLOCKS, STEP_MS, type StepParts } from './steps';
import type { BlockPoint } from '../../node/types/chain';
import type { StoreWrite } from '../../store/store';
import type { BlockRows } from '../scan/rows';

/** Filter entries that are checked between two turns of the event loop. */
const ENTRIES_PER_SLICE = 64;

export class FilterFill {
  readonly #parts: StepParts;
  readonly #throttle = new Throttle(LOG_MS);
  readonly #blocks: Descent<BlockRows>;
  /** The height at which filling had to stop, once it was logged. */
  #stoppedAt: number | undefined;

  constructor(parts: StepParts) {
    this.#parts = parts;
    this.#throttle.restart();
    const { node, writer } = parts;
    this.#blocks = new Descent(async (height) => {
      const raw = await ifReadable(node.rawBlock(writer.headerAt(height).hash));
      return raw && (await ifReadable(writer.rowsOf(raw, height)));
    });
  }

  /** To be called when the index is rebuilt: blocks that are being fetched were for the old index. */
  reset(): void {
    this.#blocks.reset();
    this.#stoppedAt = undefined;
  }

  /** Adds some filters or filter headers. False: nothing more can be done for now. @throws DamagedIndexError, StoreError */
  async step(): Promise<boolean> {
    const { filters, tip } = this.#parts.writer;
    if (filters === undefined || tip === undefined || isFilled(filters)) return false;
    return filters.from > 0 ? await this.#fillDown(filters.from, tip) : await this.#chainUp(tip);
  }

  /** Adds filters below a height. */
  async #fillDown(above: number, tip: BlockPoint): Promise<boolean> {
    const { writer, store, logger } = this.#parts;
    const writes: StoreWrite[] = [];
    const until = performance.now() + STEP_MS;
    const chained = this.#chainedBelow(tip);
    let [from, blocks, isMissing] = [above, 0, false];
    for (let looked = 1; from > chained && blocks < STEP_BLOCKS && (looked === 1 || performance.now() < until); looked++) {
      const block = writer.headerAt(from - 1);
      if (filterEntryOf(store, block) === undefined) {
        const filter = await this.#filterOf(block);
        isMissing = filter === undefined;
        if (filter === undefined) break;
        writes.push(...putFilter(block, filter, block.height === 0 ? NO_FILTER_HEADER : undefined).writes);
        blocks++;
      } else if (looked % ENTRIES_PER_SLICE === 0) await setImmediate();
      from--;
    }
    // A block with a filter header has a filter, and so have all blocks below it.
    if (from <= chained) from = 0;
    if (from < above) await writer.writeFilters(writes, from);
    if (isMissing) this.#sayStopped(from);
    else if (from > 0 && this.#throttle.isDue())
      logger.info(`Building block filters: ${backfillText({ height: from, from: tip.height })}.`);
    return !isMissing;
  }

  /** undefined: the node lacks the block, or the coins that it spent. */
  async #filterOf({ hash, height }: BlockPoint): Promise<Buffer | undefined> {
    const { node, writer } = this.#parts;
    const rows = await this.#blocks.at(height);
    if (rows === undefined) return undefined;
    const count = rows.inputs.length / OUTPOINT_WORDS;
    const coins = count === 0 ? [] : await ifReadable(node.spentCoins(hash));
    if (coins?.length !== count || !hash.equals(rows.hash)) return undefined;
    const filter = await filterOverNodeCoins(rows, coins);
    this.#blocks.take();
    writer.rowMaker.release(rows);
    return filter;
  }

  /** Adds filter headers, from the lowest block without one up. */
  async #chainUp(tip: BlockPoint): Promise<boolean> {
    const { writer, logger } = this.#parts;
    const writes: StoreWrite[] = [];
    const until = performance.now() + STEP_MS;
    let height = this.#chainedBelow(tip);
    let previous = height === 0 ? NO_FILTER_HEADER : this.#entryAt(height - 1).header;
    for (let looked = 1; height <= tip.height && (looked === 1 || performance.now() < until); looked++, height++) {
      const entry = this.#entryAt(height);
      if (previous === undefined) throw damaged(filterEntryKey(height - 1), 'a filter header', 'none');
      previous = filterHeaderOf(entry.filterHash, previous);
      writes.push(putFilterEntry(height, { ...entry, header: previous }));
      if (looked % ENTRIES_PER_SLICE === 0) await setImmediate();
    }
    await writer.writeFilters(writes, 0);
    if (height <= tip.height) return true;
    logger.info('All blocks have their filters.');
    return false;
  }

  /** How many blocks, the lowest ones, have filter headers. */
  #chainedBelow({ height }: BlockPoint): number {
    const { writer, store } = this.#parts;
    const hasHeader = (at: number): boolean => filterEntryOf(store, writer.headerAt(at))?.header !== undefined;
    let [below, above] = [0, height + 1];
    while (below < above) {
      const middle = Math.floor((below + above) / 2);
      if (hasHeader(middle)) below = middle + 1;
      else above = middle;
    }
    return below;
  }

  /** The entry of a block that has a filter. @throws DamagedIndexError */
  #entryAt(height: number): FilterEntry {
    const { writer, store } = this.#parts;
    const entry = filterEntryOf(store, writer.headerAt(height));
    if (entry === undefined) throw damaged(filterEntryKey(height), 'the hash of a filter', 'none');
    return entry;
  }

  /** Logs, once for each height, that no more filters can be made. While the node's chain is reset, missing blocks are not lost. */
  #sayStopped(height: number): void {
    const { node, logger } = this.#parts;
    if (node.resetting || this.#stoppedAt === height) return;
    this.#stoppedAt = height;
    const why = node.pruned
      ? 'the node has thrown the earlier blocks away'
      : `the node cannot read block ${height - 1}, or the coins that it spent`;
    logger.info(`Blocks have filters from ${height} up: ${why}.`);
  }
}
