// The history of a script in the order of the Electrum protocol, from which its status is computed: transactions of the chain in
// ascending order, then of the pool, first at height 0 by txid, then at height -1 by txid. All of it is of one moment.

import { compareDisplayed } from '../../bitcoin/hash';
import { HistoryTooLongError } from '../../scripts/errors';
import { runInSlices } from '../../turns/slices';
import { sorted } from '../../turns/sorted';
import { MANY_TRANSACTIONS, type ChainTotals } from '../scripts/totals';
import type { Position } from '../../index/types';
import type { HistoryWalk, ScriptSnapshot, WalkedPage } from '../../scripts/types';
import type { Client } from '../../turns/client';
import type { PooledEntry, PooledScript, PooledScripts } from '../scripts/pooled-script';

/** The most transactions in a page. */
export const ROWS_PER_PAGE = 1_024;

/** Of longer histories no more is read before they are counted: these counts stay cached. Counting others first would read them twice. */
const SHORT_HISTORY = MANY_TRANSACTIONS;

/** False ends the walk. */
export type TakeTransactions = (page: WalkedPage) => unknown;

export class ScriptHistories {
  readonly #pooled: PooledScripts;
  readonly #totals: ChainTotals;

  constructor(pooled: PooledScripts, totals: ChainTotals) {
    this.#pooled = pooled;
    this.#totals = totals;
  }

  /** To be called in the turn in which the snapshot was taken. `script`: its SHA-256, not reversed. */
  at(script: Buffer, snapshot: ScriptSnapshot): ScriptHistory {
    return new ScriptHistory(script, snapshot, this.#pooled.at(script, snapshot), this.#totals);
  }
}

/** The history of one script; valid as long as its snapshot. */
export class ScriptHistory {
  /** `script`: its SHA-256, not reversed. `pooled`: its part of the pool. */
  constructor(
    readonly script: Buffer,
    readonly snapshot: ScriptSnapshot,
    readonly pooled: PooledScript,
    readonly totals: ChainTotals
  ) {}

  /**
   * Gives the transactions of the chain in ascending order to `take`, page by page, until it returns false; `above`: only those after this
   * position. A promise only if that takes more than one turn.
   * @throws HistoryTooLongError when there are more than `most`, or the whole history is longer than that
   */
  confirmed(most: number, client: Client, take: TakeTransactions, above?: Position): void | Promise<void> {
    const walk = this.snapshot.walk(this.script, above);
    const page = walk.next(ROWS_PER_PAGE);
    if (page instanceof Promise || !page.isLast) return this.#walked(walk, page, { most, client, take, isPart: above !== undefined });
    requireAtMost(most, page.positions.length);
    const taken = take(page);
    return taken instanceof Promise ? taken.then(() => undefined) : undefined;
  }

  /** `isPart`: the walk began above the first transaction. */
  async #walked(
    walk: HistoryWalk,
    first: WalkedPage | Promise<WalkedPage>,
    { most, client, take, isPart }: { most: number; client: Client; take: TakeTransactions; isPart: boolean }
  ): Promise<void> {
    const { script, snapshot, totals } = this;
    let count = 0;
    const mustCount = (): boolean => isPart || count > SHORT_HISTORY;
    try {
      let page = await first;
      for (let isCounted = most === Infinity; ;) {
        const { isLast } = page;
        requireAtMost(most, (count += page.positions.length));
        if (!isCounted && !isLast) {
          const all = totals.known(script, snapshot) ?? (mustCount() ? await totals.of(script, snapshot, client) : undefined);
          requireAtMost(most, all?.transactions ?? 0);
          isCounted = all !== undefined;
        }
        const goesOn = take(page);
        if ((goesOn instanceof Promise ? await goesOn : goesOn) === false || isLast) return;
        page = await walk.next(ROWS_PER_PAGE);
      }
    } finally {
      await walk.close();
    }
  }

  /** Unconfirmed transactions. */
  async unconfirmed(client: Client): Promise<PooledEntry[]> {
    const entries = await this.pooled.entries(client);
    return entries.length > 1 ? runInSlices(sorted(entries, inOrder), client) : entries;
  }
}

/** @throws HistoryTooLongError */
function requireAtMost(most: number, transactions: number): void {
  if (transactions > most) throw HistoryTooLongError.beyond(most);
}

const inOrder = (a: PooledEntry, b: PooledEntry): number => b.height - a.height || compareDisplayed(a.transaction.txid, b.transaction.txid);
