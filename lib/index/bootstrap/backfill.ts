// Backfills what an index with a base lacks at first: the positions and lengths of the transactions in blocks up to the
// base, the newest block first. Works in short steps, between which the index follows the chain. Blocks that may have to be
// undone get undo records.

import { toDisplayHex } from '../../bitcoin/hash';
import { DamagedIndexError } from '../../follow/errors';
import { Descent } from '../../follow/prefetch';
import { LOG_MS, Throttle } from '../../follow/throttle';
import { NoNodeError } from '../../node/errors';
import { backfillText } from '../progress/text';
import { BASE_BYTES, isBackfilling, type Base } from '../records/base';
import { spentBaseCoins, spentBaseKey } from '../records/base-coin';
import { OUTPOINT_WORDS } from '../records/cache-entry';
import { encodeHeader, headerKey, type StoredHeader } from '../records/chain';
import { putRecord, recordOf, WriteBuffer } from '../records/layout';
import { putLengths } from '../records/lengths';
import { positionOf, putPosition } from '../records/position';
import { TXID_HASH_LENGTH } from '../records/txid-hash';
import { encodeUndo, undoKey, withReplaced } from '../records/undo-record';
import { orUnread, STEP_BLOCKS, STEP_MS, type StepParts } from './steps';
import type { SpentNodeCoin } from '../../node/types/coins';
import type { StoreWrite } from '../../store/store';
import type { BlockRows } from '../scan/rows';
import type { Position } from '../types';

const NO_COINS = Buffer.alloc(0);

export class Backfill {
  readonly #parts: StepParts;
  readonly #throttle = new Throttle(LOG_MS);
  readonly #blocks: Descent<BlockRows | Error>;
  /** Why the last step had to stop, once it was logged. */
  #fault: string | undefined;

  constructor(parts: StepParts) {
    this.#parts = parts;
    this.#throttle.restart();
    const { node, writer } = parts;
    this.#blocks = new Descent((height) =>
      orUnread(
        (async () => {
          const raw = await node.rawBlock(writer.headerAt(height).hash);
          return raw && (await writer.rowsOf(raw, height));
        })()
      )
    );
  }

  /** To be called when the index is rebuilt: blocks that are being fetched were for the old index. */
  reset(): void {
    this.#blocks.reset();
    this.#fault = undefined;
  }

  /** Backfills some blocks. False: nothing more can be done for now. @throws DamagedIndexError, StoreError */
  async step(): Promise<boolean> {
    const { node, writer } = this.#parts;
    const { base } = writer;
    if (base === undefined || !isBackfilling(base)) return false;
    const batch = new BackfillBatch(base, this.#parts);
    const until = performance.now() + STEP_MS;
    let missing = false;
    let fault: Error | undefined;
    while (batch.base.positionsFrom > 0 && batch.blocks < STEP_BLOCKS && (batch.blocks === 0 || performance.now() < until)) {
      const rows = await this.#blocks.at(batch.base.positionsFrom - 1);
      missing = rows === undefined;
      const added = rows === undefined || rows instanceof Error ? rows : await orNoNode(batch.add(rows));
      if (added instanceof Error) fault = added;
      // A block that cannot be in one batch with the others is left to the next step.
      if (rows === undefined || rows instanceof Error || added !== true) break;
      this.#blocks.take();
      writer.rowMaker.release(rows);
    }
    if (fault !== undefined) this.#blocks.reset();
    // A node that does not prune lacks the block only because its chain is being reset: an event will say so.
    const reached: Base = missing && node.pruned ? { ...batch.base, ended: true } : batch.base;
    if (batch.blocks > 0 || reached.ended) await writer.writeBackfill(batch.writes(), reached);
    this.#log(reached, fault);
    return isBackfilling(reached) && !missing && fault === undefined;
  }

  /** `fault`: logged once, as it is met again after each block. */
  #log(base: Base, fault: Error | undefined): void {
    const { logger } = this.#parts;
    const before = this.#fault;
    this.#fault = fault?.message;
    if (fault !== undefined) {
      if (fault.message !== before) logger.warning(`Transactions are known from block ${base.positionsFrom} up for now: ${fault.message}.`);
    } else if (base.ended)
      logger.info(`Transactions are known from block ${base.positionsFrom} up; the node has thrown the earlier blocks away.`);
    else if (!isBackfilling(base)) logger.info('All transactions are known.');
    else if (this.#throttle.isDue())
      logger.info(`Backfilling transactions: ${backfillText({ height: base.positionsFrom, from: base.height })}.`);
  }
}

/** Consecutive blocks, downwards, that are written together. */
class BackfillBatch {
  readonly #parts: StepParts;
  readonly #rows: { readonly height: number; readonly hashes: Buffer; readonly from: number }[] = [];
  readonly #otherWrites: StoreWrite[] = [];
  /** Txids of the coinbases in the batch. */
  readonly #coinbases = new Set<string>();
  #base: Base;
  /** Height of the lowest undo record in the batch. */
  #lowestUndo: number | undefined;
  /** The header of the block that is added next, with its counts of the chain. */
  #below: StoredHeader | undefined;

  constructor(base: Base, parts: StepParts) {
    this.#base = base;
    this.#parts = parts;
  }

  /** The base as it is once the batch is written. */
  get base(): Base {
    return this.#base;
  }

  get blocks(): number {
    return this.#rows.length;
  }

  /**
   * Adds the block below the last one; its rows may be released afterwards. False: it must go into the next batch. @throws
   * DamagedIndexError
   */
  async add(rows: BlockRows): Promise<boolean> {
    const { height, lengths, length } = rows;
    const coinbase = Buffer.from(rows.coinbase);
    const later = this.#laterPosition(coinbase);
    if (this.#coinbases.has(toDisplayHex(coinbase)) || (later !== undefined && this.blocks > 0)) return false;
    const hashes = Buffer.from(rows.hashes);
    const undo = await this.#undoOf(rows, hashes);
    this.#otherWrites.push(
      ...putLengths(height, lengths, hashes.length / TXID_HASH_LENGTH, length),
      ...undo,
      ...this.#replacing(later, { height, index: 0 })
    );
    this.#addHeader(rows);
    this.#rows.push({ height, hashes, from: later === undefined ? 0 : 1 });
    this.#coinbases.add(toDisplayHex(coinbase));
    this.#base = { ...this.#base, positionsFrom: height, bytes: this.#base.bytes + length };
    return true;
  }

  /** The bytes of a write are valid until the next. */
  *writes(): Generator<StoreWrite> {
    const buffer = new WriteBuffer();
    for (const { height, hashes, from } of this.#rows)
      for (let index = from; index * TXID_HASH_LENGTH < hashes.length; index++)
        yield putPosition(buffer, hashes, index * TXID_HASH_LENGTH, height, index);
    yield* this.#otherWrites;
    if (this.#below !== undefined) yield putRecord(headerKey(this.#below.height), encodeHeader(this.#below));
  }

  /** Completes the block's header, whose counts of the chain are already right, and derives the counts of the block below. */
  #addHeader({ height, hash, hashes, length }: BlockRows): void {
    const { writer } = this.#parts;
    const stored = this.#below ?? writer.headerAt(height);
    if (!stored.hash.equals(hash))
      throw new DamagedIndexError(
        `expected block ${toDisplayHex(stored.hash)} at height ${height}, got ${toDisplayHex(Buffer.from(hash))}`
      );
    const transactionCount = hashes.length / TXID_HASH_LENGTH;
    this.#otherWrites.push(putRecord(headerKey(height), encodeHeader({ ...stored, transactionCount })));
    this.#below =
      height === 0
        ? undefined
        : {
            ...writer.headerAt(height - 1),
            chainTransactions: stored.chainTransactions - transactionCount,
            chainBytes: BASE_BYTES - this.#base.bytes - length
          };
  }

  /** The writes of the undo record; none if the block is too deep, the node lacks the coins, or the block above cannot be undone. */
  async #undoOf({ height, hash, inputs }: BlockRows, hashes: Buffer): Promise<StoreWrite[]> {
    const { writer, store } = this.#parts;
    const tipHeight = writer.tip?.height ?? 0;
    if (height === 0 || height <= tipHeight - writer.undoDepth) return [];
    const hasUndoAbove = this.blocks > 0 ? this.#lowestUndo === height + 1 : store.get(undoKey(height + 1)) !== undefined;
    if (tipHeight !== height && !hasUndoAbove) return [];
    const count = inputs.length / OUTPOINT_WORDS;
    const coins = count === 0 ? [] : await this.#spentCoins(Buffer.from(hash));
    if (coins?.length !== count) return [];
    const spent = spentBaseCoins(inputs, coins, height);
    const undo = putRecord(undoKey(height), encodeUndo(hash, hashes, undefined, NO_COINS));
    this.#lowestUndo = height;
    return spent.length === 0 ? [undo] : [undo, putRecord(spentBaseKey(height), spent)];
  }

  /** @throws NoNodeError */
  async #spentCoins(hash: Buffer): Promise<readonly SpentNodeCoin[] | undefined> {
    const coins = await orUnread(this.#parts.node.spentCoins(hash));
    if (coins instanceof NoNodeError) throw coins;
    return coins instanceof Error ? undefined : coins;
  }

  /** The position of a later coinbase with this txid (write/replaced.ts). */
  #laterPosition(coinbase: Buffer): Position | undefined {
    const { writer, store } = this.#parts;
    return positionOf(store, writer.hasher, coinbase);
  }

  /** If a later coinbase has the same txid: the write that adds what it replaced, this position, to the undo record of its block. */
  #replacing(later: Position | undefined, position: Position): StoreWrite[] {
    const { store } = this.#parts;
    for (let at = later; at !== undefined;) {
      const key = undoKey(at.height);
      const value = store.get(key);
      if (value === undefined) return [];
      const { record, replaced } = withReplaced(recordOf(key, value), position);
      if (replaced === undefined) return [putRecord(key, record)];
      at = replaced;
    }
    return [];
  }
}

async function orNoNode<T>(work: Promise<T>): Promise<T | NoNodeError> {
  return work.catch((error: unknown) => {
    if (error instanceof NoNodeError) return error;
    throw error;
  });
}
