// Blocks on their way into the index: folded one after the other over the coin cache, written
// together. Coins that are born and die within the batch are never written.

import { bitsOf, MEDIAN_TIME_SPAN, medianTimePast, previousHashOf, timeOf } from '../../bitcoin/header';
import { toDisplayHex } from '../../bitcoin/hash';
import { proofOf } from '../../bitcoin/work';
import { spentBaseKey, type BaseSpends } from '../coins/base-spends';
import { IndexError } from '../errors';
import {
  blockHashKey, encodeHeader, encodeHeight, encodeTip, headerKey, lengthsKey, POSITION_KEY_LENGTH, putRecord, TIP_KEY, TXID_HASH_LENGTH, undoKey, writePositionRecord,
  type StoredHeader
} from '../records/layout';
import { blockIn, inOrderOfHashes, positionIn } from './position-order';
import { findReplaced, spendReplaced, type Replaced } from './replaced';
import { blockRows, type BlockRows } from '../scan/rows';
import { findSpent, spend, type CoinSources } from '../coins/spending';
import { encodeUndo, SpentCoinList } from '../records/undo-record';
import { WriteBuffer } from '../records/write-buffer';
import type { BlockPoint } from '../../node/types';
import type { Store, StoreWrite } from '../../store/store';

/** Where the index stands: what the next block builds on. */
export interface TipState {
  /** undefined: the index is empty, the genesis block is next. */
  readonly tip: StoredHeader | undefined;
  /** Times of the last blocks, MEDIAN_TIME_SPAN at most, the tip's last. */
  readonly times: readonly number[];
}

export interface BatchOptions extends Omit<CoinSources, 'records'> {
  readonly store: Store;
  readonly genesisHash: Buffer;
  /** Undo records are kept for this many blocks. */
  readonly undoDepth: number;
  /** Lowest height that gets an undo record. */
  readonly undoFrom: number;
}

export class BlockBatch {
  readonly #options: BatchOptions;
  /** Of the txids, by block. */
  readonly #hashes: Buffer[] = [];
  readonly #firstHeight: number;
  readonly #otherWrites: StoreWrite[] = [];
  readonly #blocks: BlockPoint[] = [];
  readonly #spent = new SpentCoinList();
  #position: TipState;
  #otherBytes = 0;

  constructor(tipState: TipState, options: BatchOptions) {
    this.#position = tipState;
    this.#options = options;
    this.#firstHeight = this.#nextHeight;
  }

  /** The position after the last block added. */
  get position(): TipState {
    return this.#position;
  }

  get blocks(): readonly BlockPoint[] {
    return this.#blocks;
  }

  /** Whether it is time to write. */
  get isFull(): boolean {
    return this.#options.cache.isFull(this.#otherBytes);
  }

  /** Whether a block with this previous hash comes next. */
  isExtendedBy(previousHash: Buffer): boolean {
    const { tip } = this.#position;
    return tip === undefined || tip.hash.equals(previousHash);
  }

  /**
   * Adds a serialized block.
   * @throws IndexError when it does not extend the tip or spends a coin that is not there; the batch is then lost.
   */
  async add(raw: Buffer): Promise<void> {
    await this.addRows(blockRows(raw, this.#nextHeight, this.#options.hasher));
  }

  /** Adds a block by its rows, which are not needed any more afterwards. @throws as `add` */
  async addRows(rows: BlockRows): Promise<void> {
    this.#checkExtends(rows);
    const { cache, undoFrom, undoDepth, base } = this.#options;
    const { height } = rows;
    const hashes = Buffer.from(rows.hashes);
    const undo = height > 0 && height >= undoFrom ? this.#spent : undefined;
    undo?.clear();
    if (undo === undefined && this.#blocks.length === 0) this.#dropUndoBelow(height);
    const { replaced, entries } = await this.#find(rows);
    if (replaced !== undefined) spendReplaced(replaced, height, cache, undo);
    await spend(rows, entries, this.#options, undo);
    this.#addBlock(rows, hashes);
    if (undo !== undefined) this.#write(putRecord(undoKey(height), encodeUndo(rows.hash, hashes, replaced?.place, undo.bytes)));
    if (height >= undoDepth) this.#write({ type: 'del', key: undoKey(height - undoDepth) });
    if (base !== undefined) this.#keepSpentOf(base, height, undo !== undefined);
  }

  /** What the block spends and replaces, read into the cache; its own coins are there then. */
  async #find(rows: BlockRows): Promise<{ readonly replaced: Replaced | undefined; readonly entries: Int32Array }> {
    const { store, cache } = this.#options;
    const records = store.snapshot();
    try {
      const sources = { ...this.#options, records };
      const replaced = await findReplaced(rows, sources);
      cache.append(rows.entries);
      return { replaced, entries: await findSpent(rows, sources) };
    } finally {
      records.close();
    }
  }

  /** All writes of the batch, the new tip among them. To be gone through once, up to `onEnd`; then the cache is handed over or cleared. The bytes of a write hold until the next. */
  *writes(onEnd: () => void): Generator<StoreWrite> {
    yield* this.#options.cache.writes();
    if (this.#options.base !== undefined) yield* this.#options.base.writes();
    const room = new WriteBuffer();
    const bytes = room.reserve(0);
    for (const transaction of inOrderOfHashes(this.#hashes)) {
      const [block, position] = [blockIn(transaction), positionIn(transaction)];
      const hashes = this.#hashes[block] as Buffer; // one for each block
      yield room.put(POSITION_KEY_LENGTH, writePositionRecord(bytes, hashes, position * TXID_HASH_LENGTH, this.#firstHeight + block, position));
    }
    yield* this.#otherWrites;
    if (this.#position.tip !== undefined)
      yield putRecord(TIP_KEY, encodeTip(this.#position.tip));
    // The store has copies of all that; the next batch is filled while it writes them.
    this.#hashes.length = 0;
    this.#otherWrites.length = 0;
    onEnd();
  }

  get #nextHeight(): number {
    return (this.#position.tip?.height ?? -1) + 1;
  }

  #checkExtends({ height, hash, header }: BlockRows): void {
    const { tip } = this.#position;
    const { genesisHash } = this.#options;
    const previousHash = previousHashOf(Buffer.from(header));
    if (tip === undefined && !genesisHash.equals(hash))
      throw new IndexError(`expected the genesis block ${toDisplayHex(genesisHash)}, got ${toDisplayHex(Buffer.from(hash))}`);
    if (tip !== undefined && !tip.hash.equals(previousHash))
      throw new IndexError(`expected a block on top of ${toDisplayHex(tip.hash)} at height ${tip.height}, got ${toDisplayHex(Buffer.from(hash))}, which follows ${toDisplayHex(previousHash)}`);
    if (height !== this.#nextHeight)
      throw new IndexError(`expected rows of height ${this.#nextHeight}, got ${height}`);
  }

  #addBlock({ height, hash: hashBytes, header: headerBytes, length, lengths }: BlockRows, hashes: Buffer): void {
    const { tip, times } = this.#position;
    const [hash, header] = [Buffer.from(hashBytes), Buffer.from(headerBytes)];
    const lastTimes = [...times, timeOf(header)].slice(-MEDIAN_TIME_SPAN);
    const transactionCount = hashes.length / TXID_HASH_LENGTH;
    const next: StoredHeader = {
      height,
      hash,
      header,
      chainwork: (tip?.chainwork ?? 0n) + proofOf(bitsOf(header)),
      medianTime: medianTimePast(lastTimes),
      transactionCount,
      chainTransactions: (tip?.chainTransactions ?? 0) + transactionCount,
      chainBytes: (tip?.chainBytes ?? 0) + length
    };
    this.#position = { tip: next, times: lastTimes };
    this.#hashes.push(hashes);
    this.#otherBytes += hashes.length;
    this.#write(putRecord(headerKey(height), encodeHeader(next)));
    this.#write(putRecord(blockHashKey(hash), encodeHeight(height)));
    this.#write(putRecord(lengthsKey(height), Buffer.from(lengths)));
    this.#blocks.push({ hash, height });
  }

  /** As the undo record, of the coins that are the base's. */
  #keepSpentOf(base: BaseSpends, height: number, keeps: boolean): void {
    const spent = base.takeUndo();
    const { undoDepth } = this.#options;
    if (keeps && spent.length > 0) this.#write(putRecord(spentBaseKey(height), spent));
    if (height >= undoDepth) this.#write({ type: 'del', key: spentBaseKey(height - undoDepth) });
  }

  /** Below a block that cannot be taken out, no undo record is of use any more. */
  #dropUndoBelow(height: number): void {
    const { store, undoDepth } = this.#options;
    if (height === 0 || store.get(undoKey(height - 1)) === undefined) return;
    for (let below = Math.max(1, height - undoDepth); below < height; below++)
      for (const key of [undoKey(below), spentBaseKey(below)]) this.#write({ type: 'del', key });
  }

  #write(write: StoreWrite): void {
    this.#otherWrites.push(write);
    if (write.type === 'put') this.#otherBytes += write.value.length;
  }
}
