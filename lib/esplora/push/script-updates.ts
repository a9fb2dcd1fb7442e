// Updates of tracked scripts: transactions that entered the pool, left it unconfirmed, or were confirmed. Whatever touches a script has it
// compared with what its listeners know, once for all of them.

import { setImmediate } from 'node:timers/promises';
import { onceLive } from '../../answers/scripts/once-live';
import { placeIfKnown } from '../../answers/transactions/transactions';
import { touchedIn, type Change } from '../../answers/updates/changes';
import { notify, type Listener } from '../../answers/updates/listener';
import { Pending } from '../../answers/updates/pending';
import { hashOfKey, keyOf } from '../../bitcoin/hash';
import { MAX_TRANSACTIONS } from '../../index/records/position';
import { HistoryTooLongError, ScriptsUnavailableError } from '../../scripts/errors';
import { NO_CLIENT } from '../../turns/client';
import { arrayOf } from '../messages';
import { NOTIFIED_IN_TURN, type GradualNotifier } from './rounds';
import type { Observable } from 'rxjs';
import type { PooledScript } from '../../answers/scripts/pooled-script';
import type { Notifier, SettledPasses } from '../../answers/updates/settled-passes';
import type { Position } from '../../index/types';
import type { BlockPoint } from '../../node/types/chain';
import type { PooledTransaction } from '../../pool/by-script/pooled-transaction';
import type { ScriptReader, ScriptSnapshot, ScriptsState } from '../../scripts/types';
import type { EsploraContext } from '../endpoint';
import type { Ancestry } from './ancestry';

/** Scripts in one pass: their parts of the pool are taken in one turn of the event loop. */
const MOST_IN_PASS = 64;

/** Transactions of each kind in one message. */
const PAGE_SIZE = 25;

/** Transactions: each a JSON array, the same for all listeners, or undefined for none. */
export interface ScriptUpdate {
  readonly pooled: Buffer | undefined;
  readonly confirmed: Buffer | undefined;
  /** Transactions that left the pool unconfirmed. */
  readonly removed: Buffer | undefined;
}

export interface ScriptListener extends Listener {
  /** `script`: its SHA-256, one character a byte. */
  scriptUpdated(script: string, update: ScriptUpdate): void;
}

export interface ScriptUpdatesParts {
  readonly context: Pick<EsploraContext, 'pooled' | 'totals' | 'transactions'>;
  readonly scripts: { readonly reader: ScriptReader; readonly state$: Observable<ScriptsState> };
  readonly passes: SettledPasses;
  readonly ancestry: Ancestry;
  /** The most transactions of a script that can be tracked. */
  readonly maxHistory: number;
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
  readonly before: Seen;
  readonly pooled: PooledScript;
}

export class ScriptUpdates implements Notifier, GradualNotifier {
  readonly #parts: ScriptUpdatesParts;
  readonly #tracked = new Map<string, TrackedScript>();
  /** Those that were touched since they were compared. */
  readonly #pending: Pending<TrackedScript>;

  constructor(parts: ScriptUpdatesParts) {
    this.#parts = parts;
    this.#pending = new Pending(MOST_IN_PASS, parts.passes);
    parts.passes.add(this);
  }

  /** Scripts that are tracked. */
  get size(): number {
    return this.#tracked.size;
  }

  get passesLeft(): number {
    return this.#pending.passesLeft;
  }

  watches(script: string): boolean {
    return this.#tracked.has(script);
  }

  /**
   * Once this resolves the listener is notified. `script`: its SHA-256, one character a byte.
   * @throws HistoryTooLongError; ScriptsUnavailableError once the index is closed
   */
  async track(script: string, listener: ScriptListener): Promise<void> {
    const tracked = this.#tracked.get(script) ?? this.#enter(script);
    tracked.pending++;
    try {
      await (tracked.beginning ??= this.#begin(tracked));
      tracked.listeners.add(listener);
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

  changed(change: Change): void {
    for (const tracked of touchedIn(this.#tracked, change)) this.#pending.add(tracked);
  }

  collect(snapshot: ScriptSnapshot): () => Promise<void> {
    return this.#pending.collect(
      ({ key, seen }): Collected | undefined => seen && { before: seen, pooled: this.#pooledAt(key, snapshot) },
      async (all) => {
        this.#parts.ancestry.remember(snapshot.index);
        for (const [tracked, collected] of all) {
          // `#begin` asks for another pass when it is done.
          if (collected === undefined) continue;
          await this.#compare(tracked, collected, snapshot);
          this.#pending.handled(tracked);
        }
      }
    );
  }

  #enter(script: string): TrackedScript {
    const tracked = new TrackedScript(script);
    this.#tracked.set(script, tracked);
    this.#parts.passes.watch(script);
    return tracked;
  }

  #leave(tracked: TrackedScript): void {
    if (tracked.listeners.size > 0 || tracked.pending > 0 || this.#tracked.get(tracked.key) !== tracked) return;
    this.#tracked.delete(tracked.key);
    this.#pending.delete(tracked);
    this.#parts.passes.unwatch(tracked.key);
  }

  async #begin(tracked: TrackedScript): Promise<void> {
    const { scripts, context, ancestry, passes, maxHistory } = this.#parts;
    const script = Buffer.from(tracked.key, 'latin1');
    const read = (): Promise<Seen> =>
      scripts.reader.read(async (snapshot) => {
        const pooled = this.#pooledAt(tracked.key, snapshot);
        const { transactions } = await context.totals.of(script, snapshot, NO_CLIENT);
        if (transactions > maxHistory) throw HistoryTooLongError.beyond(maxHistory);
        ancestry.remember(snapshot.index);
        return { pool: byTxid(await pooled.transactions()), block: snapshot.index.tip };
      });
    tracked.seen = await onceLive(scripts, read, () => false);
    if (tracked.seen === undefined) throw new ScriptsUnavailableError('the index by script was closed');
    if (this.#pending.has(tracked)) passes.wake();
  }

  #pooledAt(key: string, snapshot: ScriptSnapshot): PooledScript {
    return this.#parts.context.pooled.at(hashOfKey(key), snapshot);
  }

  async #compare(tracked: TrackedScript, { before, pooled }: Collected, snapshot: ScriptSnapshot): Promise<void> {
    const { index } = snapshot;
    const pool = byTxid(await pooled.transactions());
    const entered = [...pool.values()].filter(({ txid }) => !before.pool.has(keyOf(txid)));
    const left = [...before.pool.values()].filter(({ txid }) => !pool.has(keyOf(txid)) && placeIfKnown(txid, index) === undefined);
    let beyond: Position = { height: this.#parts.ancestry.forkHeight(before.block, index), index: MAX_TRANSACTIONS - 1 };
    for (;;) {
      const rows = await snapshot.history(Buffer.from(tracked.key, 'latin1'), { beyond, limit: PAGE_SIZE, ascending: true });
      await this.#notifyAll(tracked, {
        removed: listOf(await this.#texts(left.splice(0, PAGE_SIZE))),
        pooled: listOf(await this.#texts(entered.splice(0, PAGE_SIZE))),
        confirmed: listOf(await this.#parts.context.transactions.confirmed(rows, index, NO_CLIENT))
      });
      beyond = rows.at(-1)?.position ?? beyond;
      if (rows.length < PAGE_SIZE && entered.length + left.length === 0) break;
    }
    tracked.seen = { pool, block: index.tip };
  }

  async #notifyAll({ key, listeners }: TrackedScript, update: ScriptUpdate): Promise<void> {
    if (update.removed === undefined && update.pooled === undefined && update.confirmed === undefined) return;
    let count = 0;
    for (const listener of listeners) {
      notify(listener, (one) => {
        one.scriptUpdated(key, update);
      });
      if (++count % NOTIFIED_IN_TURN === 0) await setImmediate();
    }
  }

  #texts(list: readonly PooledTransaction[]): Promise<Buffer[]> {
    return Promise.all(list.map((transaction) => this.#parts.context.transactions.unconfirmed(transaction, NO_CLIENT)));
  }
}

const listOf = (texts: readonly Buffer[]): Buffer | undefined => (texts.length === 0 ? undefined : arrayOf(texts));

const byTxid = (list: readonly PooledTransaction[]): Map<string, PooledTransaction> =>
  new Map(list.map((transaction) => [keyOf(transaction.txid), transaction]));
