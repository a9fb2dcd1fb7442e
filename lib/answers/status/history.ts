// The history of a script in the order of the Electrum protocol, from which its status is computed: transactions of the chain in
// ascending order, then of the pool, first at height 0 by txid, then at height -1 by txid. All of it is of one moment.

import { compareDisplayed } from '../../bitcoin/hash';
import { HistoryTooLongError } from '../../scripts/errors';
import { runInSlices } from '../../turns/slices';
import { sorted } from '../../turns/sorted';
import type { Position, HeaderRecord, IndexSnapshot } from '../../index/types';
import type { PooledTransaction } from '../../pool/by-script/pooled-transaction';
import type { ScriptPool } from '../../pool/by-script/script-pool';
import type { ScriptRow, ScriptSnapshot } from '../../scripts/types';
import type { Client } from '../../turns/client';
import type { PooledScript, PooledScripts } from '../scripts/pooled-script';
import type { ChainTotals } from '../scripts/totals';

const ROWS_PER_PAGE = 1_024;

/** Longer histories are counted before they are read. */
const SHORT_HISTORY = 256;

/** The height that the protocol gives to a transaction of the pool. -1: it spends an unconfirmed output. */
export type PooledHeight = 0 | -1;

/** Yields often. */
type HeightOf = (transaction: PooledTransaction) => Generator<void, PooledHeight>;

export interface PooledEntry {
  readonly transaction: PooledTransaction;
  readonly height: PooledHeight;
}

/** Shared by all clients, so that the height of a transaction of the pool is determined once for each block. */
export class ScriptHistories {
  readonly #totals: ChainTotals;
  readonly #pool: ScriptPool;
  readonly #pooled: PooledScripts;
  /** Heights of transactions of the pool, by the tip object of the state. */
  readonly #heights = new WeakMap<HeaderRecord, WeakMap<PooledTransaction, PooledHeight>>();

  constructor(pool: ScriptPool, pooled: PooledScripts, totals: ChainTotals) {
    this.#pool = pool;
    this.#pooled = pooled;
    this.#totals = totals;
  }

  /** To be called in the turn in which the snapshot was taken. `script`: its SHA-256, not reversed. */
  at(script: Buffer, snapshot: ScriptSnapshot): ScriptHistory {
    const pooled = this.#pooled.at(script, snapshot);
    return new ScriptHistory({
      script,
      snapshot,
      pooled,
      totals: this.#totals,
      heightOf: this.#heightsAt(snapshot.index)
    });
  }

  /** To be called in the turn in which the snapshot was taken; heights may be asked for later. */
  #heightsAt(index: IndexSnapshot): HeightOf {
    const pool = this.#pool;
    const { departures } = pool;
    const heights = this.#heights.get(index.tip) ?? new WeakMap<PooledTransaction, PooledHeight>();
    this.#heights.set(index.tip, heights);
    /**
     * Whether an input's coin is not in the chain. Only parents in the pool are looked up there, since a transaction may be in both for a
     * moment; and those that may have left the pool since.
     */
    const isUnconfirmed = (txid: Buffer, at: number): boolean =>
      (pool.has(txid) || pool.departures !== departures) && index.coin(txid, at) === undefined;
    return function* (transaction) {
      const known = heights.get(transaction);
      if (known !== undefined) return known;
      let height: PooledHeight = 0;
      for (const input of transaction.transaction.inputs) {
        if (isUnconfirmed(input.txid, input.index)) {
          height = -1;
          break;
        }
        yield;
      }
      heights.set(transaction, height);
      return height;
    };
  }
}

interface ScriptHistoryParts {
  readonly script: Buffer;
  readonly snapshot: ScriptSnapshot;
  readonly pooled: PooledScript;
  readonly totals: ChainTotals;
  readonly heightOf: HeightOf;
}

/** The history of one script; valid as long as its snapshot. */
export class ScriptHistory {
  /** The script's part of the pool. */
  readonly pooled: PooledScript;
  readonly #parts: ScriptHistoryParts;

  constructor(parts: ScriptHistoryParts) {
    this.pooled = parts.pooled;
    this.#parts = parts;
  }

  /**
   * Rows of the chain in ascending order, page by page; `above`: only rows after this position.
   * @throws HistoryTooLongError when there are more than `most`, or the whole history is longer than that
   */
  async *confirmed(most: number, client: Client, above?: Position): AsyncGenerator<readonly ScriptRow[], void> {
    const { script, snapshot, totals } = this.#parts;
    let [beyond, limit, count] = [above, SHORT_HISTORY, 0];
    for (;;) {
      const page = await snapshot.history(script, { beyond, limit, ascending: true });
      const isFirst = count === 0;
      count += page.length;
      const isLast = page.length < limit;
      const isToBeCounted = isFirst && !isLast && most < Infinity;
      if (count > most || (isToBeCounted && (await totals.of(script, snapshot, client)).transactions > most))
        throw new HistoryTooLongError(`more than ${most} transactions have to do with the script`);
      yield page;
      if (isLast) return;
      [beyond, limit] = [page.at(-1)?.position, ROWS_PER_PAGE];
    }
  }

  /** Unconfirmed transactions. */
  async unconfirmed(client: Client): Promise<PooledEntry[]> {
    const transactions = await this.pooled.transactions();
    return runInSlices(inOrder(transactions, this.#parts.heightOf), client);
  }
}

function* inOrder(transactions: readonly PooledTransaction[], heightOf: HeightOf): Generator<void, PooledEntry[]> {
  const entries: PooledEntry[] = [];
  for (const transaction of transactions) {
    entries.push({ transaction, height: yield* heightOf(transaction) });
    yield;
  }
  return yield* sorted(entries, (a, b) => b.height - a.height || compareDisplayed(a.transaction.txid, b.transaction.txid));
}
