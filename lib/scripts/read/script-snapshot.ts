// Answers by script from one state of the store. A script with one record is read at once, within the allowance of the turn; everything else
// off the event loop, which must not wait while LevelDB installs large tables.

import { TXID_LENGTH } from '../../bitcoin/transaction';
import { decodeTip, TIP_KEY } from '../../index/records/chain';
import { DamagedIndexError } from '../../follow/errors';
import { HistoryTooLongError, ScriptsUnavailableError } from '../errors';
import { ScriptHasher } from '../records/script-hasher';
import { packed, unpacked } from '../records/positions';
import { CoinSearch } from './coin-search';
import { newestChanges } from './newest-changes';
import { RowTxids, txidOf } from './row-txids';
import { exact, RunningTotals } from './running-totals';
import { rowsDownwards, UpwardWalk } from './row-walk';
import { ShortHistory } from './short-history';
import type { Position, IndexSnapshot } from '../../index/types';
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
  ScriptSnapshot,
  ScriptTotals,
  WalkedPage,
  WalkOptions
} from '../types';

/** Most rows that are read to count the coins of a script. */
const MOST_ROWS_FOR_COINS = 1_000_000;

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
  readonly #rowTxids: RowTxids;
  readonly #coinSearch: CoinSearch;
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
    this.#rowTxids = new RowTxids(index, txids);
    this.#coinSearch = new CoinSearch(records, index, this.#rowTxids);
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
      const last = this.#rowTxids.lastOnly(positions, txids);
      for (const [i, position] of last.positions.entries()) found.push({ position: unpacked(position), txid: txidIn(last.txids, i) });
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
        : [short.downwards()]) {
        for (let from = 0; found.length < limit && from < positions.length;) {
          const to = from + limit - found.length;
          const some = positions.slice(from, to);
          add(some, await this.#rowTxids.below(some));
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
      const last = this.#rowTxids.lastOnly(positions, await this.#rowTxids.below(positions));
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
    if (sums.transactions > most) throw HistoryTooLongError.beyond(most);
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
    const short = this.#shortHistory(hash);
    if (short !== undefined) return this.#coinSearch.inShort(short, script, most, goOn);
    const count = totals ?? (() => this.totals(script, MOST_ROWS_FOR_COINS, { goOn }));
    return this.#coinSearch.inLong(hash, script, most, count, goOn);
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

  #shortWalk(short: ShortHistory, above: Position | undefined): HistoryWalk {
    const positions: number[] = [];
    short.each((row) => positions.push(packed(row.height, row.index)), above);
    let from = 0;
    return {
      next: (most) => {
        const some = positions.slice(from, from + most);
        from += some.length;
        const page = (txids: Buffer): WalkedPage => ({ ...this.#rowTxids.lastOnly(some, txids), isLast: some.length < most });
        const txids = this.#txids.of(some);
        return txids instanceof Promise ? txids.then(page) : page(txids);
      },
      close: () => undefined
    };
  }

  #longWalk(hash: Buffer, above: Position | undefined): HistoryWalk {
    const walk = new UpwardWalk(this.#records, hash, above);
    return {
      next: async (most) => {
        const positions: number[] = [];
        const count = await walk.take(most, (row) => positions.push(packed(row.height, row.index)));
        return { ...this.#rowTxids.lastOnly(positions, await this.#txids.of(positions)), isLast: count < most };
      },
      close: () => walk.close()
    };
  }

  async #longTotals(hash: Buffer, most: number, beyond: Position | undefined, goOn: () => void): Promise<ScriptTotals> {
    const sums = new RunningTotals();
    const walk = new UpwardWalk(this.#records, hash, beyond);
    try {
      while (await walk.takeSome(sums.add)) {
        if (sums.transactions > most) throw HistoryTooLongError.beyond(most);
        goOn();
      }
    } finally {
      await walk.close();
    }
    return exact(sums.totals());
  }
}

/** A copy: a view would keep all of the bytes in memory. */
const txidIn = (txids: Buffer, index: number): Buffer => Buffer.from(txidOf(txids, index));

/** For callers that never stop the call. */
const GO_ON = (): void => undefined;
