// The only writer of the index. Every change is one atomic batch that also moves the tip
// record; memory moves after it. A single block is on the disk when it is in; of batches of
// blocks a power cut may take the last ones back, and the node still has their blocks.

import { hash256, toDisplayHex } from '../../bitcoin/hash';
import { MEDIAN_TIME_SPAN, timeOf } from '../../bitcoin/header';
import { BASE_KEY, decodeBase, encodeBase, type Base } from '../records/base';
import { BaseSpends, spentBaseKey } from '../coins/base-spends';
import { withoutBaseBlock } from '../coins/base-undo';
import { BlockBatch, type TipState } from './block-batch';
import { CoinCache } from '../coins/coin-cache';
import { DamagedIndexError, IndexError, TooDeepError } from '../errors';
import { blockHashKey, BLOCK_RECORDS, damaged, decodeHeader, decodeHeight, decodeTip, headerKey, putRecord, recordOf, SECRET_KEY, TIP_KEY, undoKey, type StoredHeader } from '../records/layout';
import { RowMaker } from '../scan/row-maker';
import { newSecret, TxidHasher } from '../records/txid-hash';
import { undoWrites } from './undo-block';
import { decodeUndo } from '../records/undo-record';
import type { Store, StoreUse, StoreWrite } from '../../store/store';
import type { BlockPoint } from '../../node/types';
import type { BlockRows } from '../scan/rows';

export interface IndexWriterOptions {
  readonly store: Store;
  readonly genesisHash: Buffer;
  /** The last so many blocks can be taken out again. */
  readonly undoDepth: number;
  /** Memory for coins, in bytes. */
  readonly cacheBytes?: number;
  /** The same while many blocks are taken in; as much unless given. */
  readonly catchUpCacheBytes?: number;
  /** Called in the tick in which the tip moves. */
  readonly onMove: () => void;
  /** Called when the thread that scans large blocks is lost; they are scanned here from then on. */
  readonly onThreadLost?: (reason: string) => void;
}

export const DEFAULT_CACHE_BYTES = 256 * 1024 * 1024;

const EMPTY: TipState = { tip: undefined, times: [] };

export class IndexWriter {
  readonly #options: IndexWriterOptions;
  readonly #cache: CoinCache;
  /** Scans blocks (rowsOf). */
  readonly rowMaker: RowMaker;
  #position = EMPTY;
  /** Of the batch that the store has taken and is still writing. */
  #ahead: TipState | undefined;
  #writeFailed = false;
  #base: Base | undefined;
  #hasher: TxidHasher | undefined;

  constructor(options: IndexWriterOptions) {
    this.#options = options;
    this.rowMaker = new RowMaker(options.onThreadLost);
    this.#cache = new CoinCache(options.cacheBytes ?? DEFAULT_CACHE_BYTES);
  }

  /** The block that the index stands at; undefined while it is empty. */
  get tip(): StoredHeader | undefined {
    return this.#position.tip;
  }

  /** undefined: the index is built from blocks. */
  get base(): Base | undefined {
    return this.#base;
  }

  /** Of the secret that the store has. @throws DamagedIndexError when it has none. */
  get hasher(): TxidHasher {
    return this.#hasher ??= TxidHasher.of(this.#options.store);
  }

  get undoDepth(): number {
    return this.#options.undoDepth;
  }

  /**
   * Reads where the index stands, from an open store; an empty one gets a secret.
   * @throws DamagedIndexError
   */
  async load(): Promise<void> {
    const { store } = this.#options;
    const value = store.get(TIP_KEY);
    const base = store.get(BASE_KEY);
    if (base !== undefined && value === undefined) throw new DamagedIndexError('copying the coins of the node was interrupted');
    this.#base = base && decodeBase(base);
    this.#moveTo(value === undefined ? EMPTY : this.#positionAt(decodeTip(value)));
    if (value === undefined) {
      for await (const [key] of store.range({ ...BLOCK_RECORDS, limit: 1 }))
        throw damaged(TIP_KEY, `a tip beside the record under ${key.toString('hex')}`, 'none');
      if (store.get(SECRET_KEY) === undefined) await store.batch([newSecret()], { durable: true });
    }
    this.#hasher = TxidHasher.of(store);
    await this.#dropOldUndo();
  }

  /** The rows of a serialized block for this index; they hold until the row maker is given them back. @throws as blockRows */
  rowsOf(raw: Buffer, height: number): Promise<BlockRows> {
    return this.rowMaker.make(raw, height, this.hasher);
  }

  /** Has as much memory for coins as a use takes. */
  prepareFor(use: StoreUse): void {
    const { cacheBytes = DEFAULT_CACHE_BYTES, catchUpCacheBytes = cacheBytes } = this.#options;
    this.#cache.resize(use === 'catching-up' ? catchUpCacheBytes : cacheBytes);
  }

  /** The header at a height up to the tip. @throws DamagedIndexError */
  headerAt(height: number): StoredHeader {
    const key = headerKey(height);
    const value = this.#options.store.get(key);
    if (value === undefined) throw damaged(key, 'a header', 'none');
    return decodeHeader(key, value);
  }

  /** A batch on top of the tip, or of the batch handed over last; to be committed before anything else changes the index. */
  batch(undoFrom = 0): BlockBatch {
    const { store, genesisHash, undoDepth } = this.#options;
    // What an abandoned batch has left there is not the state of the store.
    if (this.#writeFailed || !this.#cache.isClean) this.#cache.clear();
    this.#writeFailed = false;
    return new BlockBatch(this.#ahead ?? this.#position, { store, cache: this.#cache, hasher: this.hasher, genesisHash, undoDepth, undoFrom, ...this.#base && { base: new BaseSpends(this.#base) } });
  }

  /**
   * Writes a batch, after the one before is written. `onHandedOver` may be called when the store
   * has taken it all: the next batch can be filled while the store still writes. When this one
   * fails, that one is lost too.
   */
  async commit(batch: BlockBatch, { durable = false, onHandedOver = (): void => undefined } = {}): Promise<void> {
    const handOver = (): void => {
      this.#ahead = batch.position;
      if (this.#cache.handedOver()) onHandedOver();
    };
    try {
      await this.#options.store.batch(batch.writes(handOver), { durable });
    } catch (error) {
      this.#ahead = undefined;
      this.#writeFailed = true;
      throw error;
    }
    this.#ahead = undefined;
    this.#cache.written();
    this.#moveTo(batch.position);
  }

  /** Takes in a serialized block, durably. @throws IndexError when it does not fit; nothing is changed. */
  async apply(raw: Buffer): Promise<void> {
    const batch = this.batch();
    const rows = await this.rowsOf(raw, (this.#position.tip?.height ?? -1) + 1);
    await batch.addRows(rows);
    this.rowMaker.release(rows);
    await this.commit(batch, { durable: true });
  }

  /**
   * Takes the tip out again, durably, and returns it.
   * @throws IndexError at the genesis block, TooDeepError when there is no undo record, DamagedIndexError when it is damaged.
   */
  async undo(): Promise<BlockPoint> {
    const { store } = this.#options;
    const { tip } = this.#position;
    if (tip === undefined || tip.height === 0)
      throw new IndexError(`expected a block above the genesis block to undo, got ${tip === undefined ? 'an empty index' : 'the genesis block'}`);
    const key = undoKey(tip.height);
    const value = store.get(key);
    if (value === undefined)
      throw new TooDeepError(`expected an undo record for height ${tip.height}, got none`);
    const undo = decodeUndo(recordOf(key, value), tip.height);
    if (!undo.hash.equals(tip.hash))
      throw damaged(key, `undo of ${toDisplayHex(tip.hash)}`, toDisplayHex(undo.hash));
    this.#checkHeightOf(tip);
    const { hash, height } = this.headerAt(tip.height - 1);
    const position = this.#positionAt({ hash, height });
    this.#cache.clear();
    const writes = await undoWrites(undo, tip.height, { hash, height }, store);
    const change = this.#base && withoutBaseBlock(this.#base, tip.height, { hash, height }, writes, store);
    await store.batch(change?.writes ?? writes, { durable: true });
    this.#base = change?.base;
    this.#moveTo(position);
    return { hash: tip.hash, height: tip.height };
  }

  /** Writes what was filled in below the base; the tip stays. */
  async fill(writes: Iterable<StoreWrite>, base: Base): Promise<void> {
    const { store, onMove } = this.#options;
    await store.batch(withBase(writes, base), { durable: false });
    this.#base = base;
    onMove();
  }

  /** Ends what runs beside it; the store is another's. */
  async close(): Promise<void> {
    await this.rowMaker.close();
  }

  /** Forgets everything: the store is about to be cleared. */
  reset(): void {
    this.#cache.clear();
    this.#base = undefined;
    this.#hasher = undefined;
    this.#moveTo(EMPTY);
  }

  /** Each block drops the record that it makes too old; those of a larger undo depth of before are left. */
  async #dropOldUndo(): Promise<void> {
    const { store, undoDepth } = this.#options;
    const lowest = (this.tip?.height ?? 0) - undoDepth + 1;
    if (lowest <= 0) return;
    const writes: StoreWrite[] = [];
    for (const keyAt of [undoKey, spentBaseKey])
      for await (const [key] of store.range({ gte: keyAt(0), lt: keyAt(lowest) })) writes.push({ type: 'del', key });
    if (writes.length > 0) await store.batch(writes, { durable: false });
  }

  /** Nobody else reads this record while the headers are in memory. @throws DamagedIndexError */
  #checkHeightOf({ hash, height }: BlockPoint): void {
    const key = blockHashKey(hash);
    const value = this.#options.store.get(key);
    const stored = value && decodeHeight(key, value);
    if (stored !== height) throw damaged(key, `height ${height}`, String(stored));
  }

  #positionAt(point: BlockPoint): TipState {
    const first = Math.max(0, point.height - MEDIAN_TIME_SPAN + 1);
    const headers = Array.from({ length: point.height - first + 1 }, (_, i) => this.headerAt(first + i));
    const tip = headers.at(-1);
    if (tip === undefined || !tip.hash.equals(point.hash) || !hash256(tip.header).equals(point.hash))
      throw damaged(headerKey(point.height), `the header of ${toDisplayHex(point.hash)}`, tip === undefined ? 'none' : toDisplayHex(tip.hash));
    return { tip, times: headers.map(({ header }) => timeOf(header)) };
  }

  #moveTo(position: TipState): void {
    this.#position = position;
    this.#options.onMove();
  }
}

function* withBase(writes: Iterable<StoreWrite>, base: Base): Generator<StoreWrite> {
  yield* writes;
  yield putRecord(BASE_KEY, encodeBase(base));
}
