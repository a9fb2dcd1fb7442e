// Answers by script from one state of the store. Secret and tip are read in the constructor; everything else is read off the event loop,
// which must not wait while LevelDB installs large tables.

import { setImmediate } from 'node:timers/promises';
import { scriptHashOf } from '../../bitcoin/hash';
import { decodeTip, TIP_KEY } from '../../index/records/chain';
import { DamagedIndexError } from '../../follow/errors';
import { HistoryTooLongError, ScriptsUnavailableError, TooManyCoinsError } from '../errors';
import { ScriptHasher } from '../records/script-hasher';
import { TXID_LENGTH } from '../records/block-txids';
import { packed } from '../records/positions';
import { isAbove, recordsUpwards, rowsDownwards, rowsUpwards, type FoundRow } from './row-walk';
import type { Position, IndexSnapshot, TransactionCoin } from '../../index/types';
import type { Records } from '../../index/records/layout';
import type { BlockPoint } from '../../node/types';
import type { StoreSnapshot } from '../../store/store';
import type { LastChanges } from '../records/last-changes';
import type { TxidView } from '../txids/txid-view';
import type { FundingOutputs, HistoryPage, ScriptCoin, ScriptRow, ScriptSnapshot, ScriptTotals, WalkOptions } from '../types';

/** Rows whose txids are looked up together. Each lookup reads a record of up to two kilobytes. */
const TXIDS_AT_ONCE = 256;
/** Transactions whose coins are looked up together. */
const COINS_AT_ONCE = 256;
/** Transactions whose coins are looked up at the same time, each with a separate read. */
const SCANS_AT_ONCE = 16;
/** A history with fewer rows is read at once. In a longer one the coins are counted first. */
const SHORT_HISTORY = 512;
/** Most rows that are read to find coins; most transactions that are looked up for that, each with a separate read. */
const MOST_ROWS_FOR_COINS = 1_000_000;
const MOST_SCANS = 20_000;
/** Rows that are counted between two turns of the event loop: about a millisecond. */
const ROWS_PER_TURN = 512;
/** Hints of inputs that are compared in the time in which a row is read. */
const HINTS_PER_ROW = 64;

/** What a writer knows of its store. */
export interface WrittenState {
  readonly changes: LastChanges;
  readonly txids: TxidView;
}

export class StoredScriptSnapshot implements ScriptSnapshot {
  readonly index: IndexSnapshot;
  readonly stamp: number;
  readonly #tip: BlockPoint;
  readonly #records: StoreSnapshot;
  readonly #hasher: ScriptHasher;
  readonly #changes: LastChanges;
  readonly #txids: TxidView;
  readonly during: ScriptSnapshot['during'];

  /**
   * `records`: a snapshot of the store, taken in this turn, at the block of `index`; the caller closes it, but not during work that `during`
   * was given. `written`: of the writer of the store, in this turn.
   * @throws ScriptsUnavailableError for an index without blocks, DamagedIndexError
   */
  constructor(records: StoreSnapshot, index: IndexSnapshot, { changes, txids }: WrittenState, during: ScriptSnapshot['during']) {
    const tip = StoredScriptSnapshot.tipOf(records);
    if (tip === undefined) throw new ScriptsUnavailableError('the index by script is empty');
    this.#tip = tip;
    this.index = index;
    this.stamp = changes.now;
    this.#changes = changes;
    this.#txids = txids;
    this.#records = records;
    this.during = during;
    this.#hasher = ScriptHasher.of(records);
  }

  /** The tip of a store; undefined while it is empty, or being filled. @throws DamagedIndexError */
  static tipOf(records: Records): BlockPoint | undefined {
    const value = records.get(TIP_KEY);
    return value && decodeTip(value);
  }

  hasSameRows(script: Buffer, stamp: number): boolean {
    return this.#changes.areSame(this.#hasher.hash(script), stamp, this.stamp);
  }

  async history(script: Buffer, { beyond, limit, ascending = false }: HistoryPage): Promise<ScriptRow[]> {
    const page: ScriptRow[] = [];
    const walk = ascending ? rowsUpwards : rowsDownwards;
    for (let from = beyond; page.length < limit;) {
      const wanted = Math.min(TXIDS_AT_ONCE, limit - page.length);
      const found = await firstOf(walk(this.#records, this.#hasher.hash(script), from, wanted), wanted);
      page.push(...(await this.#lastPositions(found)));
      from = found.at(-1)?.position;
      if (found.length < wanted) break;
    }
    return page;
  }

  /** A txid that is in the chain twice counts twice: both blocks paid. @throws HistoryTooLongError for more rows than `most`, and as `exact` */
  async totals(
    script: Buffer,
    most: number,
    { beyond, goOn = GO_ON }: Parameters<ScriptSnapshot['totals']>[2] = {}
  ): Promise<ScriptTotals> {
    const sums = new RunningTotals();
    let turnEnd = ROWS_PER_TURN;
    for await (const cursor of recordsUpwards(this.#records, this.#hasher.hash(script), beyond)) {
      while (cursor.next())
        if (beyond === undefined || isAbove(cursor, beyond))
          sums.add(cursor.fundedCount, cursor.fundedValue, cursor.spentCount, cursor.spentValue);
      if (sums.transactions > most) throw new HistoryTooLongError(`more than ${most} transactions have to do with the script`);
      if (sums.transactions < turnEnd) continue;
      turnEnd = sums.transactions + ROWS_PER_TURN;
      await setImmediate();
      goOn();
    }
    return exact(sums.totals());
  }

  async coins(script: Buffer, most: number, { totals, goOn = GO_ON }: Parameters<ScriptSnapshot['coins']>[2] = {}): Promise<ScriptCoin[]> {
    const counted = totals ?? (() => this.totals(script, MOST_ROWS_FOR_COINS, { goOn }));
    const key = this.#hasher.hash(script);
    const newest = await firstOf(rowsDownwards(this.#records, key, undefined, SHORT_HISTORY), SHORT_HISTORY);
    const isShort = newest.length < SHORT_HISTORY;
    const { funded, spent } = isShort ? totalsOf(newest) : await counted();
    // There may be fewer: outputs that nobody can spend are not coins, and a txid that is in the chain twice has its coins only once.
    const unspent = funded.count - spent.count;
    const tooMany = (): Error => new TooManyCoinsError(`more than ${most} coins are the script's`);
    if (!isShort && unspent > most) throw tooMany();
    const rows = (): Rows => (isShort ? newest : rowsDownwards(this.#records, key));
    const found = await this.#firstCoins(rows(), script, unspent, goOn);
    const coins = found ?? (await this.#scannedCoins(rows(), script, unspent, goOn));
    if (coins.length > most) throw tooMany();
    return coins.reverse();
  }

  async *spenders(
    script: Buffer,
    { txid, position, indexes }: FundingOutputs,
    { walked = GO_ON }: WalkOptions = {}
  ): AsyncGenerator<Position, void> {
    const hints = new Set(indexes.map((index) => this.#hasher.hint(txid, index)));
    let [rows, work] = [0, 0];
    for await (const cursor of recordsUpwards(this.#records, this.#hasher.hash(script), position)) {
      for (; cursor.next(); rows++, work += 1 + cursor.spentCount / HINTS_PER_ROW)
        if (cursor.hasHint(hints) && isAbove(cursor, position)) {
          walked(rows);
          rows = 0;
          yield { height: cursor.height, index: cursor.index };
        }
      if (work < ROWS_PER_TURN) continue;
      await setImmediate();
      walked(rows);
      rows = work = 0;
    }
    walked(rows);
  }

  async txids(height: number): Promise<Buffer[]> {
    if (height < 0 || height > this.#tip.height) throw new RangeError(`expected a height up to ${this.#tip.height}, got ${height}`);
    const bytes = await this.#txids.of(this.#txids.positionsIn(height));
    const [count, expected] = [bytes.length / TXID_LENGTH, this.index.headerAt(height)?.transactionCount ?? 0];
    if (expected !== 0 && expected !== count)
      throw new DamagedIndexError(`expected txids of ${expected} transactions of the block at height ${height}, got ${count}`);
    return Array.from({ length: count }, (_, index) => txidIn(bytes, index));
  }

  txidAt(position: Position): Buffer | undefined {
    return this.#txids.at(position);
  }

  /** The rows with their txids, except those whose txid is in the chain again later (before BIP30). @throws DamagedIndexError */
  async #lastPositions(rows: readonly FoundRow[]): Promise<ScriptRow[]> {
    const txids = await this.#txidsAt(rows.map(({ position }) => position));
    const found: ScriptRow[] = [];
    for (const [i, { position, funded, spent }] of rows.entries()) {
      const txid = txids[i] as Buffer; // one for each
      // Only a coinbase can have the txid of another transaction.
      const isLast = position.index > 0 || this.index.position(txid)?.block.height === position.height;
      if (isLast) found.push({ position, txid, funded, spent });
    }
    return found;
  }

  /** Txids of transactions at positions in ascending or in descending order. @throws DamagedIndexError */
  async #txidsAt(positions: readonly Position[]): Promise<Buffer[]> {
    const all = positions.map(({ height, index }) => packed(height, index));
    const isDescending = (all[0] ?? 0) > (all.at(-1) ?? 0);
    const txids = await this.#txids.of(isDescending ? all.reverse() : all);
    const found = all.map((_, i) => txidIn(txids, i));
    return isDescending ? found.reverse() : found;
  }

  /**
   * `count` coins of the script or a few more, the newest first, found among the first 32 outputs of their transactions, which can be read
   * together; undefined: there are not that many.
   */
  async #firstCoins(rows: Rows, script: Buffer, count: number, goOn: () => void): Promise<ScriptCoin[] | undefined> {
    const coins: ScriptCoin[] = [];
    if (count === 0) return coins;
    for await (const some of batchesOf(funding(rows), COINS_AT_ONCE)) {
      goOn();
      const ofRows = await this.index.firstCoinsAt(some.map(({ position }) => position));
      const found = ofRows.flatMap((all, i) => {
        const { position } = some[i] as FoundRow; // one for each
        return all
          .filter(isOf(script))
          .reverse()
          .map((coin) => ({ coin, position }));
      });
      const txids = await this.#txidsAt(found.map(({ position }) => position));
      for (const [i, { coin, position }] of found.entries()) coins.push({ ...coin, txid: txids[i] as Buffer, position }); // one for each
      if (coins.length >= count) return coins;
    }
    return undefined;
  }

  /**
   * The coins of the script, the newest first, `most` of them or a few more; reads each transaction separately. @throws
   * HistoryTooLongError
   */
  async #scannedCoins(rows: Rows, script: Buffer, most: number, goOn: () => void): Promise<ScriptCoin[]> {
    const coins: ScriptCoin[] = [];
    let scanned = 0;
    for await (const some of batchesOf(funding(rows), SCANS_AT_ONCE)) {
      goOn();
      if ((scanned += some.length) > MOST_SCANS) throw new HistoryTooLongError(`more than ${MOST_SCANS} transactions paid to the script`);
      const txids = await this.#txidsAt(some.map(({ position }) => position));
      const ofRows = await Promise.all(
        some.map(async ({ position }, i) => {
          const txid = txids[i] as Buffer; // one for each
          const all = await this.index.coinsOf(txid, position);
          // For a txid that is in the chain twice, an index that started from coins returns the later transaction's coins for both.
          return all
            .filter((coin) => coin.height === position.height && isOf(script)(coin))
            .map((coin): ScriptCoin => ({ ...coin, txid, position }))
            .reverse();
        })
      );
      for (const coin of ofRows.flat()) coins.push(coin);
      if (coins.length >= most) break;
    }
    return coins;
  }
}

/** A copy: a view would keep all of the bytes in memory. */
const txidIn = (txids: Buffer, index: number): Buffer => Buffer.from(txids.subarray(index * TXID_LENGTH, (index + 1) * TXID_LENGTH));

/** For callers that never stop the call. */
const GO_ON = (): void => undefined;

type Rows = AsyncIterable<FoundRow> | Iterable<FoundRow>;

class RunningTotals {
  transactions = 0;
  #fundedCount = 0;
  #fundedValue = 0;
  #spentCount = 0;
  #spentValue = 0;

  add(fundedCount: number, fundedValue: number, spentCount: number, spentValue: number): void {
    this.transactions++;
    this.#fundedCount += fundedCount;
    this.#fundedValue += fundedValue;
    this.#spentCount += spentCount;
    this.#spentValue += spentValue;
  }

  totals(): ScriptTotals {
    return {
      transactions: this.transactions,
      funded: { count: this.#fundedCount, value: this.#fundedValue },
      spent: { count: this.#spentCount, value: this.#spentValue }
    };
  }
}

/** @throws HistoryTooLongError for sums that a number does not hold exactly: 2^53 satoshis and above */
export function exact(totals: ScriptTotals): ScriptTotals {
  if (Number.isSafeInteger(totals.funded.value) && Number.isSafeInteger(totals.spent.value)) return totals;
  throw new HistoryTooLongError('the script has got more satoshis than can be counted exactly');
}

function totalsOf(rows: readonly FoundRow[]): ScriptTotals {
  const sums = new RunningTotals();
  for (const { funded, spent } of rows) sums.add(funded.count, funded.value, spent.count, spent.value);
  return sums.totals();
}

async function firstOf(rows: Rows, count: number): Promise<FoundRow[]> {
  const found: FoundRow[] = [];
  if (count > 0) for await (const row of rows) if (found.push(row) >= count) break;
  return found;
}

/** Rows of transactions that paid to the script. */
async function* funding(rows: Rows): AsyncGenerator<FoundRow, void> {
  for await (const row of rows) if (row.funded.count > 0) yield row;
}

async function* batchesOf(rows: AsyncIterable<FoundRow>, size: number): AsyncGenerator<FoundRow[], void> {
  let some: FoundRow[] = [];
  for await (const row of rows) {
    if (some.push(row) < size) continue;
    yield some;
    some = [];
  }
  if (some.length > 0) yield some;
}

const isOf =
  (script: Buffer) =>
  (coin: TransactionCoin): boolean =>
    scriptHashOf(coin.script).equals(script);
