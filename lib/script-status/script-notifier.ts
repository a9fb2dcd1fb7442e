// Tells listeners of new tips, and of scripts whose status has changed. There is one notifier for all clients, so that a script is looked
// at once, however many are subscribed to it.
//
// Index and pool say which scripts a block or a transaction touches. These are looked at when the node has settled, index and pool in one
// turn, and whoever knows another status is told.
//
// A block may also change scripts that it does not touch: if a transaction of the pool waits for another one, that one may just have been
// confirmed, and height -1 becomes 0. A block that is disconnected may change all scripts with transactions in the pool.

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

/** Scripts in one look, whose part of the pool is taken in one turn. */
const MOST_IN_LOOK = 512;
/** Scripts that are read at the same time. */
const AT_ONCE = 8;
/** Listeners that are told in one turn: for each a write to its connection follows, of some 40 µs. */
const TOLD_IN_TURN = 32;
/** Subscriptions that are ended in one turn: less than a millisecond. */
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

/** The status of a script, and the look that found it. */
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
  /** Blocks that had been connected or disconnected by then. */
  readonly moves: number;
  readonly snapshot: ScriptSnapshot;
}

/** What is taken of a script in the turn of a look. */
interface LookedAt {
  readonly history: ScriptHistory;
  readonly brought: Brought | undefined;
}

export class ScriptNotifier {
  readonly #parts: ScriptNotifierParts;
  readonly #statuses = new Statuses();
  readonly #scripts = new Map<string, SubscribedScript>();
  /** Those with transactions in the pool. */
  readonly #pooled = new Set<SubscribedScript>();
  /** Those of them in whose history a transaction waits for another one (height -1). */
  readonly #waiting = new Set<SubscribedScript>();
  /** Those that are to be looked at. */
  readonly #dirty = new Set<SubscribedScript>();
  /** Those that are being looked at. */
  readonly #looked = new Set<SubscribedScript>();
  /** What is being looked up for new subscribers, until something touches the script. */
  readonly #answers = new Map<SubscribedScript, Answer>();
  /** Each with the hash of the tip that it was told last. */
  readonly #tipListeners = new Map<TipListener, Buffer>();
  /** Who has yet to be told of the script of which others are told. */
  #telling: { readonly subscribed: SubscribedScript; readonly due: Set<StatusListener> } | undefined;
  readonly #leaving: { readonly scripts: Iterable<string>; readonly listener: StatusListener }[] = [];
  #subscription: Subscription | undefined;
  /** How many looks there were. */
  #looks = 0;
  /** How many blocks were connected or disconnected. */
  #moves = 0;
  /** The block that was connected last; undefined: one was disconnected since, or anything may have changed. */
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

  /** Stops telling. Waits for the look that is under way. */
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

  /** Number of scripts with subscribers. */
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
   * Subscribes the listener to changes of the status, and returns the present one: 32 bytes as a latin1 string, empty for a script without
   * transactions. `script`: its SHA-256 as a latin1 string. `most`: transactions of a history that is read for that. `worked` is called with
   * the number of transactions that were gone through for the answer, unless it was known.
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

  /** Adds the listener, and returns what it is told in this turn: what was found for it, or what was told to the others since. */
  #addAnswered(subscribed: SubscribedScript, listener: StatusListener, found: Told): string {
    subscribed.add(listener);
    // It is told no less than what it would be told in its turn.
    if (this.#telling?.subscribed === subscribed) this.#telling.due.delete(listener);
    return subscribed.answered(listener, found);
  }

  /** Ends a subscription. Returns whether there was one. */
  delete(script: string, listener: StatusListener): boolean {
    const subscribed = this.#scripts.get(script);
    if (subscribed?.has(listener) !== true) return false;
    subscribed.delete(listener);
    if (this.#telling?.subscribed === subscribed) this.#telling.due.delete(listener);
    this.#leave(subscribed);
    return true;
  }

  /**
   * Ends subscriptions in turns, since a client may have tens of thousands, and thousands of clients may leave at once. The listener must
   * ignore what it is told meanwhile.
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

  /** The status at this turn, whether things have settled or not: whatever comes of what is under way is told later. */
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

  /**
   * The rows that blocks brought since the status was read, if they are complete: the look is at the block up to which it was read, or at
   * the one that was connected last. To be called in the turn of the look.
   */
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
    // A block moved before it was known that the script has transactions in the pool.
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
      // Something went wrong before these were told.
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

  /** Removes from `histories` what is done. */
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
