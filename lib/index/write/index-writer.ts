// The only writer of the index. Every change is one atomic batch that also moves the tip record;
// the state in memory moves after it. While following, a block is on the disk once it is in the index.
// While catching up, a power cut may lose the last batches; the node still has their blocks.
//
// How batches are written. While the store writes one to the disk, the next one is filled with blocks:
//
//   batch 1   fill | the store takes the writes | the store writes ........... | written: memory moves
//                                               | handedOver
//   batch 2                                     | fill, on top of batch 1 .... | the store takes the writes | ...
//
// The store asks for one write after another and copies each, since all writes of a batch share the same few buffers. Once
// it has taken them all, the coin cache counts them as written, and may change again: that is `handedOver`. Only if the
// two generations of the cache are about to swap must the cache wait, since what the old one drops has to be in the store;
// then `handedOver` comes with `written`. When a write fails, the batch on top of it is lost too: both fail with the same
// error, the cache is emptied, and the next batch is made on top of what is written.

import { hash256, toDisplayHex } from '../../bitcoin/hash';
import { MEDIAN_TIME_SPAN, timeOf } from '../../bitcoin/header';
import { BaseSpends } from '../coins/base-spends';
import { CoinCache } from '../coins/coin-cache';
import { HeaderTable } from '../read/header-table';
import { findBase, isBackfilling, putBase, type Base } from '../records/base';
import { spentBaseKey } from '../records/base-coin';
import {
  blockHashKey,
  findTip,
  headerAt,
  headerKey,
  headerRecordOf,
  heightOf,
  NO_HEADERS,
  type HeaderChain,
  type StoredHeader
} from '../records/chain';
import { dropOldUndo, requireUndo, requireUndoable } from '../records/chain-steps';
import { filterTipOf, isFilled, NO_FILTERS, putFilterSpan, type FilterTip } from '../records/filter';
import { damaged, recordOf } from '../records/layout';
import { newSecret, SECRET_KEY, TxidHasher } from '../records/txid-hash';
import { decodeUndo, undoKey } from '../records/undo-record';
import { RowMaker } from '../scan/row-maker';
import { BlockBatch, type ChainEnd } from './block-batch';
import { undoBaseWrites, undoWrites } from './undo-block';
import type { BlockPoint } from '../../node/types/chain';
import type { Store, StoreUse, StoreWrite } from '../../store/store';
import type { BlockRows } from '../scan/rows';
import type { IndexFigures } from '../types';

export interface IndexWriterOptions {
  readonly store: Store;
  readonly genesisHash: Buffer;
  /** How many blocks up to the tip can be undone. */
  readonly undoDepth: number;
  /** Memory for the coin cache. */
  readonly cacheBytes?: number;
  /** Memory for the coin cache while the index catches up; `cacheBytes` unless given. */
  readonly catchUpCacheBytes?: number;
  /** Whether blocks get filters (records/filter.ts). */
  readonly filters?: boolean;
  /** Whether blocks get a hash over the coins that they spend (records/spent-hash.ts); not in an index with a base. */
  readonly spentHashes?: boolean;
  /** Called in the tick in which the tip moves. */
  readonly onMove: () => void;
  /** Called when the thread that scans large blocks is lost; they are scanned on the event loop from then on. */
  readonly onThreadLost?: (reason: string) => void;
}

/** The write of a batch. If it fails, both promises reject with the same error; neither has to be awaited. */
export interface CommittedBatch {
  /** The next batch may be filled. */
  readonly handedOver: Promise<void>;
  /** The index is at the last block of the batch. */
  readonly written: Promise<void>;
}

export const DEFAULT_CACHE_BYTES = 256 * 1_024 * 1_024;

const EMPTY: ChainEnd = { chain: NO_HEADERS, filters: undefined };

export class IndexWriter {
  readonly #options: IndexWriterOptions;
  readonly #cache: CoinCache;
  /** Scans blocks (rowsOf). */
  readonly rowMaker: RowMaker;
  /** For readers. Empty during a backfill, which still changes the records of headers. */
  readonly headers = new HeaderTable();
  /** The end after the last block that is written. */
  #end = EMPTY;
  /** Counts how often the tip has moved. */
  #state = 0;
  /** The end after the last block that was handed over, until that block is written. */
  #ahead: ChainEnd | undefined;
  /** The write of the batch committed last. */
  #writing: Promise<void> = Promise.resolve();
  /** Why the last write failed; batches started before the failure cannot be committed. */
  #failure: { readonly error: unknown } | undefined;
  #base: Base | undefined;
  #hasher: TxidHasher | undefined;

  constructor(options: IndexWriterOptions) {
    this.#options = options;
    this.rowMaker = new RowMaker(options.onThreadLost, options.filters);
    this.#cache = new CoinCache(options.cacheBytes ?? DEFAULT_CACHE_BYTES);
  }

  /** The block that the index is at; undefined while the index is empty. */
  get tip(): StoredHeader | undefined {
    return this.#end.chain.tip;
  }

  /** undefined: the index is built from blocks. */
  get base(): Base | undefined {
    return this.#base;
  }

  /** What the filter header of the next block builds on; undefined: no filters are made. */
  get filters(): FilterTip | undefined {
    return this.#end.filters;
  }

  /** The hasher of the index. @throws DamagedIndexError when the store has no secret. */
  get hasher(): TxidHasher {
    return (this.#hasher ??= TxidHasher.of(this.#options.store));
  }

  /**
   * The coin cache, if it is at this state. undefined otherwise: it is ahead while a batch is filled and written, and invalid
   * after a failed write.
   */
  coinCacheAt(state: number): CoinCache | undefined {
    const isSettled = this.#ahead === undefined && this.#failure === undefined && this.#cache.isClean;
    return isSettled && this.#state === state ? this.#cache : undefined;
  }

  /** What the index reports about its memory, and about work that it does step by step. */
  get figures(): Omit<IndexFigures, 'scrub' | 'undoable'> {
    const { hits, misses, size } = this.#cache;
    const { tip, filters } = this;
    const base = this.#base;
    /** Of the blocks up to a height those from another one up. */
    const done = (from: number, height: number): number => 1 - from / (height + 1);
    return {
      height: tip?.height,
      coins: { hits, misses, byteLength: size },
      headers: this.headers.length,
      backfill: base !== undefined && isBackfilling(base) ? done(base.positionsFrom, base.height) : undefined,
      filters: filters === undefined || tip === undefined || isFilled(filters) ? undefined : done(filters.from, tip.height)
    };
  }

  /** A number that changes whenever the tip moves. */
  get state(): number {
    return this.#state;
  }

  get undoDepth(): number {
    return this.#options.undoDepth;
  }

  /**
   * Reads the state of the index from an open store; an empty store gets a secret.
   * @throws DamagedIndexError
   */
  async load(): Promise<void> {
    const { store } = this.#options;
    this.#base = findBase(store);
    const tip = await findTip(store);
    this.#moveTo({ ...this.#end, chain: tip === undefined ? NO_HEADERS : this.#chainUpTo(tip) });
    if (tip === undefined && store.get(SECRET_KEY) === undefined) await store.batch([newSecret()], { durable: true });
    this.#hasher = TxidHasher.of(store);
    this.#loadFilters();
    await dropOldUndo(store, this.tip, this.undoDepth, [undoKey, spentBaseKey]);
    await this.#loadHeaders();
  }

  /**
   * The rows of a serialized block for this index; valid until they are released (rowMaker). `txids`: of the block, concatenated, if they
   * are known.
   * @throws as blockRows
   */
  rowsOf(raw: Buffer, height: number, txids?: Buffer): Promise<BlockRows> {
    return this.rowMaker.make(raw, height, this.hasher, txids);
  }

  /** Gives the coin cache the size for a use. */
  prepareFor(use: StoreUse): void {
    const { cacheBytes = DEFAULT_CACHE_BYTES, catchUpCacheBytes = cacheBytes } = this.#options;
    this.#cache.resize(use === 'catching-up' ? catchUpCacheBytes : cacheBytes);
  }

  /** The header at a height up to the tip. @throws DamagedIndexError */
  headerAt(height: number): StoredHeader {
    return headerAt(this.#options.store, height);
  }

  /** A batch on top of the tip, or of the batch handed over last; must be committed before anything else changes the index. */
  batch(undoFrom = 0): BlockBatch {
    const { store, genesisHash, undoDepth, spentHashes = false } = this.#options;
    // The changes of an abandoned batch, which are still in the cache, never reach the store.
    if (this.#failure !== undefined || !this.#cache.isClean) this.#cache.clear();
    this.#failure = undefined;
    const base = this.#base && { base: new BaseSpends(this.#base) };
    return new BlockBatch(this.#ahead ?? this.#end, {
      store,
      cache: this.#cache,
      hasher: this.hasher,
      genesisHash,
      undoDepth,
      undoFrom,
      spentHashes: spentHashes && base === undefined,
      ...base
    });
  }

  /** Writes a batch, once the one before is written. */
  commit(batch: BlockBatch, { durable = false } = {}): CommittedBatch {
    let handOver = (): void => undefined;
    const early = new Promise<void>((resolve) => {
      handOver = resolve;
    });
    const written = (this.#writing = this.#write(batch, durable, handOver));
    const handedOver = Promise.race([early, written]);
    // An unhandled rejection would end the node.
    for (const promise of [handedOver, written]) promise.catch(() => undefined);
    return { handedOver, written };
  }

  async #write(batch: BlockBatch, durable: boolean, handOver: () => void): Promise<void> {
    if (this.#ahead !== undefined) await this.#writing;
    if (this.#failure !== undefined) throw this.#failure.error;
    const onTaken = (): void => {
      batch.dropWrites();
      this.#ahead = batch.end;
      if (this.#cache.handedOver()) handOver();
    };
    try {
      await this.#options.store.batch(batch.writes(), { durable, onTaken });
    } catch (error) {
      this.#failure = { error };
      throw error;
    } finally {
      this.#ahead = undefined;
    }
    this.#cache.written();
    for (const { point, header } of batch.blocks) this.headers.push(point.height, header);
    this.#moveTo(batch.end);
  }

  /** Connects a serialized block, durably. `txids`: as in `rowsOf`. @throws IndexError when it does not fit; nothing is changed. */
  async apply(raw: Buffer, txids?: Buffer): Promise<void> {
    const batch = this.batch();
    const rows = await this.rowsOf(raw, (this.tip?.height ?? -1) + 1, txids);
    await batch.add(rows);
    this.rowMaker.release(rows);
    await this.commit(batch, { durable: true }).written;
  }

  /**
   * Disconnects the tip, durably, and returns it.
   * @throws IndexError at the genesis block, TooDeepError when there is no undo record, DamagedIndexError when it is damaged.
   */
  async undo(): Promise<BlockPoint> {
    const { store } = this.#options;
    const tip = requireUndoable(this.tip);
    const key = undoKey(tip.height);
    const value = requireUndo(store.get(key), tip);
    const undo = decodeUndo(recordOf(key, value), tip.height);
    if (!undo.hash.equals(tip.hash)) throw damaged(key, `undo of ${toDisplayHex(tip.hash)}`, toDisplayHex(undo.hash));
    // While the headers are in memory, this is the only read of the record.
    const stored = heightOf(store, tip.hash);
    if (stored !== tip.height) throw damaged(blockHashKey(tip.hash), `height ${tip.height}`, String(stored));
    const { hash, height } = this.headerAt(tip.height - 1);
    const previous = { hash, height };
    const chain = this.#chainUpTo(previous);
    this.#cache.clear();
    const writes = await undoWrites(undo, tip.height, previous, store);
    const [baseWrites, base] = this.#base === undefined ? [[], undefined] : undoBaseWrites(this.#base, tip.height, previous, store);
    await store.batch([...writes, ...baseWrites], { durable: true });
    this.#base = base;
    this.headers.pop(tip.height);
    this.#moveTo({ ...this.#end, chain });
    this.#loadFilters();
    return { hash: tip.hash, height: tip.height };
  }

  /** Writes what was backfilled, with the base as it is afterwards; the tip stays. */
  async writeBackfill(writes: Iterable<StoreWrite>, base: Base): Promise<void> {
    const { store, onMove } = this.#options;
    await store.batch(withBase(writes, base), { durable: false });
    this.#base = base;
    if (!isBackfilling(base)) await this.#loadHeaders();
    onMove();
  }

  /** Writes filters that were missing; afterwards all blocks from the height `from` up have filters. */
  async writeFilters(writes: Iterable<StoreWrite>, from: number): Promise<void> {
    const { store, onMove } = this.#options;
    const { tip } = this;
    if (tip === undefined) return;
    await store.batch([...writes, putFilterSpan({ ...tip, from })], { durable: false });
    this.#loadFilters();
    onMove();
  }

  /** Ends the scanning thread. The store stays open. */
  async close(): Promise<void> {
    await this.rowMaker.close();
  }

  /** Forgets everything: the store is about to be cleared. */
  reset(): void {
    this.#cache.clear();
    this.#base = this.#hasher = undefined;
    this.headers.pop(0);
    this.#moveTo(EMPTY);
  }

  /** @throws DamagedIndexError */
  #loadFilters(): void {
    const { filters = false, store } = this.#options;
    const { tip } = this;
    this.#end = { ...this.#end, filters: !filters ? undefined : tip === undefined ? NO_FILTERS : filterTipOf(store, tip) };
  }

  /** @throws DamagedIndexError */
  async #loadHeaders(): Promise<void> {
    const { headers, tip } = this;
    headers.pop(0);
    if (tip === undefined || (this.#base !== undefined && isBackfilling(this.#base))) return;
    for await (const [key, value] of this.#options.store.range({ gte: headerKey(0), lt: headerKey(tip.height + 1) }))
      headers.push(key.readUInt32BE(1), headerRecordOf(key, value));
    if (headers.length <= tip.height) throw damaged(headerKey(headers.length), 'a header', 'none');
  }

  /** @throws DamagedIndexError */
  #chainUpTo({ hash, height }: BlockPoint): HeaderChain {
    const first = Math.max(0, height - MEDIAN_TIME_SPAN + 1);
    const headers = Array.from({ length: height - first + 1 }, (_, i) => this.headerAt(first + i));
    const tip = headers.at(-1);
    if (tip === undefined || !tip.hash.equals(hash) || !hash256(tip.header).equals(hash))
      throw damaged(headerKey(height), `the header of ${toDisplayHex(hash)}`, tip === undefined ? 'none' : toDisplayHex(tip.hash));
    return { tip, times: headers.map(({ header }) => timeOf(header)) };
  }

  #moveTo(end: ChainEnd): void {
    this.#end = end;
    this.#state++;
    this.#options.onMove();
  }
}

function* withBase(writes: Iterable<StoreWrite>, base: Base): Generator<StoreWrite> {
  yield* writes;
  yield putBase(base);
}
