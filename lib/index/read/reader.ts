// Answers from the index, each reader from the state of one block. The readers of a block
// share one snapshot of the store; it is taken at the first read after the index moved and
// closed when the last reader has left it.

import { StoreError } from '../../store/errors';
import { BASE_KEY, decodeBase, headerOver, isBackfilling, type Base } from '../records/base';
import { baseCoinKey, decodeBaseCoin } from '../coins/base-spends';
import { DamagedIndexError, IndexUnavailableError, NotYetKnownError } from '../errors';
import { HeaderMemory } from './header-memory';
import { headerRunOf, type HeaderTable } from './header-table';
import { blockHashKey, damaged, decodeHeader, decodeHeight, decodePosition, decodeTip, headerKey, HEADER_RECORD, headerRecordOf, lengthsKey, positionKey, TIP_KEY, type Position } from '../records/layout';
import { coinIn, coinKeyOf, spanOf } from '../records/location-record';
import { TxidHasher } from '../records/txid-hash';
import type { Store, StoreSnapshot } from '../../store/store';
import type { Coin, BackfillProgress, HeaderRecord, HeaderRun, IndexReader, IndexSnapshot, TransactionLocation, TransactionPosition } from '../types';

/** Headers in a run that is read from the store. */
const STORED_AT_ONCE = 64;

export class SnapshotReader implements IndexReader {
  readonly #store: Store;
  readonly #onTrouble: (error: Error) => void;
  readonly #headers: HeaderMemory;
  #current: SharedSnapshot | undefined;
  #closed = false;

  /** `onTrouble`: called when a reader meets a damaged record, or a store that cannot be read. */
  constructor(store: Store, onTrouble: (error: Error) => void) {
    this.#store = store;
    this.#onTrouble = onTrouble;
    this.#headers = new HeaderMemory(store);
  }

  /** A promise that `use` returns holds the state until it is settled. */
  read<T>(use: (snapshot: IndexSnapshot) => T): T {
    if (this.#closed) throw new IndexUnavailableError('the index is closed');
    const shared = this.#share();
    shared.hold();
    let result: T;
    try {
      result = use(shared.snapshot);
    } catch (error) {
      shared.release();
      throw this.#judge(error, shared);
    }
    if (result instanceof Promise)
      return result.catch((error: unknown) => { throw this.#judge(error, shared); }).finally(() => shared.release()) as T;
    shared.release();
    return result;
  }

  /** The index has moved: later reads see the new state. */
  renew(): void {
    this.#current?.release();
    this.#current = undefined;
  }

  close(): void {
    this.#closed = true;
    this.#headers.close();
    this.renew();
  }

  #share(): SharedSnapshot {
    try {
      return this.#current ??= this.#take();
    } catch (error) {
      throw this.#judge(error, this.#current);
    }
  }

  #take(): SharedSnapshot {
    const records = this.#store.snapshot();
    try {
      return new SharedSnapshot(new StoreIndexSnapshot(records, this.#headers), records);
    } catch (error) {
      records.close();
      throw error;
    }
  }

  /** What the reader is told instead of what the index must see to. A state of before is nobody's trouble any more. */
  #judge(error: unknown, shared: SharedSnapshot | undefined): unknown {
    if (!(error instanceof DamagedIndexError || error instanceof StoreError)) return error;
    // The store is closed before the index is open, and for a moment while it is cleared.
    if (error instanceof StoreError && error.reason === 'closed') return new IndexUnavailableError('the index is not open', { cause: error });
    if (shared === this.#current && !this.#closed) this.#onTrouble(error);
    return new IndexUnavailableError(error.message, { cause: error });
  }
}

/** A snapshot that is closed when nobody holds it; whoever makes it holds it first. */
class SharedSnapshot {
  #holders = 1;

  constructor(readonly snapshot: IndexSnapshot, private readonly records: StoreSnapshot) {}

  hold(): void {
    this.#holders++;
  }

  release(): void {
    if (--this.#holders === 0) this.records.close();
  }
}

class StoreIndexSnapshot implements IndexSnapshot {
  readonly tip: HeaderRecord;
  readonly backfilling: BackfillProgress | undefined;
  private readonly hasher: TxidHasher;
  /** undefined: the index is built from blocks. */
  private readonly base: Base | undefined;

  constructor(private readonly records: StoreSnapshot, private readonly headers: HeaderMemory) {
    const base = records.get(BASE_KEY);
    this.base = base && decodeBase(base);
    this.backfilling = this.base && isBackfilling(this.base) ? { height: this.base.positionsFrom, from: this.base.height } : undefined;
    const value = records.get(TIP_KEY);
    if (value === undefined) throw new IndexUnavailableError('the index is empty');
    this.tip = this.header(decodeTip(value).height);
    this.hasher = TxidHasher.of(records);
  }

  coin(txid: Buffer, index: number): Coin | undefined {
    const place = this.placeOf(txid);
    if (this.base !== undefined && (place === undefined || place.height <= this.base.height)) return this.baseCoin(txid, index, this.base);
    if (place === undefined) return undefined;
    const key = coinKeyOf(place, index);
    const value = this.records.get(key);
    return value && coinIn(key, value, place, index);
  }

  position(txid: Buffer): TransactionPosition | undefined {
    const place = this.knownPlaceOf(txid);
    if (place === undefined) return undefined;
    const { height, index: position } = place;
    return { block: { hash: this.table()?.hashAt(height) ?? this.header(height).hash, height }, index: position };
  }

  location(txid: Buffer): TransactionLocation | undefined {
    const place = this.knownPlaceOf(txid);
    if (place === undefined) return undefined;
    const { height, index: position } = place;
    const key = lengthsKey(height);
    const value = this.records.get(key);
    if (value === undefined) throw damaged(key, 'lengths of transactions', 'none');
    return { block: { hash: this.header(height).hash, height }, ...spanOf(key, value, position) };
  }

  heightOf(hash: Buffer): number | undefined {
    const table = this.table();
    if (table !== undefined) return table.heightOf(hash);
    const key = blockHashKey(hash);
    const value = this.records.get(key);
    return value && decodeHeight(key, value);
  }

  headerAt(height: number): HeaderRecord | undefined {
    return height >= 0 && height <= this.tip.height ? this.header(height) : undefined;
  }

  private baseCoin(txid: Buffer, index: number, base: Base): Coin | undefined {
    const key = baseCoinKey(txid, index);
    const value = this.records.get(key);
    return value && decodeBaseCoin(key, value, base);
  }

  headerRun(height: number, count: number): HeaderRun | undefined {
    if (height < 0 || height > this.tip.height) return undefined;
    return this.table()?.run(height, count) ?? this.storedRun(height, Math.min(count, STORED_AT_ONCE));
  }

  private storedRun(height: number, most: number): HeaderRun {
    const end = Math.min(height + most, this.tip.height + 1);
    const records = Array.from({ length: end - height }, (_, i) => this.headerRecord(height + i));
    const next = end <= this.tip.height ? this.headerRecord(end) : undefined;
    return headerRunOf(height, records, next?.subarray(HEADER_RECORD.hash.start, HEADER_RECORD.hash.end));
  }

  /** The headers in memory, while they are those of this state; not before they are complete. */
  private table(): HeaderTable | undefined {
    return this.backfilling !== undefined ? undefined : this.headers.tableAt(this.tip, (height) => this.headerRecord(height));
  }

  /** undefined: no block has it. @throws NotYetKnownError when a block that is not filled in may have it. */
  private knownPlaceOf(txid: Buffer): Position | undefined {
    const place = this.placeOf(txid);
    if (place === undefined && this.base !== undefined && this.base.positionsFrom > 0) throw new NotYetKnownError(this.backfilling);
    return place;
  }

  /** undefined: it stands in no block whose transactions are known. */
  private placeOf(txid: Buffer): Position | undefined {
    const key = positionKey(this.hasher.hash(txid));
    const value = this.records.get(key);
    return value && decodePosition(key, value);
  }

  /** A header that must be there. */
  private header(height: number): HeaderRecord {
    const key = headerKey(height);
    const header = decodeHeader(key, this.headerValue(key));
    return this.base === undefined ? header : headerOver(this.base, header);
  }

  private headerRecord(height: number): Buffer {
    const key = headerKey(height);
    return headerRecordOf(key, this.headerValue(key));
  }

  private headerValue(key: Buffer): Buffer {
    const value = this.records.get(key);
    if (value === undefined) throw damaged(key, 'a header', 'none');
    return value;
  }
}
