// News of tracked scripts: transactions that entered the pool, left it unconfirmed, or were confirmed. The notifier says only that
// something has changed. What has changed is found by comparing with the last pass, once for all listeners of the script.

import { setImmediate } from 'node:timers/promises';
import { tell } from '../../answers/status/listener';
import { onceLive } from '../../answers/status/once-live';
import { placeIfKnown } from '../../answers/transactions/transactions';
import { keyOf } from '../../bitcoin/hash';
import { MAX_TRANSACTIONS } from '../../index/records/position';
import { ScriptsUnavailableError } from '../../scripts/errors';
import { NO_CLIENT } from '../../turns/client';
import { arrayOf } from './messages';
import type { Observable } from 'rxjs';
import type { PooledScript } from '../../answers/scripts/pooled-script';
import type { ScriptHistories } from '../../answers/status/history';
import type { Listener } from '../../answers/status/listener';
import type { ScriptNotifier } from '../../answers/status/script-notifier';
import type { StatusChange, StatusListener } from '../../answers/status/subscribed-script';
import type { Transactions } from '../../answers/transactions/transactions';
import type { Position } from '../../index/types';
import type { BlockPoint } from '../../node/types';
import type { PooledTransaction } from '../../pool/by-script/pooled-transaction';
import type { ScriptReader, ScriptSnapshot, ScriptsState } from '../../scripts/types';
import type { Ancestry } from './ancestry';

/** Scripts in one pass: their parts of the pool are taken in one turn of the event loop. */
const MOST_IN_PASS = 64;

/** Transactions of each kind in one message. */
const PAGE_SIZE = 25;

/** Listeners that are told in one turn of the event loop. */
const TOLD_IN_TURN = 16;

/** Transactions: each a JSON array, the same for all listeners, or undefined for none. */
export interface News {
  readonly pooled: Buffer | undefined;
  readonly confirmed: Buffer | undefined;
  /** Transactions that left the pool unconfirmed. */
  readonly removed: Buffer | undefined;
}

export interface ScriptListener extends Listener {
  /** `script`: its SHA-256, one character a byte. */
  scriptNews(script: string, news: News): void;
}

export interface ScriptNewsParts {
  readonly scripts: { readonly reader: ScriptReader; readonly state$: Observable<ScriptsState> };
  readonly notifier: ScriptNotifier;
  readonly histories: ScriptHistories;
  readonly transactions: Transactions;
  readonly ancestry: Ancestry;
  /** The most transactions of a script that can be tracked. */
  readonly maxHistory: number;
  /** Asks for a pass. */
  readonly wake: () => void;
}

/** What the listeners of a script know of it. */
interface Seen {
  /** By txid. */
  readonly pool: ReadonlyMap<string, PooledTransaction>;
  readonly block: BlockPoint;
}

class TrackedScript {
  readonly listeners = new Set<ScriptListener>();
  /** How many listeners wait for `beginning`. */
  pending = 0;
  beginning: Promise<void> | undefined;
  seen: Seen | undefined;

  constructor(readonly key: string) {}
}

interface Collected {
  readonly tracked: TrackedScript;
  readonly before: Seen;
  readonly pooled: PooledScript;
}

export class ScriptNews implements StatusListener {
  readonly #parts: ScriptNewsParts;
  readonly #tracked = new Map<string, TrackedScript>();
  readonly #dirty = new Set<TrackedScript>();

  constructor(parts: ScriptNewsParts) {
    this.#parts = parts;
  }

  /** Scripts that are tracked. */
  get size(): number {
    return this.#tracked.size;
  }

  /**
   * Once this resolves the listener is told. `script`: its SHA-256, one character a byte.
   * @throws HistoryTooLongError; ScriptsUnavailableError once the index is closed
   */
  async track(script: string, listener: ScriptListener): Promise<void> {
    const tracked = this.#tracked.get(script) ?? new TrackedScript(script);
    this.#tracked.set(script, tracked);
    tracked.pending++;
    try {
      await (tracked.beginning ??= this.#begin(tracked));
      tracked.listeners.add(listener);
    } catch (error) {
      tracked.beginning = undefined;
      throw error;
    } finally {
      tracked.pending--;
      this.#leave(tracked);
    }
  }

  untrack(script: string, listener: ScriptListener): void {
    const tracked = this.#tracked.get(script);
    tracked?.listeners.delete(listener);
    if (tracked !== undefined) this.#leave(tracked);
  }

  /** Its listeners are told after the next change. */
  failed(): void {
    this.#parts.wake();
  }

  changed({ script }: StatusChange): void {
    const tracked = this.#tracked.get(script);
    if (tracked === undefined) return;
    this.#dirty.add(tracked);
    this.#parts.wake();
  }

  /** To be called in the turn in which the snapshot was taken. The function that it returns tells the news. */
  collect(snapshot: ScriptSnapshot): () => Promise<void> {
    const collected: Collected[] = [];
    for (const tracked of this.#dirty) {
      const { seen: before, key } = tracked;
      // `#begin` asks for another pass when it is done.
      if (before === undefined) continue;
      if (collected.length === MOST_IN_PASS) {
        this.#parts.wake();
        break;
      }
      this.#dirty.delete(tracked);
      collected.push({ tracked, before, pooled: this.#pooledAt(key, snapshot) });
    }
    return async () => {
      this.#parts.ancestry.remember(snapshot.index);
      try {
        for (let next = collected[0]; next !== undefined; next = collected[0]) {
          await this.#tell(next, snapshot);
          collected.shift();
        }
      } finally {
        // After an error: what was not told stays dirty.
        for (const { tracked } of collected) if (this.#tracked.has(tracked.key)) this.#dirty.add(tracked);
      }
    };
  }

  async #begin(tracked: TrackedScript): Promise<void> {
    const { scripts, notifier, ancestry, maxHistory } = this.#parts;
    const begin = async (): Promise<Seen> => {
      await notifier.add(tracked.key, this, maxHistory);
      return scripts.reader.read(async (snapshot) => {
        const pooled = this.#pooledAt(tracked.key, snapshot);
        ancestry.remember(snapshot.index);
        return { pool: byTxid(await pooled.transactions()), block: snapshot.index.tip };
      });
    };
    tracked.seen = await onceLive(scripts, begin, () => false);
    if (tracked.seen === undefined) throw new ScriptsUnavailableError('the index by script was closed');
    if (this.#dirty.has(tracked)) this.#parts.wake();
  }

  #leave(tracked: TrackedScript): void {
    if (tracked.listeners.size > 0 || tracked.pending > 0 || this.#tracked.get(tracked.key) !== tracked) return;
    this.#tracked.delete(tracked.key);
    this.#dirty.delete(tracked);
    this.#parts.notifier.delete(tracked.key, this);
  }

  #pooledAt(key: string, snapshot: ScriptSnapshot): PooledScript {
    return this.#parts.histories.at(Buffer.from(key, 'latin1'), snapshot).pooled;
  }

  async #tell({ tracked, before, pooled }: Collected, snapshot: ScriptSnapshot): Promise<void> {
    const { index } = snapshot;
    const pool = byTxid(await pooled.transactions());
    const came = [...pool.values()].filter(({ txid }) => !before.pool.has(keyOf(txid)));
    const left = [...before.pool.values()].filter(({ txid }) => !pool.has(keyOf(txid)) && placeIfKnown(txid, index) === undefined);
    let beyond: Position = { height: this.#parts.ancestry.forkHeight(before.block, index), index: MAX_TRANSACTIONS - 1 };
    for (;;) {
      const rows = await snapshot.history(Buffer.from(tracked.key, 'latin1'), { beyond, limit: PAGE_SIZE, ascending: true });
      await this.#tellAll(tracked, {
        removed: listOf(await this.#texts(left.splice(0, PAGE_SIZE))),
        pooled: listOf(await this.#texts(came.splice(0, PAGE_SIZE))),
        confirmed: listOf(await this.#parts.transactions.confirmed(rows, index, NO_CLIENT))
      });
      beyond = rows.at(-1)?.position ?? beyond;
      if (rows.length < PAGE_SIZE && came.length + left.length === 0) break;
    }
    tracked.seen = { pool, block: index.tip };
  }

  async #tellAll({ key, listeners }: TrackedScript, news: News): Promise<void> {
    if (news.removed === undefined && news.pooled === undefined && news.confirmed === undefined) return;
    let count = 0;
    for (const listener of listeners) {
      tell(listener, (one) => {
        one.scriptNews(key, news);
      });
      if (++count % TOLD_IN_TURN === 0) await setImmediate();
    }
  }

  #texts(list: readonly PooledTransaction[]): Promise<Buffer[]> {
    return Promise.all(list.map((transaction) => this.#parts.transactions.unconfirmed(transaction, NO_CLIENT)));
  }
}

const listOf = (texts: readonly Buffer[]): Buffer | undefined => (texts.length === 0 ? undefined : arrayOf(texts));

const byTxid = (list: readonly PooledTransaction[]): Map<string, PooledTransaction> =>
  new Map(list.map((transaction) => [keyOf(transaction.txid), transaction]));
