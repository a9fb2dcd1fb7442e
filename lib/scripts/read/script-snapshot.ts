// Answers by script from one state of the store. Secret and tip are read in the constructor; everything else is read off the event loop,
// which must not wait while LevelDB installs large tables.

import { scriptHashOf } from '../../bitcoin/hash';
import { decodeTip, TIP_KEY } from '../../index/records/chain';
import { DamagedIndexError } from '../../follow/errors';
import { HistoryTooLongError, ScriptsUnavailableError, TooManyCoinsError } from '../errors';
import { ScriptHasher } from '../records/script-hasher';
import { TXID_LENGTH } from '../records/block-txids';
import { heightIn, indexIn, packed, unpacked } from '../records/positions';
import { rowsDownwards, UpwardWalk, type RowColumns } from './row-walk';
import type { Position, IndexSnapshot, TransactionCoin } from '../../index/types';
import type { Records } from '../../index/records/layout';
import type { BlockPoint } from '../../node/types';
import type { StoreSnapshot } from '../../store/store';
import type { LastChanges } from '../records/last-changes';
import type { TxidView } from '../txids/txid-view';
import type {
  FoundCoins,
  FundingOutputs,
  HistoryPage,
  HistoryWalk,
  RowTransaction,
  RowTransactions,
  ScriptCoin,
  ScriptSnapshot,
  ScriptTotals,
  WalkOptions
} from '../types';
import type { RowCursor } from '../records/row';

/** Transactions whose coins are looked up together. */
const COINS_AT_ONCE = 256;
/** Transactions whose coins are looked up at the same time, each with a separate read. */
const SCANS_AT_ONCE = 16;
/** A history with fewer rows is read at once. In a longer one the coins are counted first. */
const SHORT_HISTORY = 512;
/** Most rows that are read to find coins; most transactions that are looked up for that, each with a separate read. */
const MOST_ROWS_FOR_COINS = 1_000_000;
const MOST_SCANS = 20_000;
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

  walk(script: Buffer, above?: Position): HistoryWalk {
    const walk = new UpwardWalk(this.#records, this.#hasher.hash(script), above);
    return {
      next: async (most) => {
        const positions: number[] = [];
        const count = await walk.take(most, (row) => positions.push(packed(row.height, row.index)));
        return { ...this.#lastOnly(positions, await this.#txids.of(positions)), isLast: count < most };
      },
      close: () => walk.close()
    };
  }

  async history(script: Buffer, { beyond, limit, ascending = false }: HistoryPage): Promise<RowTransaction[]> {
    const found: RowTransaction[] = [];
    const add = (positions: readonly number[], txids: Buffer): void => {
      const last = this.#lastOnly(positions, txids);
      for (const [i, position] of last.positions.entries())
        if (found.length < limit) found.push({ position: unpacked(position), txid: txidIn(last.txids, i) });
    };
    if (ascending) {
      const walk = this.walk(script, beyond);
      try {
        for (let isOver = false; found.length < limit && !isOver;) {
          const { positions, txids, isLast } = await walk.next(limit - found.length);
          add(positions, txids);
          isOver = isLast;
        }
      } finally {
        await walk.close();
      }
    } else {
      for await (const { positions } of rowsDownwards(this.#records, this.#hasher.hash(script), { beyond, wanted: limit })) {
        for (let from = 0; found.length < limit && from < positions.length;) {
          const to = from + limit - found.length;
          const some = positions.slice(from, to);
          add(some, await this.#txidsBelow(some));
          from = to;
        }
        if (found.length >= limit) break;
      }
    }
    return found;
  }

  /** A txid that is in the chain twice counts twice: both blocks paid. @throws HistoryTooLongError for more rows than `most`, and as `exact` */
  async totals(
    script: Buffer,
    most: number,
    { beyond, goOn = GO_ON }: Parameters<ScriptSnapshot['totals']>[2] = {}
  ): Promise<ScriptTotals> {
    const sums = new RunningTotals();
    const walk = new UpwardWalk(this.#records, this.#hasher.hash(script), beyond);
    try {
      while (await walk.takeSome(sums.add)) {
        if (sums.transactions > most) throw new HistoryTooLongError(`more than ${most} transactions have to do with the script`);
        goOn();
      }
    } finally {
      await walk.close();
    }
    return exact(sums.totals());
  }

  async coins(script: Buffer, most: number, { totals, goOn = GO_ON }: Parameters<ScriptSnapshot['coins']>[2] = {}): Promise<FoundCoins> {
    const counted = totals ?? (() => this.totals(script, MOST_ROWS_FOR_COINS, { goOn }));
    const hash = this.#hasher.hash(script);
    const sums = new RunningTotals();
    const newest: RowColumns[] = [];
    for await (const rows of rowsDownwards(this.#records, hash, { take: sums.add })) {
      newest.push(rows);
      if (sums.transactions >= SHORT_HISTORY) break;
    }
    const isShort = sums.transactions < SHORT_HISTORY;
    const { funded, spent } = isShort ? sums.totals() : await counted();
    const unspent = funded.count - spent.count;
    const tooMany = (): Error => new TooManyCoinsError(`more than ${most} coins are the script's`);
    if (!isShort && unspent > most) throw tooMany();
    const rows = (): Rows => (isShort ? newest : rowsDownwards(this.#records, hash));
    const found = await this.#firstCoins(rows(), script, unspent, goOn);
    const coins = found ?? (await this.#scannedCoins(rows(), script, unspent, goOn));
    if (coins.length > most) throw tooMany();
    return { coins: coins.reverse(), others: unspent - coins.length };
  }

  async *spenders(
    script: Buffer,
    { txid, position, indexes }: FundingOutputs,
    { walked = GO_ON }: WalkOptions = {}
  ): AsyncGenerator<Position, void> {
    const hints = new Set(indexes.map((index) => this.#hasher.hint(txid, index)));
    const walk = new UpwardWalk(this.#records, this.#hasher.hash(script), position);
    try {
      for (let isOver = false; !isOver;) {
        const found: Position[] = [];
        let rows = 0;
        isOver = !(await walk.takeSome((row) => {
          rows++;
          if (row.hasHint(hints)) found.push({ height: row.height, index: row.index });
        }));
        walked(rows);
        yield* found;
      }
    } finally {
      await walk.close();
    }
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

  /** Without transactions whose txid is in the chain again later (before BIP30). */
  #lastOnly(positions: readonly number[], txids: Buffer): RowTransactions {
    // Only a coinbase can have the txid of another transaction.
    if (!positions.some((position) => indexIn(position) === 0)) return { positions, txids };
    const left = positions.flatMap((position, i) => {
      const isLast = indexIn(position) > 0 || this.index.position(txidOf(txids, i))?.block.height === heightIn(position);
      return isLast ? [i] : [];
    });
    if (left.length === positions.length) return { positions, txids };
    return { positions: left.map((i) => positions[i] as number), txids: Buffer.concat(left.map((i) => txidOf(txids, i))) }; // within
  }

  /** The txids of transactions at descending positions, in this order, concatenated. @throws DamagedIndexError */
  async #txidsBelow(positions: readonly number[]): Promise<Buffer> {
    const ascending = await this.#txids.of([...positions].reverse());
    const found = Buffer.allocUnsafe(ascending.length);
    for (let from = 0; from < ascending.length; from += TXID_LENGTH)
      ascending.copy(found, ascending.length - from - TXID_LENGTH, from, from + TXID_LENGTH);
    return found;
  }

  /**
   * `count` coins of the script or a few more, the newest first, found among the first 32 outputs of their transactions, which can be read
   * together; undefined: there are not that many.
   */
  async #firstCoins(rows: Rows, script: Buffer, count: number, goOn: () => void): Promise<ScriptCoin[] | undefined> {
    const coins: ScriptCoin[] = [];
    if (count === 0) return coins;
    for await (const positions of funding(rows, COINS_AT_ONCE)) {
      goOn();
      const ofRows = await this.index.firstCoinsAt(positions.map(unpacked));
      const found = ofRows.map((all) => all.filter(isOf(script)).reverse());
      const paying = positions.filter((_, i) => found[i]?.length !== 0);
      const txids = await this.#txidsBelow(paying);
      for (const [i, ofRow] of found.filter(({ length }) => length > 0).entries()) {
        const [txid, position] = [txidIn(txids, i), unpacked(paying[i] as number)]; // one for each
        for (const coin of ofRow) coins.push({ ...coin, txid, position });
      }
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
    for await (const positions of funding(rows, SCANS_AT_ONCE)) {
      goOn();
      if ((scanned += positions.length) > MOST_SCANS)
        throw new HistoryTooLongError(`more than ${MOST_SCANS} transactions paid to the script`);
      const txids = await this.#txidsBelow(positions);
      const ofRows = await Promise.all(
        positions.map(unpacked).map(async (position, i) => {
          const txid = txidIn(txids, i);
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

const txidOf = (txids: Buffer, index: number): Buffer => txids.subarray(index * TXID_LENGTH, (index + 1) * TXID_LENGTH);

/** A copy: a view would keep all of the bytes in memory. */
const txidIn = (txids: Buffer, index: number): Buffer => Buffer.from(txidOf(txids, index));

/** For callers that never stop the call. */
const GO_ON = (): void => undefined;

type Rows = AsyncIterable<RowColumns> | Iterable<RowColumns>;

class RunningTotals {
  transactions = 0;
  #fundedCount = 0;
  #fundedValue = 0;
  #spentCount = 0;
  #spentValue = 0;

  readonly add = ({ fundedCount, fundedValue, spentCount, spentValue }: RowCursor): void => {
    this.transactions++;
    this.#fundedCount += fundedCount;
    this.#fundedValue += fundedValue;
    this.#spentCount += spentCount;
    this.#spentValue += spentValue;
  };

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

/** Positions of transactions that paid to the script, in the order of the rows, `size` at a time. */
async function* funding(rows: Rows, size: number): AsyncGenerator<readonly number[], void> {
  let some: number[] = [];
  for await (const { positions, fundedCounts } of rows)
    for (const [i, position] of positions.entries()) {
      if (fundedCounts[i] === 0 || some.push(position) < size) continue;
      yield some;
      some = [];
    }
  if (some.length > 0) yield some;
}

const isOf =
  (script: Buffer) =>
  (coin: TransactionCoin): boolean =>
    scriptHashOf(coin.script).equals(script);
