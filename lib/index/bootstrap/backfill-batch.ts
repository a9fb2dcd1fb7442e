// Blocks of the base on their way into the index, downwards: places and lengths of their
// transactions, what their headers lacked, and undo records for the latest.

import { toDisplayHex } from '../../bitcoin/hash';
import { BASE_BYTES, type Base } from '../records/base';
import { spentBaseCoins, spentBaseKey } from '../records/base-coin';
import { encodeHeader, headerKey, type StoredHeader } from '../records/header';
import { putRecord, recordOf } from '../records/layout';
import { lengthsKey } from '../records/lengths';
import { positionOf, putPosition, type Position } from '../records/position';
import { TXID_HASH_LENGTH } from '../records/txid-hash';
import { encodeUndo, undoKey, withReplaced } from '../records/undo-record';
import { OUTPOINT_WORDS } from '../records/cache-entry';
import { DamagedIndexError } from '../errors';
import { WriteBuffer } from '../records/write-buffer';
import type { NodeSource } from '../../node/types';
import type { Store, StoreWrite } from '../../store/store';
import type { IndexWriter } from '../write/index-writer';
import type { BlockRows } from '../scan/rows';

export interface BackfillBatchOptions {
  readonly node: NodeSource;
  readonly store: Store;
  readonly indexer: IndexWriter;
}

const NO_COINS = Buffer.alloc(0);

export class BackfillBatch {
  readonly #options: BackfillBatchOptions;
  readonly #rows: { readonly height: number; readonly hashes: Buffer; readonly from: number }[] = [];
  readonly #otherWrites: StoreWrite[] = [];
  /** Txids in the batch. */
  readonly #coinbases = new Set<string>();
  #base: Base;
  /** Of the batch. */
  #lowestUndo: number | undefined;
  /** The header below the last block, which counts from there. */
  #below: StoredHeader | undefined;

  constructor(base: Base, options: BackfillBatchOptions) {
    this.#base = base;
    this.#options = options;
  }

  /** The base with what the batch fills in. */
  get base(): Base {
    return this.#base;
  }

  get blocks(): number {
    return this.#rows.length;
  }

  /** Adds the highest block that is not filled in; its rows are not needed any more then. False: not to this batch. @throws DamagedIndexError */
  async add(rows: BlockRows): Promise<boolean> {
    const { height, lengths, length } = rows;
    const coinbase = Buffer.from(rows.coinbase);
    const later = this.#laterPlace(coinbase);
    if (this.#coinbases.has(toDisplayHex(coinbase)) || later !== undefined && this.blocks > 0) return false;
    const hashes = Buffer.from(rows.hashes);
    const undo = await this.#undoOf(rows, hashes);
    this.#otherWrites.push(putRecord(lengthsKey(height), Buffer.from(lengths)), ...undo, ...this.#replacing(later, { height, index: 0 }));
    this.#addHeader(rows);
    this.#rows.push({ height, hashes, from: later === undefined ? 0 : 1 });
    this.#coinbases.add(toDisplayHex(coinbase));
    this.#base = { ...this.#base, positionsFrom: height, bytes: this.#base.bytes + length };
    return true;
  }

  /** The bytes of a write hold until the next. */
  *writes(): Generator<StoreWrite> {
    const buffer = new WriteBuffer();
    for (const { height, hashes, from } of this.#rows)
      for (let position = from; position * TXID_HASH_LENGTH < hashes.length; position++)
        yield putPosition(buffer, hashes, position * TXID_HASH_LENGTH, height, position);
    yield* this.#otherWrites;
    if (this.#below !== undefined) yield putRecord(headerKey(this.#below.height), encodeHeader(this.#below));
  }

  /** Completes the header, whose counts of the chain are right already, and gives the one below its own. */
  #addHeader({ height, hash, hashes, length }: BlockRows): void {
    const { indexer } = this.#options;
    const stored = this.#below ?? indexer.headerAt(height);
    if (!stored.hash.equals(hash))
      throw new DamagedIndexError(`expected block ${toDisplayHex(stored.hash)} at height ${height}, got ${toDisplayHex(Buffer.from(hash))}`);
    const transactionCount = hashes.length / TXID_HASH_LENGTH;
    this.#otherWrites.push(putRecord(headerKey(height), encodeHeader({ ...stored, transactionCount })));
    this.#below = height === 0 ? undefined : {
      ...indexer.headerAt(height - 1),
      chainTransactions: stored.chainTransactions - transactionCount,
      chainBytes: BASE_BYTES - this.#base.bytes - length
    };
  }

  /** What takes the block out again; nothing when it is too deep, when the node has not kept what is needed, or when the block above cannot be taken out. */
  async #undoOf({ height, hash, inputs }: BlockRows, hashes: Buffer): Promise<StoreWrite[]> {
    const { indexer, node } = this.#options;
    if (height === 0 || height <= (indexer.tip?.height ?? 0) - indexer.undoDepth || !this.#isUndoableAbove(height)) return [];
    const count = inputs.length / OUTPOINT_WORDS;
    const coins = count === 0 ? [] : await node.spentCoins(Buffer.from(hash));
    if (coins?.length !== count) return [];
    const spent = spentBaseCoins(inputs, coins, height);
    const undo = putRecord(undoKey(height), encodeUndo(hash, hashes, undefined, NO_COINS));
    this.#lowestUndo = height;
    return spent.length === 0 ? [undo] : [undo, putRecord(spentBaseKey(height), spent)];
  }

  #isUndoableAbove(height: number): boolean {
    const { indexer, store } = this.#options;
    return indexer.tip?.height === height || (this.blocks > 0 ? this.#lowestUndo === height + 1 : store.get(undoKey(height + 1)) !== undefined);
  }

  /** Where a later block of the index has a coinbase with this txid (replaced.ts). */
  #laterPlace(coinbase: Buffer): Position | undefined {
    const { indexer, store } = this.#options;
    return positionOf(store, indexer.hasher, coinbase);
  }

  /** The last of the later blocks with the txid learns what it replaced, if it can be taken out again. */
  #replacing(later: Position | undefined, place: Position): StoreWrite[] {
    const { store } = this.#options;
    for (let at = later; at !== undefined;) {
      const key = undoKey(at.height);
      const value = store.get(key);
      if (value === undefined) return [];
      const { record, replaced } = withReplaced(recordOf(key, value), place);
      if (replaced === undefined) return [putRecord(key, record)];
      at = replaced;
    }
    return [];
  }
}
