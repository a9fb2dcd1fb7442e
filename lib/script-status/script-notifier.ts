// Tells of new tips and of scripts whose status has changed: one for all clients, so that a script is looked at once, however many want to hear
// of it.
//
// Blocks and the pool say which scripts they touch. These are looked at when the node has settled, state and pool in one turn, and what was
// found then is told, unless it was told before.
//
// Beside the scripts that it touches a block may change those in whose history a transaction of the pool waits for another one: that one
// may just have been confirmed, and height -1 becomes 0. A block that is taken out may change all in whose history the pool is.

import { setImmediate } from 'node:timers/promises';
import { SettledLooks } from './settled-looks';
import { SubscribedScript, type StatusChange, type StatusListener, type Told } from './subscribed-script';
import { Statuses, type Brought, type Status } from './statuses';
import type { Observable, Subscription } from 'rxjs';
import type { HeaderRecord, IndexLogger } from '../index/types';
import type { BlockPoint, NodeSource } from '../node/types';
import type { ScriptPool } from '../script-pool/script-pool';
import type { ScriptReader, ScriptSnapshot, ScriptsChange, ScriptsState, WatchedScripts } from '../scripts/types';
import type { ScriptHistories, ScriptHistory } from './history';

/** Scripts in one look: their part of the pool is taken in one turn. */
const MOST_IN_LOOK = 512;
/** Scripts that are read at the same time. */
const AT_ONCE = 8;
/** Listeners that are told in one turn: a write to each connection follows, of some 40 µs. */
const TOLD_IN_TURN = 32;
/** Subscriptions that are given up in one turn: less than a millisecond. */
const LEFT_IN_TURN = 512;

export interface TipListener {
  tipChanged(tip: HeaderRecord): void;
}

export interface ScriptNotifierParts {
  readonly node: Pick<NodeSource, 'atRest' | 'tip'>;
  readonly scripts: {
    readonly reader: ScriptReader;
    readonly watched: WatchedScripts;
    readonly state$: Observable<ScriptsState>;
  };
  readonly pool: ScriptPool;
  readonly histories: ScriptHistories;
  readonly logger: IndexLogger;
}

/** What a script is at some look. */
interface Found {
  readonly look: number;
  readonly status: Status;
}

/** What is being found for somebody. */
interface Answer {
  /** Transactions of a history that is read for it. */
  readonly most: number;
  readonly found: Promise<Found>;
}

interface Look {
  readonly number: number;
  /** Blocks that had come or gone by then. */
  readonly moves: number;
  readonly snapshot: ScriptSnapshot;
}

/** What is known of a script in the turn of a look. */
interface LookedAt {
  readonly history: ScriptHistory;
  readonly brought: Brought | undefined;
}

export class ScriptNotifier {
  readonly #parts: ScriptNotifierParts;
  readonly #statuses = new Statuses();
  readonly #scripts = new Map<string, SubscribedScript>();
  /** In whose history the pool is; and those of them in which a transaction waits for another one. */
  readonly #pooled = new Set<SubscribedScript>();
  readonly #waiting = new Set<SubscribedScript>();
  /** To be looked at. */
  readonly #dirty = new Set<SubscribedScript>();
  /** Being looked at. */
  readonly #looked = new Set<SubscribedScript>();
  /** What is looked up for those who have just come; good as long as nothing touches the script. */
  readonly #answers = new Map<SubscribedScript, Answer>();
  /** With the hash of the tip that each was told last. */
  readonly #tipListeners = new Map<TipListener, Buffer>();
  /** Who has yet to be told of the script of which others are told. */
  #telling: { readonly subscribed: SubscribedScript; readonly due: Set<StatusListener> } | undefined;
  readonly #leaving: { readonly scripts: Iterable<string>; readonly listener: StatusListener }[] = [];
  #subscription: Subscription | undefined;
  #looks = 0;
  #moves = 0;
  /** The block that came last; undefined: another one has gone since, or anything may have changed. */
  #newest: BlockPoint | undefined;
  readonly #settled: SettledLooks;

  constructor(parts: ScriptNotifierParts) {
    this.#parts = parts;
    this.#settled = new SettledLooks({
      node: parts.node,
      reader: parts.scripts.reader,
      isNeeded: () => this.#scripts.size > 0 || this.#tipListeners.size > 0,
      look: (snapshot) => this.#look(snapshot),
      logger: parts.logger
    });
  }

  open(): void {
    const { scripts, pool } = this.#parts;
    this.#settled.open();
    this.#subscription = scripts.watched.changes$.subscribe((change) => this.#blockMoved(change));
    this.#subscription.add(
      pool.touched$.subscribe((touched) => {
        if (touched === 'all') this.#touchAll(this.#scripts.values());
        else if (this.#scripts.size > 0) this.#touchEach(touched);
      })
    );
    this.#subscription.add(
      scripts.state$.subscribe(({ phase }) => {
        if (phase === 'live') this.#settled.wake();
      })
    );
  }

  /** Nobody is told any more. Waits for the look that is under way. */
  async close(): Promise<void> {
    this.#subscription?.unsubscribe();
    await this.#settled.close();
  }

  /** Resolves when everybody was told of what has happened so far, as far as the indexes can be read. */
  settled(): Promise<void> {
    return this.#settled.settled();
  }

  get isOpen(): boolean {
    return this.#settled.isOpen;
  }

  /** Scripts that somebody is subscribed to. */
  get size(): number {
    return this.#scripts.size;
  }

  /** From now on the listener is told of new tips. `known`: the one that it was told just now, which may be older than the index. */
  addTips(listener: TipListener, known: HeaderRecord): void {
    this.#tipListeners.set(listener, known.hash);
  }

  deleteTips(listener: TipListener): void {
    this.#tipListeners.delete(listener);
  }

  /**
   * From now on the listener is told when the status changes. `script`: its SHA-256, one character a byte. The present status: 32 characters,
   * one a byte; none for a script without transactions. `most`: transactions of a history that is read for a new subscriber. `worked`: called
   * with how many were gone through for the answer, unless it was known.
   * @throws HistoryTooLongError, ScriptsUnavailableError, IndexUnavailableError
   */
  async add(script: string, listener: StatusListener, most: number, worked?: (transactions: number) => void): Promise<string> {
    const subscribed = this.#scripts.get(script) ?? this.#enter(script);
    if (subscribed.status !== undefined && !this.#dirty.has(subscribed) && !this.#looked.has(subscribed))
      return this.#addAnswered(subscribed, listener, { status: subscribed.status, look: subscribed.look });
    subscribed.coming++;
    try {
      const { look, status } = await this.#answer(subscribed, most);
      worked?.(status.work);
      return this.#addAnswered(subscribed, listener, { status: status.text, look });
    } finally {
      subscribed.coming--;
      this.#leave(subscribed);
    }
  }

  /** What it is told in this turn: what was found for it, or what was told to the others since. */
  #addAnswered(subscribed: SubscribedScript, listener: StatusListener, found: Told): string {
    subscribed.add(listener);
    // It is told no less than what it would be told in its turn.
    if (this.#telling?.subscribed === subscribed) this.#telling.due.delete(listener);
    return subscribed.answered(listener, found);
  }

  /** Whether it was told of it. */
  delete(script: string, listener: StatusListener): boolean {
    const subscribed = this.#scripts.get(script);
    if (subscribed?.has(listener) !== true) return false;
    subscribed.delete(listener);
    if (this.#telling?.subscribed === subscribed) this.#telling.due.delete(listener);
    this.#leave(subscribed);
    return true;
  }

  /** The listener ignores from now on what it is told. It may have had tens of thousands of scripts, and thousands may leave at once. */
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
    if (!subscribed.isLeft || this.#scripts.get(subscribed.key) !== subscribed) return;
    this.#scripts.delete(subscribed.key);
    this.#parts.scripts.watched.delete(subscribed.key);
    for (const set of [this.#dirty, this.#pooled, this.#waiting]) set.delete(subscribed);
  }

  #blockMoved(change: ScriptsChange): void {
    this.#moves++;
    this.#newest = change.type === 'connect' ? change.block : undefined;
    if (change.type === 'all') {
      for (const subscribed of this.#scripts.values()) subscribed.forget();
      this.#touchAll(this.#scripts.values());
    } else if (change.type === 'connect') {
      for (const [script, rows] of change.rows) this.#scripts.get(script)?.bring(change.block, rows);
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
    this.#settled.wake();
  }

  #touchAll(scripts: Iterable<SubscribedScript>): void {
    for (const subscribed of scripts) this.#touch(subscribed);
    this.#settled.wake();
  }

  #touch(subscribed: SubscribedScript): void {
    this.#dirty.add(subscribed);
    this.#answers.delete(subscribed);
  }

  /** The state of this turn, settled or not: what comes of what is under way is told later. */
  #answer(subscribed: SubscribedScript, most: number): Promise<Found> {
    const before = this.#answers.get(subscribed);
    if (before !== undefined && before.most >= most) return before.found;
    const found = this.#parts.scripts.reader.read(async (snapshot) => {
      const look = this.#newLook(snapshot);
      const status = await this.#statusOf(subscribed, { history: this.#historyOf(subscribed, look), brought: undefined }, look, most);
      return { look: look.number, status };
    });
    const answer: Answer = { most, found };
    this.#answers.set(subscribed, answer);
    const forget = (): void => {
      if (this.#answers.get(subscribed) === answer) this.#answers.delete(subscribed);
    };
    found.then(forget, forget);
    return found;
  }

  #newLook(snapshot: ScriptSnapshot): Look {
    return { number: ++this.#looks, moves: this.#moves, snapshot };
  }

  /** To be called in the turn of the look. */
  #historyOf({ key }: SubscribedScript, { snapshot }: Look): ScriptHistory {
    return this.#parts.histories.at(Buffer.from(key, 'latin1'), snapshot);
  }

  /** To be called in the turn of the look. When it is of the block that came last, nothing is missing in what blocks have brought. */
  #broughtTo({ since, wasEmpty, rows }: SubscribedScript, { snapshot }: Look): Brought | undefined {
    const { tip } = snapshot.index;
    const isAll = since?.hash.equals(tip.hash) === true || this.#newest?.hash.equals(tip.hash) === true;
    return since !== undefined && isAll ? { since, wasEmpty, rows } : undefined;
  }

  async #statusOf(subscribed: SubscribedScript, { history, brought }: LookedAt, look: Look, most: number): Promise<Status> {
    const status = await this.#statuses.of(subscribed.key, history, look.snapshot, most, brought);
    if (this.#scripts.get(subscribed.key) !== subscribed) return status;
    if (look.moves === this.#moves) subscribed.readUpTo(look.snapshot.index.tip, status.text === '');
    else subscribed.forget();
    if (status.pool !== 'none') this.#pooled.add(subscribed);
    if (status.pool === 'waits') this.#waiting.add(subscribed);
    // A block moved before it was known that it has to do with this script.
    if (status.pool !== 'none' && look.moves !== this.#moves) this.#touchAll([subscribed]);
    return status;
  }

  async #look(snapshot: ScriptSnapshot): Promise<void> {
    const look = this.#newLook(snapshot);
    const histories = new Map<SubscribedScript, LookedAt>();
    for (const subscribed of this.#dirty) {
      if (histories.size === MOST_IN_LOOK) break;
      histories.set(subscribed, { history: this.#historyOf(subscribed, look), brought: this.#broughtTo(subscribed, look) });
      this.#dirty.delete(subscribed);
      this.#looked.add(subscribed);
    }
    if (this.#dirty.size > 0) this.#settled.wake();
    try {
      await this.#tellTip(snapshot.index.tip);
      await this.#tellStatuses(histories, look);
    } finally {
      this.#looked.clear();
      // What was not told, because something went wrong.
      for (const subscribed of histories.keys()) if (!subscribed.isLeft) this.#touch(subscribed);
    }
  }

  async #tellTip(tip: HeaderRecord): Promise<void> {
    let count = 0;
    for (const [listener, told] of [...this.#tipListeners]) {
      // Who has gone or come again since the look knows more.
      if (told.equals(tip.hash) || this.#tipListeners.get(listener) !== told) continue;
      this.#tipListeners.set(listener, tip.hash);
      listener.tipChanged(tip);
      if (++count % TOLD_IN_TURN === 0) await setImmediate();
    }
  }

  /** Takes out of `histories` what is done. */
  async #tellStatuses(histories: Map<SubscribedScript, LookedAt>, look: Look): Promise<void> {
    const all = [...histories];
    let count = 0;
    for (let start = 0; start < all.length && this.#settled.isOpen; start += AT_ONCE) {
      if (start > 0) await setImmediate();
      const some = all.slice(start, start + AT_ONCE);
      const statuses = await Promise.all(some.map(([subscribed, lookedAt]) => this.#statusOf(subscribed, lookedAt, look, Infinity)));
      for (const [i, { text, pool }] of statuses.entries()) {
        const [subscribed] = some[i] as [SubscribedScript, LookedAt]; // one for each
        // Here alone: what is found for those who come may be of before, and ready later.
        if (pool === 'none') this.#pooled.delete(subscribed);
        if (pool !== 'waits') this.#waiting.delete(subscribed);
        histories.delete(subscribed);
        this.#looked.delete(subscribed);
        const change: StatusChange = { script: subscribed.key, status: text };
        const { due } = (this.#telling = { subscribed, due: new Set(subscribed.settle(change.status, look.number)) });
        for (const listener of due) {
          listener.changed(change);
          if (++count % TOLD_IN_TURN === 0) await setImmediate();
        }
        this.#telling = undefined;
      }
    }
  }
}
