// Answers by script from one state of the store. The secret and the tip are read at once; all else is read off the event loop, which must
// not wait for LevelDB while that puts large tables in place.

import { hash } from 'node:crypto';
import { damaged, type Records } from '../../index/records/layout';
import { MAX_TRANSACTIONS } from '../../index/records/position';
import { decodeTip, TIP_KEY } from '../../index/records/tip';
import { HistoryTooLongError, ScriptsUnavailableError, TooManyCoinsError } from '../errors';
import { rowKey } from '../records/row';
import { ScriptHasher } from '../records/script-hasher';
import { CHUNK_TXIDS, TXID_LENGTH, txidsIn, txidsKey, txidsOfBlock } from '../records/txids';
import { isAbove, recordsUpwards, rowsDownwards, rowsUpwards, type FoundRow } from './row-walk';
import type { Position } from '../../index/records/position';
import type { IndexSnapshot } from '../../index/types';
import type { BlockPoint } from '../../node/types';
import type { StoreSnapshot } from '../../store/store';
import type { HistoryPage, ScriptCoin, ScriptRow, ScriptSnapshot, ScriptTotals } from '../types';

/** Rows whose txids are looked up together. Each has a record of up to two kilobytes. */
const TXIDS_AT_ONCE = 256;
/** Transactions whose coins are looked up together. */
const COINS_AT_ONCE = 16;
/** Of a longer history it is counted first how many coins there are to be found. */
const SHORT_HISTORY = 512;

export class StoredScriptSnapshot implements ScriptSnapshot {
  readonly index: IndexSnapshot;
  readonly #tip: BlockPoint;
  readonly #records: StoreSnapshot;
  readonly #hasher: ScriptHasher;

  /**
   * `records`: a snapshot of the store, at the block of `index`; whoever took it closes it.
   * @throws ScriptsUnavailableError for an index without blocks, DamagedIndexError
   */
  constructor(records: StoreSnapshot, index: IndexSnapshot) {
    const tip = StoredScriptSnapshot.tipOf(records);
    if (tip === undefined) throw new ScriptsUnavailableError('the index by script is empty');
    this.#tip = tip;
    this.index = index;
    this.#records = records;
    this.#hasher = ScriptHasher.of(records);
  }

  /** The block that a store stands at; undefined while it is empty, or being filled. @throws DamagedIndexError */
  static tipOf(records: Records): BlockPoint | undefined {
    const value = records.get(TIP_KEY);
    return value && decodeTip(value);
  }

  async history(script: Buffer, { beyond, limit, ascending = false }: HistoryPage): Promise<ScriptRow[]> {
    const page: ScriptRow[] = [];
    let found: FoundRow[] = [];
    const walk = ascending ? rowsUpwards : rowsDownwards;
    if (limit > 0)
      for await (const row of walk(this.#records, this.#hasher.hash(script), beyond)) {
        found.push(row);
        if (found.length < Math.min(TXIDS_AT_ONCE, limit - page.length)) continue;
        page.push(...(await this.#lastPlaces(script, found)));
        found = [];
        if (page.length >= limit) break;
      }
    return [...page, ...(await this.#lastPlaces(script, found))];
  }

  /** A txid that stands in the chain twice counts twice: both blocks paid. @throws HistoryTooLongError for more rows than `most`. */
  async totals(script: Buffer, most: number): Promise<ScriptTotals> {
    let transactions = 0;
    const [funded, spent] = [
      { count: 0, value: 0 },
      { count: 0, value: 0 }
    ];
    for await (const cursor of recordsUpwards(this.#records, this.#hasher.hash(script))) {
      while (cursor.next()) {
        transactions++;
        funded.count += cursor.fundedCount;
        funded.value += cursor.fundedValue;
        spent.count += cursor.spentCount;
        spent.value += cursor.spentValue;
      }
      if (transactions > most) throw new HistoryTooLongError(`more than ${most} transactions have to do with the script`);
    }
    return { transactions, funded, spent };
  }

  async coins(script: Buffer, most: number): Promise<ScriptCoin[]> {
    const coins: ScriptCoin[] = [];
    /** How many there are, or more: nobody can spend some outputs, which are no coins. */
    let unspent = Infinity;
    let rows = 0;
    let funding: FoundRow[] = [];
    // The newest are the most likely ones to be there.
    for await (const row of rowsDownwards(this.#records, this.#hasher.hash(script))) {
      if (++rows === SHORT_HISTORY) {
        const { funded, spent } = await this.totals(script, Infinity);
        unspent = funded.count - spent.count;
      }
      if (row.funded.count > 0) funding.push(row);
      if (funding.length >= COINS_AT_ONCE) {
        coins.push(...(await this.#coinsOf(script, funding)));
        funding = [];
      }
      if (coins.length > most || coins.length >= unspent) break;
    }
    coins.push(...(await this.#coinsOf(script, funding)));
    if (coins.length > most) throw new TooManyCoinsError(`more than ${most} coins are the script's`);
    return coins.reverse();
  }

  async *spenders(
    script: Buffer,
    { txid, index }: { readonly txid: Buffer; readonly index: number },
    position: Position
  ): AsyncGenerator<Position, void> {
    const hint = this.#hasher.hint(txid, index);
    for await (const cursor of recordsUpwards(this.#records, this.#hasher.hash(script), position))
      while (cursor.next()) if (cursor.hasHint(hint) && isAbove(cursor, position)) yield { height: cursor.height, index: cursor.index };
  }

  async txids(height: number): Promise<Buffer[]> {
    if (height < 0 || height > this.#tip.height) throw new RangeError(`expected a height up to ${this.#tip.height}, got ${height}`);
    const txids: Buffer[] = [];
    for await (const [key, value] of this.#records.range(txidsOfBlock(height))) {
      const expected = txidsKey(height, txids.length);
      // In front of a chunk that is not full, or behind a missing one, there is a gap.
      if (!key.equals(expected) || txids.length % CHUNK_TXIDS !== 0) throw damaged(expected, `${CHUNK_TXIDS} txids`, 'fewer');
      const chunk = txidsIn(key, value);
      for (let at = 0; at < chunk.length; at += TXID_LENGTH) txids.push(chunk.subarray(at, at + TXID_LENGTH));
    }
    const count = this.index.headerAt(height)?.transactionCount ?? 0;
    if (txids.length === 0 || (count !== 0 && count !== txids.length))
      throw damaged(txidsKey(height, txids.length), `txids of ${count} transactions`, `${txids.length}`);
    return txids;
  }

  async txidAt(position: Position): Promise<Buffer | undefined> {
    const { height, index } = position;
    if (height < 0 || height > this.#tip.height || index < 0 || index >= MAX_TRANSACTIONS) return undefined;
    const [txid] = await this.#txidsAt([position]);
    return txid;
  }

  /** The rows with their txids, but for those whose txids stand in the chain again (before BIP30). @throws DamagedIndexError */
  async #lastPlaces(script: Buffer, rows: readonly FoundRow[]): Promise<ScriptRow[]> {
    const txids = await this.#txidsAt(rows.map(({ position }) => position));
    return rows.flatMap((row, i) => {
      const { position } = row;
      const txid = txids[i];
      if (txid === undefined) throw damaged(rowKey(this.#hasher.hash(script), position), 'a row of a transaction', 'none');
      // Only a coinbase can have the txid of another transaction.
      const isLast = position.index > 0 || this.index.position(txid)?.block.height === position.height;
      return isLast ? [{ ...row, txid }] : [];
    });
  }

  /** undefined: no such transaction. @throws DamagedIndexError */
  async #txidsAt(positions: readonly Position[]): Promise<(Buffer | undefined)[]> {
    const keys = positions.map(({ height, index }) => txidsKey(height, index));
    const values = await this.#records.load(keys);
    return positions.map(({ index }, i) => {
      const [key, value] = [keys[i] as Buffer, values[i]]; // one for each
      const start = (index % CHUNK_TXIDS) * TXID_LENGTH;
      const txid = value && txidsIn(key, value).subarray(start, start + TXID_LENGTH);
      // Not a view of the whole chunk, which would be kept with it.
      return txid === undefined || txid.length === 0 ? undefined : Buffer.from(txid);
    });
  }

  /** The script's coins of transactions, from the last row's last coin to the first one's first. */
  async #coinsOf(script: Buffer, rows: readonly FoundRow[]): Promise<ScriptCoin[]> {
    const txids = await this.#txidsAt(rows.map(({ position }) => position));
    const coins = await Promise.all(
      rows.map(async ({ position }, i) => {
        const txid = txids[i];
        if (txid === undefined) throw damaged(rowKey(this.#hasher.hash(script), position), 'a row of a transaction', 'none');
        const all = await this.index.coinsOf(txid, position);
        // Of a txid that stands in the chain twice an index that began with coins has those of the last place, whichever is asked for.
        return all
          .filter((coin) => coin.height === position.height && hash('sha256', coin.script, 'buffer').equals(script))
          .map((coin): ScriptCoin => ({ ...coin, txid, position }))
          .reverse();
      })
    );
    return coins.flat();
  }
}
