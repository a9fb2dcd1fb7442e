// Notifies listeners of scripts whose status has changed. There is one notifier for all clients, so that a status is computed once, however
// many clients are subscribed to the script.
//
// Blocks and the pool say which scripts they touch. These are collected by the next pass, with index and pool read in one turn of the event
// loop. Listeners that know another status than the one that is found are notified of it.

import { setImmediate } from 'node:timers/promises';
import { hashOfKey } from '../../bitcoin/hash';
import { isOfChain, touchedIn, type Change } from '../updates/changes';
import { Leaving } from '../updates/leaving';
import { notify } from '../updates/listener';
import { inGroups, NotifiedListeners } from '../updates/notifying';
import { Pending } from '../updates/pending';
import { Statuses, type NewRows, type Status } from './statuses';
import { SubscribedScript, type KnownStatus, type StatusListener } from './subscribed-script';
import type { ScriptPool } from '../../pool/by-script/script-pool';
import type { ScriptReader, ScriptsChange, ScriptSnapshot } from '../../scripts/types';
import type { CacheUse } from '../../server/cache/answer-cache';
import type { Notifier, SettledPasses } from '../updates/settled-passes';
import type { ScriptHistories, ScriptHistory } from './history';

/** Scripts in one pass: their parts of the pool are taken in one turn. */
const MOST_IN_PASS = 512;

export interface StatusNotifierParts {
  readonly passes: SettledPasses;
  readonly reader: ScriptReader;
  readonly pool: Pick<ScriptPool, 'totals'>;
  readonly histories: ScriptHistories;
}

/** A status, and the pass that found it. */
interface Found {
  readonly pass: number;
  readonly status: Status;
}

/** A status that is being found for new subscribers. */
interface Answer {
  /** The most transactions that are read for it. */
  readonly most: number;
  readonly found: Promise<Found>;
}

/** What is read of a script in the turn of a pass. */
interface Collected {
  readonly history: ScriptHistory;
  readonly newRows: NewRows | undefined;
}

export class StatusNotifier implements Notifier {
  readonly #parts: StatusNotifierParts;
  readonly #statuses = new Statuses();
  /** The scripts with subscribers, and those for whose first subscriber a status is being found. */
  readonly #scripts = new Map<string, SubscribedScript>();
  /** Those whose status may be another one than listeners know. It is then no answer to a new subscriber either. */
  readonly #pending: Pending<SubscribedScript>;
  /** Statuses that are being found for new subscribers. All who ask share one, until something changes. */
  readonly #answers = new Map<SubscribedScript, Answer>();
  /** The script whose listeners are being notified, and those whose turn is to come: not of those who leave or get an answer meanwhile. */
  #notifying: { readonly subscribed: SubscribedScript; readonly due: Set<StatusListener> } | undefined;
  readonly #leaving = new Leaving<string, StatusListener>((script, listener) => {
    this.delete(script, listener);
  });
  /** How many passes there were. Finding a status for new subscribers counts as a pass. */
  #passCount = 0;
  /** How many there were when the chain moved last, and when changes were collected last. */
  #lastMove = 0;
  #lastCollected = 0;

  constructor(parts: StatusNotifierParts) {
    this.#parts = parts;
    this.#pending = new Pending(MOST_IN_PASS, parts.passes);
    parts.passes.add(this);
  }

  /** Number of scripts with subscribers. */
  get size(): number {
    return this.#scripts.size;
  }

  /** The cache of hashes of histories. */
  get cache(): CacheUse & { readonly byteLength: number } {
    return { ...this.#statuses.use, byteLength: this.#statuses.byteLength };
  }

  watches(script: string): boolean {
    return this.#scripts.has(script);
  }

  /**
   * Subscribes the listener to changes of the status, and returns the present one: 32 bytes as a latin1 string, empty for a script without
   * transactions; a promise only if it takes more than one turn. `script`: its SHA-256 as a latin1 string. `most`: the longest history that
   * is read. `worked` is called with the number of transactions that were read, unless the status was known already.
   * @throws HistoryTooLongError, ScriptsUnavailableError, IndexUnavailableError
   */
  add(script: string, listener: StatusListener, most: number, worked?: (transactions: number) => void): string | Promise<string> {
    const subscribed = this.#scripts.get(script) ?? this.#enter(script);
    const known = this.#knownOf(subscribed);
    if (known !== undefined) return this.#addAnswered(subscribed, listener, known);
    const added = ({ pass, status }: Found): string => {
      worked?.(status.work);
      return this.#addAnswered(subscribed, listener, { status: status.text, pass });
    };
    let found: Found | Promise<Found>;
    try {
      found = this.#answer(subscribed, most);
    } catch (error) {
      this.#leave(subscribed);
      throw error;
    }
    return found instanceof Promise ? this.#during(subscribed, found.then(added)) : added(found);
  }

  /** As `add`, without subscribing anybody. */
  statusOf(script: string, most: number, worked?: (transactions: number) => void): string | Promise<string> {
    const listener: StatusListener = { changed: () => undefined, failed: () => undefined };
    const given = (status: string): string => {
      this.delete(script, listener);
      return status;
    };
    const added = this.add(script, listener, most, worked);
    return added instanceof Promise ? added.then(given) : given(added);
  }

  /** Keeps the script while a status is being found for its first subscriber. */
  async #during<T>(subscribed: SubscribedScript, work: Promise<T>): Promise<T> {
    subscribed.pending++;
    try {
      return await work;
    } finally {
      subscribed.pending--;
      this.#leave(subscribed);
    }
  }

  /** Ends a subscription, if there is one. */
  delete(script: string, listener: StatusListener): void {
    const subscribed = this.#scripts.get(script);
    if (subscribed === undefined) return;
    subscribed.delete(listener);
    if (this.#notifying?.subscribed === subscribed) this.#notifying.due.delete(listener);
    this.#leave(subscribed);
  }

  /** Ends subscriptions a few in each turn. The listener must ignore what it is notified of meanwhile. */
  leave(scripts: Iterable<string>, listener: StatusListener): void {
    this.#leaving.add(scripts, listener);
  }

  #enter(script: string): SubscribedScript {
    const subscribed = new SubscribedScript(script);
    this.#scripts.set(script, subscribed);
    this.#parts.passes.watch(script);
    return subscribed;
  }

  #leave(subscribed: SubscribedScript): void {
    if (!subscribed.isLeft) return;
    this.#scripts.delete(subscribed.key);
    this.#pending.delete(subscribed);
    this.#parts.passes.unwatch(subscribed.key);
  }

  /** What listeners know, unless something may have changed since. */
  #knownOf(subscribed: SubscribedScript): KnownStatus | undefined {
    const { key, status, pass } = subscribed;
    if (status === undefined || this.#pending.has(subscribed)) return undefined;
    // A block changes heights in the pool at once, but the pool says so only when it drops the block's transactions.
    const isMoving = Math.max(pass, this.#lastCollected) <= this.#lastMove;
    if (isMoving && this.#parts.pool.totals(hashOfKey(key)).transactions > 0) return undefined;
    return { status, pass };
  }

  /** The status at this turn, even if the node has not settled: listeners are notified of later changes as usual. */
  #answer(subscribed: SubscribedScript, most: number): Found | Promise<Found> {
    const before = this.#answers.get(subscribed);
    if (before !== undefined && before.most >= most) return before.found;
    const found = this.#parts.reader.read((snapshot): Found | Promise<Found> => {
      const pass = ++this.#passCount;
      const collected = { history: this.#historyOf(subscribed, snapshot), newRows: undefined };
      const finding = this.#statusOf(subscribed, collected, pass, most);
      return finding instanceof Promise ? finding.then((status) => ({ pass, status })) : { pass, status: finding };
    });
    if (!(found instanceof Promise)) return found;
    this.#answers.set(subscribed, { most, found });
    const forget = (): void => {
      if (this.#answers.get(subscribed)?.found === found) this.#answers.delete(subscribed);
    };
    found.then(forget, forget);
    return found;
  }

  /** Adds the listener, and returns the status that it gets in this turn: the one found for it, or a later one that others know. */
  #addAnswered(subscribed: SubscribedScript, listener: StatusListener, found: KnownStatus): string {
    subscribed.add(listener);
    // The answer is at least as new as what it would be notified of with the others.
    if (this.#notifying?.subscribed === subscribed) this.#notifying.due.delete(listener);
    return subscribed.answered(listener, found);
  }

  changed(change: Change): void {
    if (isOfChain(change)) this.#chainMoved(change);
    for (const subscribed of touchedIn(this.#scripts, change)) {
      this.#pending.add(subscribed);
      this.#answers.delete(subscribed);
    }
  }

  #chainMoved(change: ScriptsChange): void {
    this.#lastMove = this.#passCount;
    // As in `#knownOf`: their heights may be those before the block.
    this.#answers.clear();
    if (change.type === 'connect') for (const [script, rows] of change.rows) this.#scripts.get(script)?.addRows(change.block, rows);
    else for (const subscribed of touchedIn(this.#scripts, change)) subscribed.forget();
  }

  collect(snapshot: ScriptSnapshot): () => Promise<void> {
    const pass = (this.#lastCollected = ++this.#passCount);
    return this.#pending.collect(
      (subscribed): Collected => ({ history: this.#historyOf(subscribed, snapshot), newRows: subscribed.newRows }),
      (collected) => this.#notifyAll(collected, pass)
    );
  }

  async #notifyAll(all: readonly (readonly [SubscribedScript, Collected])[], pass: number): Promise<void> {
    const notified = new NotifiedListeners();
    for await (const some of inGroups(all, this.#parts.passes)) {
      const found = await Promise.all(
        some.map(async ([subscribed, collected]) => [subscribed, await this.#statusOf(subscribed, collected, pass, Infinity)] as const)
      );
      for (const [subscribed, { text: status }] of found) {
        this.#pending.handled(subscribed);
        const { due } = (this.#notifying = { subscribed, due: new Set(subscribed.settle(status, pass)) });
        for (const listener of due) {
          notify(listener, (one) => {
            one.changed({ script: subscribed.key, status });
          });
          if (notified.fillTurn()) await setImmediate();
        }
        this.#notifying = undefined;
      }
    }
  }

  /** To be called in the turn of the pass. */
  #historyOf({ key }: SubscribedScript, snapshot: ScriptSnapshot): ScriptHistory {
    return this.#parts.histories.at(hashOfKey(key), snapshot);
  }

  #statusOf(subscribed: SubscribedScript, { history, newRows }: Collected, pass: number, most: number): Status | Promise<Status> {
    const found = (status: Status): Status => {
      // If a block has moved since, some of its rows may be missing.
      if (pass > this.#lastMove) subscribed.readUpTo(history.snapshot.index.tip, status.text === '');
      else subscribed.forget();
      return status;
    };
    const finding = this.#statuses.of(history, most, newRows);
    return finding instanceof Promise ? finding.then(found) : found(finding);
  }
}
