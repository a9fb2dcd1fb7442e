// The search for a script's coins. Most follow from its rows alone. Otherwise the outputs of the transactions that paid to the script are
// looked up in the main index, the newest first, until as many were found as the rows say.

import { scriptHashOf } from '../../bitcoin/hash';
import { GROUP_SIZE } from '../../index/records/coin-record';
import { HistoryTooLongError, TooManyCoinsError } from '../errors';
import { heightIn, unpacked } from '../records/positions';
import { ScriptCoins, type PlacedCoin } from '../script-coins';
import { rowsDownwards, UpwardWalk, type RowColumns } from './row-walk';
import { txidOf, type RowTxids } from './row-txids';
import { UnspentOutputs, type OutputColumns } from './unspent-outputs';
import type { IndexSnapshot, IsWanted, TransactionCoin } from '../../index/types';
import type { StoreSnapshot } from '../../store/store';
import type { FoundCoins, ScriptTotals } from '../types';
import type { ShortHistory } from './short-history';

/** Transactions whose coins are looked up together. */
const COINS_AT_ONCE = 256;
/** Transactions whose coins are looked up at the same time, each with a separate read. */
const SCANS_AT_ONCE = 16;
/** In a history with fewer rows, these are asked first which outputs are unspent. In a longer one the coins are counted first. */
const SHORT_HISTORY = 512;
/** Most transactions that are looked up, each with a separate read. */
const MOST_SCANS = 20_000;

type CountTotals = () => ScriptTotals | Promise<ScriptTotals>;

/** In one snapshot of both indexes. Scripts, `most`, `goOn` and errors are as for `ScriptSnapshot.coins`. */
export class CoinSearch {
  readonly #records: StoreSnapshot;
  readonly #index: IndexSnapshot;
  readonly #txids: RowTxids;

  /** `records`: of the index by script, at the block of `index`. */
  constructor(records: StoreSnapshot, index: IndexSnapshot, txids: RowTxids) {
    this.#records = records;
    this.#index = index;
    this.#txids = txids;
  }

  /** The coins of a script with one record. */
  inShort(short: ShortHistory, script: Buffer, most: number, goOn: () => void): FoundCoins | Promise<FoundCoins> {
    const outputs = new UnspentOutputs();
    short.each(outputs.add);
    return this.#among(outputs, script, most, () => this.#searchedShort(short, script, most, goOn));
  }

  /** The coins of any script. `hash`: of the script in the index. `count`: returns its totals; called if its rows say too little. */
  async inLong(hash: Buffer, script: Buffer, most: number, count: CountTotals, goOn: () => void): Promise<FoundCoins> {
    const outputs = new UnspentOutputs();
    const walk = new UpwardWalk(this.#records, hash);
    const rowsOfShort = await walk.take(SHORT_HISTORY, outputs.add).finally(() => walk.close());
    const searched = (): Promise<FoundCoins> => this.#searchedLong(hash, script, most, count, goOn);
    return rowsOfShort < SHORT_HISTORY ? this.#among(outputs, script, most, searched) : searched();
  }

  #searchedShort(short: ShortHistory, script: Buffer, most: number, goOn: () => void): FoundCoins | Promise<FoundCoins> {
    const { unspent } = short.totals();
    if (unspent === 0) return { coins: ScriptCoins.of([]), others: 0 };
    const all = short.downwards();
    const paying = all.positions.filter((_, i) => all.fundedCounts[i] !== 0);
    const checked = (coins: PlacedCoin[]): FoundCoins => upwards(coins, unspent, most);
    const completed = (coins: PlacedCoin[]): FoundCoins | Promise<FoundCoins> =>
      coins.length >= unspent ? checked(coins) : this.#scannedCoins([all], script, unspent, goOn).then(checked);
    const found = this.#firstCoinsAt(paying, script);
    return found instanceof Promise ? found.then(completed) : completed(found);
  }

  async #searchedLong(hash: Buffer, script: Buffer, most: number, count: CountTotals, goOn: () => void): Promise<FoundCoins> {
    const { transactions, funded, spent } = await count();
    const unspent = funded.count - spent.count;
    if (transactions >= SHORT_HISTORY && unspent > most) throw new TooManyCoinsError(most);
    const rows = (): Rows => rowsDownwards(this.#records, hash);
    const found = await this.#firstCoins(rows(), script, unspent, goOn);
    const coins = found ?? (await this.#scannedCoins(rows(), script, unspent, goOn));
    return upwards(coins, unspent, most);
  }

  /** `searched`: finds the coins if the rows do not say enough of them. */
  #among(
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
      // Others are those of a main index that started from coins, or have a txid that is in the chain twice.
      if (doubtful.length - spent.length !== unspentDoubtful) return searched();
      outputs.drop(spent);
      return this.#coinsOf(outputs, most);
    };
    const looked = this.#index.firstCoinsAt(positions.map(unpacked), isOf(script));
    return looked instanceof Promise ? looked.then(known) : known(looked);
  }

  /** The coins that outputs are. */
  #coinsOf({ positions, indexes, values }: OutputColumns, most: number): FoundCoins | Promise<FoundCoins> {
    const coinsOf = (txids: Buffer): FoundCoins => {
      const all = new ScriptCoins(positions, txids, indexes, values);
      const last = this.#txids.lastPlaces(positions, txids);
      const coins = last === undefined ? all : all.at(last);
      if (coins.count > most) throw new TooManyCoinsError(most);
      return { coins, others: all.count - coins.count };
    };
    const txids = this.#txids.of(positions);
    return txids instanceof Promise ? txids.then(coinsOf) : coinsOf(txids);
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
    const ofRows = this.#index.firstCoinsAt(positions.map(unpacked), isOf(script));
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
    const txids = this.#txids.below(paying);
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
      const txids = await this.#txids.below(positions);
      const ofRows = await Promise.all(
        positions.map(async (position, i) => {
          const txid = txidOf(txids, i);
          const all = await this.#index.coinsOf(txid, unpacked(position));
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

type Rows = AsyncIterable<RowColumns> | Iterable<RowColumns>;

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

/** `position`, `txid`: of the coin's transaction. */
const placed = ({ index, value }: TransactionCoin, position: number, txid: Buffer): PlacedCoin => ({ position, txid, index, value });

/** `coins`: from the newest down, of `unspent` outputs. @throws TooManyCoinsError */
function upwards(coins: PlacedCoin[], unspent: number, most: number): FoundCoins {
  if (coins.length > most) throw new TooManyCoinsError(most);
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
