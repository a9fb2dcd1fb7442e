// Answers from the index, each reader from the state at one block.

import { SharedSnapshot, SnapshotHolder, type During, type Held } from '../../follow/held-snapshot';
import { IndexUnavailableError, NotYetKnownError } from '../errors';
import { findBase, withKnownBytes, isBackfilling, type Base } from '../records/base';
import { baseCoinIndex, baseCoinKey, baseCoinsOf, decodeBaseCoin } from '../records/base-coin';
import { decodeTip, HEADER_RECORD, headerAt, headerKey, headerRecordOf, heightOf, TIP_KEY } from '../records/chain';
import { coinAt, coinKey, coinsOfTransaction, transactionCoins, wantedCoins } from '../records/coin-record';
import { filterEntryOf, filterOf, staleFilterOf } from '../records/filter';
import { spanOf } from '../records/lengths';
import { positionOf } from '../records/position';
import { spentHashOf } from '../records/spent-hash';
import { TxidHasher } from '../records/txid-hash';
import { utxoHash, utxoSums } from '../utxo-hash/utxo-hash';
import { headerRunOf, HeaderTable } from './header-table';
import type { BlockPoint } from '../../node/types/chain';
import type { Store, StoreSnapshot } from '../../store/store';
import type { CoinCache } from '../coins/coin-cache';
import type { Position } from '../types';
import type {
  BackfillProgress,
  Coin,
  HeaderRecord,
  HeaderRun,
  HoldableReader,
  IndexSnapshot,
  IsWanted,
  TransactionCoin,
  TransactionLocation,
  TransactionPosition,
  UtxoHash,
  UtxoSums
} from '../types';

/** Headers in a run when it is read from the store. */
const STORED_AT_ONCE = 64;

/** In an outpoint the index has 32 bits; some clients name greater ones. */
const HIGHEST_OUTPUT_INDEX = 0xffff_ffff;

/** Transactions whose coins are looked up at once, if they are in memory. */
const FEW = 16;

/** What the writer has in memory. Readers at the writer's state answer from it. */
export interface IndexMemory {
  readonly headers: HeaderTable;
  /** A different number for each state of the index. */
  readonly state: number;
  /** The tip of that state; undefined for an empty index. */
  readonly tip: BlockPoint | undefined;
  /** The coin cache; undefined: it is at another state, or between two states. */
  coinCacheAt(state: number): CoinCache | undefined;
}

/** For an index without a writer: everything is read from the store. */
const noMemory = (): IndexMemory => ({ headers: new HeaderTable(), state: 0, tip: undefined, coinCacheAt: () => undefined });

export class SnapshotReader implements HoldableReader {
  readonly #snapshots: SnapshotHolder<StoreIndexSnapshot>;
  #closed = false;

  /**
   * `onDamage`: called when a reader meets a damaged record, or a store that cannot be read.
   * `memory`: the writer's.
   */
  constructor(store: Store, onDamage: (error: Error) => void, memory = noMemory()) {
    this.#snapshots = new SnapshotHolder({
      take: () => {
        if (this.#closed) throw new IndexUnavailableError('the index is closed');
        return StoreIndexSnapshot.take(store, memory);
      },
      unavailable: (message, options) => new IndexUnavailableError(message, options),
      name: 'the index',
      onDamage: (error) => {
        if (!this.#closed) onDamage(error);
      }
    });
  }

  read<T>(use: (snapshot: IndexSnapshot) => T): T {
    return this.#snapshots.read(use);
  }

  hold(): Held<IndexSnapshot> {
    return this.#snapshots.hold();
  }

  /** The index has moved: later reads see the new state. */
  renew(): void {
    this.#snapshots.drop();
  }

  /** From now on reads throw IndexUnavailableError; snapshots that are held stay open. */
  close(): void {
    this.#closed = true;
    this.renew();
  }
}

class StoreIndexSnapshot implements IndexSnapshot {
  readonly tip: HeaderRecord;
  readonly backfilling: BackfillProgress | undefined;
  readonly during: During;
  readonly #records: StoreSnapshot;
  readonly #hasher: TxidHasher;
  /** undefined: the index is built from blocks. */
  readonly #base: Base | undefined;
  readonly #memory: IndexMemory;
  /** The writer's number of this state; undefined: the writer was at another state. */
  readonly #state: number | undefined;
  /** The version in which the headers in memory are those of this state; undefined: they were of another state. */
  readonly #version: number | undefined;

  /** The state that the store is at. @throws IndexUnavailableError for an empty index, DamagedIndexError, StoreError */
  static take(store: Store, memory: IndexMemory): SharedSnapshot<StoreIndexSnapshot> {
    const records = store.snapshot();
    const close = (): void => {
      records.close();
    };
    try {
      return new SharedSnapshot((during) => new StoreIndexSnapshot(records, memory, during), close);
    } catch (error) {
      close();
      throw error;
    }
  }

  private constructor(records: StoreSnapshot, memory: IndexMemory, during: During) {
    this.during = during;
    this.#records = records;
    this.#base = findBase(records);
    this.backfilling = this.#base && isBackfilling(this.#base) ? { height: this.#base.positionsFrom, from: this.#base.height } : undefined;
    const value = records.get(TIP_KEY);
    if (value === undefined) throw new IndexUnavailableError('the index is empty');
    this.tip = this.#header(decodeTip(value).height);
    this.#hasher = TxidHasher.of(records);
    this.#memory = memory;
    const { headers, state, tip } = memory;
    this.#state = tip?.hash.equals(this.tip.hash) === true ? state : undefined;
    const { height, hash } = this.tip;
    // A header's hash determines all headers below it.
    this.#version = headers.length > height && headers.hashAt(height).equals(hash) ? headers.version : undefined;
  }

  coin(txid: Buffer, index: number): Coin | undefined {
    const cache = this.#cachedCoins();
    const stored = (): Coin | undefined => this.#storedCoin(txid, index);
    return cache === undefined ? stored() : cache.coin(txid, index, stored);
  }

  async coinsOf(txid: Buffer, position: Position): Promise<TransactionCoin[]> {
    const base = this.#base;
    const isOfBase = base !== undefined && position.height <= base.height;
    const coins: TransactionCoin[] = [];
    for await (const [key, value] of this.#records.range(isOfBase ? baseCoinsOf(txid) : coinsOfTransaction(position))) {
      if (!isOfBase) coins.push(...transactionCoins(key, value, position));
      else {
        const coin = decodeBaseCoin(key, value, base);
        if (coin !== undefined) coins.push({ ...coin, index: baseCoinIndex(key) });
      }
    }
    return coins;
  }

  firstCoinsAt(positions: readonly Position[], isWanted: IsWanted): TransactionCoin[][] | Promise<TransactionCoin[][]> {
    const keys = positions.map((position) => coinKey(position, 0));
    const coinsIn = (values: readonly (Buffer | undefined)[]): TransactionCoin[][] =>
      positions.map((position, i) => {
        const [key, value] = [keys[i] as Buffer, values[i]]; // one for each
        return value === undefined ? [] : wantedCoins(key, value, position, isWanted);
      });
    const values = keys.length > FEW ? this.#records.load(keys) : this.#records.few(keys);
    return values instanceof Promise ? values.then(coinsIn) : coinsIn(values);
  }

  location(txid: Buffer): TransactionLocation | undefined {
    const position = this.#knownPosition(txid);
    return position && this.locationAt(position);
  }

  locationAt(position: Position): TransactionLocation {
    const { offset, length, blockLength } = spanOf(this.#records, position);
    return { block: this.#blockAt(position.height), offset, length, blockLength };
  }

  position(txid: Buffer): TransactionPosition | undefined {
    const position = this.#knownPosition(txid);
    return position && { block: this.#blockAt(position.height), index: position.index };
  }

  heightOf(hash: Buffer): number | undefined {
    if (this.#version !== this.#memory.headers.version) return heightOf(this.#records, hash);
    const height = this.#memory.headers.heightOf(hash);
    return height !== undefined && height <= this.tip.height ? height : undefined;
  }

  headerAt(height: number): HeaderRecord | undefined {
    return height >= 0 && height <= this.tip.height ? this.#header(height) : undefined;
  }

  headerRun(height: number, count: number): HeaderRun | undefined {
    const length = this.tip.height + 1;
    if (height < 0 || height >= length) return undefined;
    if (this.#version === this.#memory.headers.version) return this.#memory.headers.run(height, count, length);
    const end = Math.min(height + Math.min(count, STORED_AT_ONCE), length);
    const recordAt = (at: number): Buffer => headerRecordOf(headerKey(at), this.#records.get(headerKey(at)));
    const records = Array.from({ length: end - height }, (_, i) => recordAt(height + i));
    const next = end < length ? recordAt(end) : undefined;
    return headerRunOf(height, records, next?.subarray(HEADER_RECORD.hash.start, HEADER_RECORD.hash.end));
  }

  filterAt(height: number): Buffer | undefined {
    return height > this.tip.height ? undefined : filterOf(this.#records, this.#blockAt(height));
  }

  filterHeaderAt(height: number): Buffer | undefined {
    return height > this.tip.height ? undefined : filterEntryOf(this.#records, this.#blockAt(height))?.header;
  }

  staleFilter(hash: Buffer): Buffer | undefined {
    return staleFilterOf(this.#records, hash);
  }

  spentHash(hash: Buffer): Buffer | undefined {
    return spentHashOf(this.#records, hash);
  }

  utxoSums(onRecord: () => void): Promise<UtxoSums> {
    return utxoSums(this.#records, onRecord);
  }

  utxoHash(txidsOf: (height: number) => Promise<Buffer>, onRecord: () => void): Promise<UtxoHash> {
    return utxoHash(this.#records, { txidsOf, onRecord });
  }

  #storedCoin(txid: Buffer, index: number): Coin | undefined {
    if (index > HIGHEST_OUTPUT_INDEX) return undefined;
    const position = positionOf(this.#records, this.#hasher, txid);
    if (this.#base !== undefined && (position === undefined || position.height <= this.#base.height)) {
      const key = baseCoinKey(txid, index);
      const value = this.#records.get(key);
      return value && decodeBaseCoin(key, value, this.#base);
    }
    return position && coinAt(this.#records, position, index);
  }

  /** undefined: no block has it. @throws NotYetKnownError when a block that is not backfilled may have it. */
  #knownPosition(txid: Buffer): Position | undefined {
    const position = this.#cachedCoins()?.position(txid) ?? positionOf(this.#records, this.#hasher, txid);
    if (position === undefined && this.#base !== undefined && this.#base.positionsFrom > 0) throw new NotYetKnownError(this.backfilling);
    return position;
  }

  #cachedCoins(): CoinCache | undefined {
    return this.#state === undefined ? undefined : this.#memory.coinCacheAt(this.#state);
  }

  #blockAt(height: number): BlockPoint {
    return {
      hash: this.#version === this.#memory.headers.version ? this.#memory.headers.hashAt(height) : this.#header(height).hash,
      height
    };
  }

  /** @throws DamagedIndexError */
  #header(height: number): HeaderRecord {
    const header = headerAt(this.#records, height);
    return this.#base === undefined ? header : withKnownBytes(this.#base, header);
  }
}
