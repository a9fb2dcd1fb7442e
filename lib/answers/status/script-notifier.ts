// Tells listeners of new tips, and of scripts whose status has changed. There is one notifier for all clients, so that a script is looked
// at once, however many clients are subscribed to it.
//
// Index and pool report which scripts a block or a transaction touches. These scripts are collected when the node has settled, with index
// and pool read in one turn of the event loop. Listeners that were last told another status are told the new one.
//
// A block may also change scripts that it does not touch: if it confirms a transaction from which another one in the pool spends, the
// latter's height changes from -1 to 0. A block that is disconnected may change all scripts with transactions in the pool.

import { setImmediate } from 'node:timers/promises';
import { listen } from '../../node/events';
import { detailsOf } from '../../turns/error-text';
import { tell, type Listener } from './listener';
import { Statuses, type NewRows, type Status } from './statuses';
import { SubscribedScript, type StatusChange, type StatusListener, type Told } from './subscribed-script';
import type { Observable, Subscription } from 'rxjs';
import type { IndexLogger } from '../../follow/logger';
import type { HeaderRecord } from '../../index/types';
import type { ScriptPool } from '../../pool/by-script/script-pool';
import type { ScriptReader, ScriptSnapshot, ScriptsChange, ScriptsState, WatchedScripts } from '../../scripts/types';
import type { ScriptHistories, ScriptHistory } from './history';
import type { SettledPasses } from './settled-passes';

/** Scripts in one pass: their parts of the pool are taken in one turn. */
const MOST_IN_PASS = 512;
/** Scripts that are read at the same time. */
const AT_ONCE = 8;
/** Listeners that are told in one turn: for each a write to its connection follows, of some 40 µs. */
const TOLD_IN_TURN = 32;
/** Subscriptions that are ended in one turn: less than a millisecond. */
const LEFT_IN_TURN = 512;

export interface TipListener extends Listener {
  tipChanged(tip: HeaderRecord): void;
}

export interface ScriptNotifierParts {
  readonly passes: SettledPasses;
  readonly scripts: {
    readonly reader: ScriptReader;
    readonly watched: WatchedScripts;
    readonly state$: Observable<ScriptsState>;
  };
  readonly pool: ScriptPool;
  readonly histories: ScriptHistories;
  readonly logger: IndexLogger;
}

/** The status of a script, and the pass that found it. */
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

interface Pass {
  readonly number: number;
  /** How many blocks had been connected or disconnected before the pass. */
  readonly moves: number;
  readonly snapshot: ScriptSnapshot;
}

/** What is read of a script in the turn of a pass. */
interface Collected {
  readonly history: ScriptHistory;
  readonly newRows: NewRows | undefined;
}

export class ScriptNotifier {
  readonly #parts: ScriptNotifierParts;
  readonly #statuses = new Statuses();
  readonly #scripts = new Map<string, SubscribedScript>();
  /** Scripts with transactions in the pool. */
  readonly #pooled = new Set<SubscribedScript>();
  /** Scripts with a transaction in the pool that spends an unconfirmed output (height -1). */
  readonly #waiting = new Set<SubscribedScript>();
  /** Scripts that are to be collected. */
  readonly #dirty = new Set<SubscribedScript>();
  /** Scripts that are being collected, until their listeners are told. */
  readonly #collected = new Map<SubscribedScript, Collected>();
  /** Statuses that are being found for new subscribers, until something touches the script. */
  readonly #answers = new Map<SubscribedScript, Answer>();
  /** Listeners, each with the hash of the tip that it was told last. */
  readonly #tipListeners = new Map<TipListener, Buffer>();
  /** The script whose listeners are being told, and those that are still to be told. */
  #telling: { readonly subscribed: SubscribedScript; readonly due: Set<StatusListener> } | undefined;
  readonly #leaving: { readonly scripts: Iterable<string>; readonly listener: StatusListener }[] = [];
  #subscription: Subscription | undefined;
  /** How many passes there were. */
  #passCount = 0;
  /** How many blocks were connected or disconnected. */
  #moves = 0;
  readonly #passes: SettledPasses;

  constructor(parts: ScriptNotifierParts) {
    this.#parts = parts;
    this.#passes = parts.passes;
    this.#passes.add({
      isNeeded: () => this.#scripts.size > 0 || this.#tipListeners.size > 0,
      collect: (snapshot) => this.#collect(snapshot)
    });
  }

  open(): void {
    const { scripts, pool, logger } = this.#parts;
    this.#subscription = scripts.watched.changes$.subscribe((change) => this.#blockMoved(change));
    this.#subscription.add(
      listen(
        pool.touched$,
        (touched) => {
          if (touched === 'all') this.#touchAll(this.#scripts.values());
          // Each transaction would otherwise cause a pass, even if clients subscribed to tips alone.
          else if (this.#scripts.size > 0) this.#touchEach(touched);
        },
        (error) => {
          logger.error(`scripts: ${detailsOf(error)}`);
        }
      )
    );
    this.#subscription.add(
      scripts.state$.subscribe(({ phase }) => {
        if (phase === 'live') this.#passes.wake();
      })
    );
  }

  /** Takes in no more changes. */
  close(): void {
    this.#subscription?.unsubscribe();
  }

  /** Resolves when listeners were told of everything so far, or the indexes cannot be read. */
  settled(): Promise<void> {
    return this.#passes.settled();
  }

  /** Number of scripts with subscribers. */
  get size(): number {
    return this.#scripts.size;
  }

  /** Tells the listener of new tips from now on. `known`: the tip that it was told just now, which may be older than the index's. */
  addTips(listener: TipListener, known: HeaderRecord): void {
    this.#tipListeners.set(listener, known.hash);
  }

  deleteTips(listener: TipListener): void {
    this.#tipListeners.delete(listener);
  }

  /**
   * Subscribes the listener to changes of the status, and returns the present one: 32 bytes as a latin1 string, empty for a script without
   * transactions. `script`: its SHA-256 as a latin1 string. `most`: the longest history that is read. `worked` is called with the number of
   * transactions that were read, unless the status was known already.
   * @throws HistoryTooLongError, ScriptsUnavailableError, IndexUnavailableError
   */
  async add(script: string, listener: StatusListener, most: number, worked?: (transactions: number) => void): Promise<string> {
    const subscribed = this.#scripts.get(script) ?? this.#enter(script);
    if (subscribed.status !== undefined && !this.#dirty.has(subscribed) && !this.#collected.has(subscribed))
      return this.#addAnswered(subscribed, listener, { status: subscribed.status, pass: subscribed.pass });
    subscribed.pending++;
    try {
      const { pass, status } = await this.#answer(subscribed, most);
      worked?.(status.work);
      return this.#addAnswered(subscribed, listener, { status: status.text, pass });
    } finally {
      subscribed.pending--;
      this.#leave(subscribed);
    }
  }

  /** Adds the listener, and returns the status that it is told in this turn: the one found for it, or a later one that others were told. */
  #addAnswered(subscribed: SubscribedScript, listener: StatusListener, found: Told): string {
    subscribed.add(listener);
    // The answer is at least as new as what it would be told with the others.
    if (this.#telling?.subscribed === subscribed) this.#telling.due.delete(listener);
    return subscribed.answered(listener, found);
  }

  /** Ends a subscription, if there is one. */
  delete(script: string, listener: StatusListener): void {
    const subscribed = this.#scripts.get(script);
    if (subscribed === undefined) return;
    subscribed.delete(listener);
    if (this.#telling?.subscribed === subscribed) this.#telling.due.delete(listener);
    this.#leave(subscribed);
  }

  /**
   * Ends subscriptions a few in each turn, since a client may have tens of thousands, and thousands of clients may leave at once. The
   * listener must ignore what it is told meanwhile.
   */
  leave(scripts: Iterable<string>, listener: StatusListener): void {
    if (this.#leaving.push({ scripts, listener }) === 1) void this.#letLeave();
  }

  /** Never rejects. */
  async #letLeave(): Promise<void> {
    let count = 0;
    for (let next = this.#leaving[0]; next !== undefined; next = this.#leaving[0]) {
      for (const script of next.scripts) {
        this.delete(script, next.listener);
        if (++count % LEFT_IN_TURN === 0) await setImmediate();
      }
      this.#leaving.shift();
    }
  }

  #enter(script: string): SubscribedScript {
    const subscribed = new SubscribedScript(script);
    this.#scripts.set(script, subscribed);
    this.#parts.scripts.watched.add(script);
    return subscribed;
  }

  #leave(subscribed: SubscribedScript): void {
    if (!subscribed.isLeft) return;
    this.#scripts.delete(subscribed.key);
    this.#parts.scripts.watched.delete(subscribed.key);
    for (const set of [this.#dirty, this.#pooled, this.#waiting]) set.delete(subscribed);
  }

  #blockMoved(change: ScriptsChange): void {
    this.#moves++;
    if (change.type === 'all') {
      for (const subscribed of this.#scripts.values()) subscribed.forget();
      this.#touchAll(this.#scripts.values());
    } else if (change.type === 'connect') {
      for (const [script, rows] of change.rows) this.#scripts.get(script)?.addRows(change.block, rows);
      this.#touchAll(this.#waiting);
      this.#touchEach(change.rows.keys());
    } else {
      for (const script of change.scripts) this.#scripts.get(script)?.forget();
      this.#touchAll(this.#pooled);
      this.#touchEach(change.scripts);
    }
  }

  #touchEach(scripts: Iterable<string>): void {
    for (const script of scripts) {
      const subscribed = this.#scripts.get(script);
      if (subscribed !== undefined) this.#touch(subscribed);
    }
    this.#passes.wake();
  }

  #touchAll(scripts: Iterable<SubscribedScript>): void {
    for (const subscribed of scripts) this.#touch(subscribed);
    this.#passes.wake();
  }

  #touch(subscribed: SubscribedScript): void {
    this.#dirty.add(subscribed);
    this.#answers.delete(subscribed);
  }

  /** The status at this turn, even if the node has not settled: later changes are told as usual. */
  #answer(subscribed: SubscribedScript, most: number): Promise<Found> {
    const before = this.#answers.get(subscribed);
    if (before !== undefined && before.most >= most) return before.found;
    const found = this.#parts.scripts.reader.read(async (snapshot) => {
      const pass = this.#newPass(snapshot);
      const status = await this.#statusOf(subscribed, { history: this.#historyOf(subscribed, pass), newRows: undefined }, pass, most);
      return { pass: pass.number, status };
    });
    this.#answers.set(subscribed, { most, found });
    const forget = (): void => void this.#answers.delete(subscribed);
    found.then(forget, forget);
    return found;
  }

  #newPass(snapshot: ScriptSnapshot): Pass {
    return { number: ++this.#passCount, moves: this.#moves, snapshot };
  }

  /** To be called in the turn of the pass. */
  #historyOf({ key }: SubscribedScript, { snapshot }: Pass): ScriptHistory {
    return this.#parts.histories.at(Buffer.from(key, 'latin1'), snapshot);
  }

  async #statusOf(subscribed: SubscribedScript, { history, newRows }: Collected, pass: Pass, most: number): Promise<Status> {
    const status = await this.#statuses.of(subscribed.key, history, pass.snapshot, most, newRows);
    if (this.#scripts.get(subscribed.key) !== subscribed) return status;
    if (pass.moves === this.#moves) subscribed.readUpTo(pass.snapshot.index.tip, status.text === '');
    else subscribed.forget();
    if (status.pool !== 'none') this.#pooled.add(subscribed);
    if (status.pool === 'waits') this.#waiting.add(subscribed);
    // A block was connected or disconnected before it was known that the script has transactions in the pool.
    if (status.pool !== 'none' && pass.moves !== this.#moves) this.#touchAll([subscribed]);
    return status;
  }

  #collect(snapshot: ScriptSnapshot): () => Promise<void> {
    const pass = this.#newPass(snapshot);
    for (const subscribed of this.#dirty) {
      if (this.#collected.size === MOST_IN_PASS) break;
      this.#collected.set(subscribed, { history: this.#historyOf(subscribed, pass), newRows: subscribed.newRows });
      this.#dirty.delete(subscribed);
    }
    if (this.#dirty.size > 0) this.#passes.wake();
    return async () => {
      try {
        await this.#tellTip(snapshot.index.tip);
        await this.#tellStatuses(pass);
      } finally {
        // After an error, scripts whose listeners were not told are touched again.
        for (const subscribed of this.#collected.keys()) this.#touch(subscribed);
        this.#collected.clear();
      }
    };
  }

  async #tellTip(tip: HeaderRecord): Promise<void> {
    let count = 0;
    for (const [listener, told] of [...this.#tipListeners]) {
      // A listener that has left or subscribed again since the pass knows more.
      if (told.equals(tip.hash) || this.#tipListeners.get(listener) !== told) continue;
      this.#tipListeners.set(listener, tip.hash);
      tell(listener, (one) => {
        one.tipChanged(tip);
      });
      if (++count % TOLD_IN_TURN === 0) await setImmediate();
    }
  }

  async #tellStatuses(pass: Pass): Promise<void> {
    const all = [...this.#collected];
    let count = 0;
    for (let start = 0; start < all.length && this.#passes.isOpen; start += AT_ONCE) {
      if (start > 0) await setImmediate();
      const some = all.slice(start, start + AT_ONCE);
      const statuses = await Promise.all(some.map(([subscribed, collected]) => this.#statusOf(subscribed, collected, pass, Infinity)));
      for (const [i, { text, pool }] of statuses.entries()) {
        const [subscribed] = some[i] as [SubscribedScript, Collected]; // one for each
        // Only here: a status for a new subscriber may be of an earlier moment, but be ready later.
        if (pool === 'none') this.#pooled.delete(subscribed);
        if (pool !== 'waits') this.#waiting.delete(subscribed);
        this.#collected.delete(subscribed);
        const change: StatusChange = { script: subscribed.key, status: text };
        const { due } = (this.#telling = { subscribed, due: new Set(subscribed.settle(change.status, pass.number)) });
        for (const listener of due) {
          tell(listener, (one) => {
            one.changed(change);
          });
          if (++count % TOLD_IN_TURN === 0) await setImmediate();
        }
        this.#telling = undefined;
      }
    }
  }
}
