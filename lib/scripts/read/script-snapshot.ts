// Answers by script from one state of the store. A script with one record is read at once, within the allowance of the turn; everything else
// off the event loop, which must not wait while LevelDB installs large tables.

import { scriptHashOf } from '../../bitcoin/hash';
import { decodeTip, TIP_KEY } from '../../index/records/chain';
import { GROUP_SIZE } from '../../index/records/coin-record';
import { DamagedIndexError } from '../../follow/errors';
import { HistoryTooLongError, ScriptsUnavailableError, TooManyCoinsError } from '../errors';
import { ScriptHasher } from '../records/script-hasher';
import { TXID_LENGTH } from '../records/block-txids';
import { heightIn, indexIn, packed, unpacked } from '../records/positions';
import { ScriptCoins, type PlacedCoin } from '../script-coins';
import { newestChanges } from './newest-changes';
import { exact, RunningTotals } from './running-totals';
import { rowsDownwards, UpwardWalk, type RowColumns } from './row-walk';
import { ShortHistory } from './short-history';
import { UnspentOutputs, type OutputColumns } from './unspent-outputs';
import type { Position, IndexSnapshot, IsWanted, TransactionCoin } from '../../index/types';
import type { Records } from '../../index/records/layout';
import type { BlockPoint } from '../../node/types/chain';
import type { StoreSnapshot } from '../../store/store';
import type { LastChanges } from '../records/last-changes';
import type { LooseScripts } from '../records/loose-scripts';
import type { TxidView } from '../txids/txid-view';
import type {
  FoundCoins,
  FundingOutputs,
  HistoryPage,
  HistoryWalk,
  RowChange,
  RowTransaction,
  RowTransactions,
  ScriptSnapshot,
  ScriptTotals,
  WalkedPage,
  WalkOptions
} from '../types';

/** Transactions whose coins are looked up together. */
const COINS_AT_ONCE = 256;
/** Transactions whose coins are looked up at the same time, each with a separate read. */
const SCANS_AT_ONCE = 16;
/** In a history with fewer rows, these are asked first which outputs are unspent. In a longer one the coins are counted first. */
const SHORT_HISTORY = 512;
/** Most rows that are read to find coins; most transactions that are looked up for that, each with a separate read. */
const MOST_ROWS_FOR_COINS = 1_000_000;
const MOST_SCANS = 20_000;

/** What a writer knows of its store. */
export interface WrittenState {
  readonly changes: LastChanges;
  readonly txids: TxidView;
  readonly loose: LooseScripts;
}

export class StoredScriptSnapshot implements ScriptSnapshot {
  readonly index: IndexSnapshot;
  readonly stamp: number;
  readonly #tip: BlockPoint;
  readonly #records: StoreSnapshot;
  readonly #hasher: ScriptHasher;
  readonly #changes: LastChanges;
  readonly #txids: TxidView;
  readonly #loose: LooseScripts;
  readonly during: ScriptSnapshot['during'];

  /**
   * `records`: a snapshot of the store, taken in this turn, at the block of `index`; the caller closes it, but not during work that `during`
   * was given. `written`: of the writer of the store, in this turn.
   * @throws ScriptsUnavailableError for an index without blocks, DamagedIndexError
   */
  constructor(records: StoreSnapshot, index: IndexSnapshot, { changes, txids, loose }: WrittenState, during: ScriptSnapshot['during']) {
    const tip = StoredScriptSnapshot.tipOf(records);
    if (tip === undefined) throw new ScriptsUnavailableError('the index by script is empty');
    this.#tip = tip;
    this.index = index;
    this.stamp = changes.now;
    this.#changes = changes;
    this.#txids = txids;
    this.#loose = loose;
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
    const hash = this.#hasher.hash(script);
    const short = this.#shortHistory(hash);
    return short === undefined ? this.#longWalk(hash, above) : this.#shortWalk(short, above);
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
      const hash = this.#hasher.hash(script);
      const short = beyond === undefined ? this.#shortHistory(hash) : undefined;
      for await (const { positions } of short === undefined
        ? rowsDownwards(this.#records, hash, { beyond, wanted: limit })
        : [columnsDownwards(short)]) {
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

  async changes(
    scripts: readonly Buffer[],
    { beyond, limit, goOn = GO_ON }: Parameters<ScriptSnapshot['changes']>[1]
  ): Promise<RowChange[]> {
    const hashes = scripts.map((script) => this.#hasher.hash(script));
    const found: RowChange[] = [];
    for (let below = beyond, wanted = limit; wanted > 0; wanted = limit - found.length) {
      const { positions, values } = await newestChanges(this.#records, hashes, { beyond: below, limit: wanted, goOn });
      const valueAt = new Map(positions.map((position, i) => [position, values[i] as number])); // one for each
      const last = this.#lastOnly(positions, await this.#txidsBelow(positions));
      for (const [i, position] of last.positions.entries())
        found.push({ position: unpacked(position), txid: txidIn(last.txids, i), value: valueAt.get(position) ?? 0 });
      const lowest = positions.at(-1);
      if (lowest === undefined || positions.length < wanted) break;
      below = unpacked(lowest);
    }
    return found;
  }

  /** A txid that is in the chain twice counts twice: both blocks paid. @throws HistoryTooLongError for more rows than `most`, and as `exact` */
  totals(
    script: Buffer,
    most: number,
    { beyond, goOn = GO_ON }: Parameters<ScriptSnapshot['totals']>[2] = {}
  ): ScriptTotals | Promise<ScriptTotals> {
    const hash = this.#hasher.hash(script);
    const short = this.#shortHistory(hash);
    if (short === undefined) return this.#longTotals(hash, most, beyond, goOn);
    const sums = short.totals(beyond);
    if (sums.transactions > most) throw tooLong(most);
    return exact(sums.totals());
  }

  isShort(script: Buffer, most: number): boolean | undefined {
    return ShortHistory.isShort(this.#records, this.#loose, this.#hasher.hash(script), most);
  }

  coins(
    script: Buffer,
    most: number,
    { totals, goOn = GO_ON }: Parameters<ScriptSnapshot['coins']>[2] = {}
  ): FoundCoins | Promise<FoundCoins> {
    const hash = this.#hasher.hash(script);
    const counted = totals ?? (() => this.totals(script, MOST_ROWS_FOR_COINS, { goOn }));
    const short = this.#shortHistory(hash);
    if (short === undefined) return this.#longCoins(script, hash, most, counted, goOn);
    const outputs = new UnspentOutputs();
    short.each(outputs.add);
    const searched = (): FoundCoins | Promise<FoundCoins> => this.#shortCoins(script, short, most, goOn);
    return this.#coinsAmong(outputs, script, most, searched);
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

  readNewestTxids(): Promise<void> {
    return this.#txids.readNewest();
  }

  #shortHistory(hash: Buffer): ShortHistory | undefined {
    return ShortHistory.read(this.#records, this.#loose, hash);
  }

  #shortWalk(short: ShortHistory, above?: Position): HistoryWalk {
    const positions: number[] = [];
    short.each((row) => positions.push(packed(row.height, row.index)), above);
    let from = 0;
    return {
      next: (most) => {
        const some = positions.slice(from, from + most);
        from += some.length;
        const page = (txids: Buffer): WalkedPage => ({ ...this.#lastOnly(some, txids), isLast: some.length < most });
        const txids = this.#txids.of(some);
        return txids instanceof Promise ? txids.then(page) : page(txids);
      },
      close: () => undefined
    };
  }

  #longWalk(hash: Buffer, above?: Position): HistoryWalk {
    const walk = new UpwardWalk(this.#records, hash, above);
    return {
      next: async (most) => {
        const positions: number[] = [];
        const count = await walk.take(most, (row) => positions.push(packed(row.height, row.index)));
        return { ...this.#lastOnly(positions, await this.#txids.of(positions)), isLast: count < most };
      },
      close: () => walk.close()
    };
  }

  async #longTotals(hash: Buffer, most: number, beyond: Position | undefined, goOn: () => void): Promise<ScriptTotals> {
    const sums = new RunningTotals();
    const walk = new UpwardWalk(this.#records, hash, beyond);
    try {
      while (await walk.takeSome(sums.add)) {
        if (sums.transactions > most) throw tooLong(most);
        goOn();
      }
    } finally {
      await walk.close();
    }
    return exact(sums.totals());
  }

  #shortCoins(script: Buffer, short: ShortHistory, most: number, goOn: () => void): FoundCoins | Promise<FoundCoins> {
    const { unspent } = short.totals();
    if (unspent === 0) return { coins: ScriptCoins.of([]), others: 0 };
    const all = columnsDownwards(short);
    const paying = all.positions.filter((_, i) => all.fundedCounts[i] !== 0);
    const checked = (coins: PlacedCoin[]): FoundCoins => upwards(coins, unspent, most);
    const completed = (coins: PlacedCoin[]): FoundCoins | Promise<FoundCoins> =>
      coins.length >= unspent ? checked(coins) : this.#scannedCoins([all], script, unspent, goOn).then(checked);
    const found = this.#firstCoinsAt(paying, script);
    return found instanceof Promise ? found.then(completed) : completed(found);
  }

  async #longCoins(
    script: Buffer,
    hash: Buffer,
    most: number,
    counted: () => ScriptTotals | Promise<ScriptTotals>,
    goOn: () => void
  ): Promise<FoundCoins> {
    const outputs = new UnspentOutputs();
    const walk = new UpwardWalk(this.#records, hash);
    const rowsOfShort = await walk.take(SHORT_HISTORY, outputs.add).finally(() => walk.close());
    const searched = (): Promise<FoundCoins> => this.#searchedCoins(script, hash, most, counted, goOn);
    return rowsOfShort < SHORT_HISTORY ? this.#coinsAmong(outputs, script, most, searched) : searched();
  }

  async #searchedCoins(
    script: Buffer,
    hash: Buffer,
    most: number,
    counted: () => ScriptTotals | Promise<ScriptTotals>,
    goOn: () => void
  ): Promise<FoundCoins> {
    const { transactions, funded, spent } = await counted();
    const unspent = funded.count - spent.count;
    if (transactions >= SHORT_HISTORY && unspent > most) throw tooManyCoins(most);
    const rows = (): Rows => rowsDownwards(this.#records, hash);
    const found = await this.#firstCoins(rows(), script, unspent, goOn);
    const coins = found ?? (await this.#scannedCoins(rows(), script, unspent, goOn));
    return upwards(coins, unspent, most);
  }

  /** `searched`: finds the coins if the rows do not say enough of them. */
  #coinsAmong(
    outputs: UnspentOutputs,
    script: Buffer,
    most: number,
    searched: () => FoundCoins | Promise<FoundCoins>
  ): FoundCoins | Promise<FoundCoins> {
    if (!outputs.isComplete) return searched();
    const { unspentDoubtful } = outputs;
    if (unspentDoubtful === 0) return this.#coinsOf(outputs, most);
    const { doubtful } = outputs;
    const positionAt = (place: number): number => outputs.positions[place] as number; // within the columns, as below
    const indexAt = (place: number): number => outputs.indexes[place] as number;
    if (doubtful.some((place) => indexAt(place) >= GROUP_SIZE)) return searched();
    const positions = [...new Set(doubtful.map(positionAt))];
    const known = (ofRows: readonly (readonly TransactionCoin[])[]): FoundCoins | Promise<FoundCoins> => {
      const there = new Set(ofRows.flatMap((coins, i) => coins.map(({ index }) => (positions[i] as number) * GROUP_SIZE + index))); // one for each
      const spent = doubtful.filter((place) => !there.has(positionAt(place) * GROUP_SIZE + indexAt(place)));
      // Others have a txid that is in the chain twice.
      if (doubtful.length - spent.length !== unspentDoubtful) return searched();
      outputs.drop(spent);
      return this.#coinsOf(outputs, most);
    };
    const looked = this.index.firstCoinsAt(positions.map(unpacked), isOf(script));
    return looked instanceof Promise ? looked.then(known) : known(looked);
  }

  /** The coins that outputs are. */
  #coinsOf({ positions, indexes, values }: OutputColumns, most: number): FoundCoins | Promise<FoundCoins> {
    const coinsOf = (txids: Buffer): FoundCoins => {
      const all = new ScriptCoins(positions, txids, indexes, values);
      const last = this.#lastPlaces(positions, txids);
      const coins = last === undefined ? all : all.at(last);
      if (coins.count > most) throw tooManyCoins(most);
      return { coins, others: all.count - coins.count };
    };
    const txids = this.#txids.of(positions);
    return txids instanceof Promise ? txids.then(coinsOf) : coinsOf(txids);
  }

  /** Without transactions whose txid is in the chain again later (before BIP30). */
  #lastOnly(positions: readonly number[], txids: Buffer): RowTransactions {
    const last = this.#lastPlaces(positions, txids);
    if (last === undefined) return { positions, txids };
    return { positions: last.map((i) => positions[i] as number), txids: Buffer.concat(last.map((i) => txidOf(txids, i))) }; // within
  }

  /** Places of transactions whose txid is not in the chain again later; undefined: that is true of all. */
  #lastPlaces(positions: readonly number[], txids: Buffer): number[] | undefined {
    // Only a coinbase can have the txid of another transaction.
    if (!positions.some((position) => indexIn(position) === 0)) return undefined;
    const left = positions.flatMap((position, i) => {
      const isLast = indexIn(position) > 0 || this.index.position(txidOf(txids, i))?.block.height === heightIn(position);
      return isLast ? [i] : [];
    });
    return left.length === positions.length ? undefined : left;
  }

  /** The txids of transactions at descending positions, in this order, concatenated. @throws DamagedIndexError */
  #txidsBelow(positions: readonly number[]): Buffer | Promise<Buffer> {
    if (positions.length === 1) return this.#txids.of(positions);
    const ascending = this.#txids.of([...positions].reverse());
    return ascending instanceof Promise ? ascending.then(reversedTxids) : reversedTxids(ascending);
  }

  /**
   * `count` coins of the script or a few more, the newest first, found among the first 32 outputs of their transactions, which can be read
   * together; undefined: there are not that many.
   */
  async #firstCoins(rows: Rows, script: Buffer, count: number, goOn: () => void): Promise<PlacedCoin[] | undefined> {
    const coins: PlacedCoin[] = [];
    if (count === 0) return coins;
    for await (const positions of funding(rows, COINS_AT_ONCE)) {
      goOn();
      for (const coin of await this.#firstCoinsAt(positions, script)) coins.push(coin);
      if (coins.length >= count) return coins;
    }
    return undefined;
  }

  /** Those among the first 32 outputs of transactions at descending positions, in this order. */
  #firstCoinsAt(positions: readonly number[], script: Buffer): PlacedCoin[] | Promise<PlacedCoin[]> {
    const ofRows = this.index.firstCoinsAt(positions.map(unpacked), isOf(script));
    return ofRows instanceof Promise ? ofRows.then((found) => this.#withTxids(positions, found)) : this.#withTxids(positions, ofRows);
  }

  /** `ofRows`: for each position, coins in their order. Gives them from the last to the first. */
  #withTxids(positions: readonly number[], ofRows: readonly (readonly TransactionCoin[])[]): PlacedCoin[] | Promise<PlacedCoin[]> {
    const paying = positions.filter((_, i) => ofRows[i]?.length !== 0);
    const coinsOf = (txids: Buffer): PlacedCoin[] => {
      const coins: PlacedCoin[] = [];
      let row = 0;
      for (const ofRow of ofRows) {
        if (ofRow.length === 0) continue;
        const [position, txid] = [paying[row] as number, txidOf(txids, row++)]; // one for each
        for (let i = ofRow.length - 1; i >= 0; i--) coins.push(placed(ofRow[i] as TransactionCoin, position, txid)); // within the list
      }
      return coins;
    };
    const txids = this.#txidsBelow(paying);
    return txids instanceof Promise ? txids.then(coinsOf) : coinsOf(txids);
  }

  /**
   * The coins of the script, the newest first, `most` of them or a few more; reads each transaction separately. @throws
   * HistoryTooLongError
   */
  async #scannedCoins(rows: Rows, script: Buffer, most: number, goOn: () => void): Promise<PlacedCoin[]> {
    const coins: PlacedCoin[] = [];
    const isOurs = isOf(script);
    let scanned = 0;
    for await (const positions of funding(rows, SCANS_AT_ONCE)) {
      goOn();
      if ((scanned += positions.length) > MOST_SCANS)
        throw new HistoryTooLongError(`more than ${MOST_SCANS} transactions paid to the script`);
      const txids = await this.#txidsBelow(positions);
      const ofRows = await Promise.all(
        positions.map(async (position, i) => {
          const txid = txidOf(txids, i);
          const all = await this.index.coinsOf(txid, unpacked(position));
          // For a txid that is in the chain twice, an index that started from coins returns the later transaction's coins for both.
          return all
            .filter((coin) => coin.height === heightIn(position) && isOurs(coin.script, 0, coin.script.length))
            .map((coin) => placed(coin, position, txid))
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

/** From the newest row down. */
function columnsDownwards(short: ShortHistory): RowColumns {
  const [positions, fundedCounts]: [number[], number[]] = [[], []];
  short.each((row) => {
    positions.push(packed(row.height, row.index));
    fundedCounts.push(row.fundedCount);
  });
  return { positions: positions.reverse(), fundedCounts: fundedCounts.reverse() };
}

const tooLong = (most: number): Error => new HistoryTooLongError(`more than ${most} transactions have to do with the script`);

const tooManyCoins = (most: number): Error => new TooManyCoinsError(`more than ${most} coins are the script's`);

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

/** Txids in the opposite order. */
function reversedTxids(txids: Buffer): Buffer {
  const found = Buffer.allocUnsafe(txids.length);
  for (let from = 0; from < txids.length; from += TXID_LENGTH)
    txids.copy(found, txids.length - from - TXID_LENGTH, from, from + TXID_LENGTH);
  return found;
}

/** `position`, `txid`: of the coin's transaction. */
const placed = ({ index, value }: TransactionCoin, position: number, txid: Buffer): PlacedCoin => ({ position, txid, index, value });

/** `coins`: from the newest down, of `unspent` outputs. @throws TooManyCoinsError */
function upwards(coins: PlacedCoin[], unspent: number, most: number): FoundCoins {
  if (coins.length > most) throw tooManyCoins(most);
  return { coins: ScriptCoins.of(coins.reverse()), others: unspent - coins.length };
}

/** For scripts with this hash: one of them is hashed, then bytes are compared. */
function isOf(hash: Buffer): IsWanted {
  let ours: Buffer | undefined;
  return (bytes, start, end) => {
    if (ours !== undefined) return end - start === ours.length && ours.compare(bytes, start, end) === 0;
    const script = Buffer.from(bytes.subarray(start, end));
    const isOurs = scriptHashOf(script).equals(hash);
    if (isOurs) ours = script;
    return isOurs;
  };
}
