// Notifies listeners of outpoints whose status has changed. There is one notifier for all clients.
//
// What may change a status: a transaction enters or leaves the pool that creates or spends the output; a block has a row of the output's
// script, while the chain has the output and no block spends it; the chain moves, as long as one of the two transactions is missing or in the
// pool; a block is disconnected. Outpoints that are touched are looked at by the next pass, with index and pool read in one turn.

import { setImmediate } from 'node:timers/promises';
import { keyOf, keyOfOutpoint } from '../../bitcoin/hash';
import { HistoryTooLongError } from '../../scripts/errors';
import { NO_CLIENT, type Client } from '../../turns/client';
import { Leaving } from '../updates/leaving';
import { notify, type Listener } from '../updates/listener';
import { inGroups, NotifiedListeners } from '../updates/notifying';
import { Pending } from '../updates/pending';
import { isSameStatus, type FoundOutpoint, type OutpointStatus, type OutpointStatuses } from './outpoint-status';
import type { Outpoint } from '../../bitcoin/transaction';
import type { ScriptReader, ScriptSnapshot } from '../../scripts/types';
import type { Change } from '../updates/changes';
import type { Notifier, SettledPasses } from '../updates/settled-passes';
import type { PooledOutpoint } from './outpoint-status';

/** Outpoints in one pass: their parts of the pool are taken in one turn. */
const MOST_IN_PASS = 512;

export interface OutpointListener extends Listener {
  outpointChanged(outpoint: Outpoint, status: OutpointStatus): void;
}

export interface OutpointNotifierParts {
  readonly passes: SettledPasses;
  readonly reader: ScriptReader;
  readonly statuses: OutpointStatuses;
}

/** An outpoint with listeners, or whose status is being found for its first one. */
class SubscribedOutpoint {
  /** With what each knows. */
  readonly listeners = new Map<OutpointListener, OutpointStatus>();
  /** Undefined while it is being found for the first time. */
  status: OutpointStatus | undefined;
  /** When it was found, as a number of passes. */
  pass = 0;
  /** The SHA-256 of the output's script as a latin1 string, once rows of it are watched. */
  script: string | undefined;
  /** Listeners for whom the status is being found. */
  answering = 0;

  constructor(
    readonly key: string,
    readonly outpoint: Outpoint
  ) {}
}

export class OutpointNotifier implements Notifier {
  readonly #parts: OutpointNotifierParts;
  readonly #outpoints = new Map<string, SubscribedOutpoint>();
  /** By the key of the txid, and by script. */
  readonly #ofTransactions = new Groups();
  readonly #ofScripts = new Groups();
  /** Those of which a transaction is missing or in the pool. */
  readonly #unsettled = new Set<SubscribedOutpoint>();
  readonly #pending: Pending<SubscribedOutpoint>;
  readonly #leaving = new Leaving<Outpoint, OutpointListener>((outpoint, listener) => {
    this.delete(outpoint, listener);
  });
  /** The hash of the tip at which changes were collected last. */
  #tip: Buffer | undefined;
  /** How many passes there were. Finding a status for a new listener counts as a pass. */
  #passCount = 0;

  constructor(parts: OutpointNotifierParts) {
    this.#parts = parts;
    this.#pending = new Pending(MOST_IN_PASS, parts.passes);
    parts.passes.add(this);
  }

  /** Number of outpoints with listeners. */
  get size(): number {
    return this.#outpoints.size;
  }

  watches(script: string): boolean {
    return this.#ofScripts.has(script);
  }

  /**
   * Notifies the listener from now on, and gives the present status. `worked`: called with the number of rows of histories that were walked
   * through. @throws HistoryTooLongError, NotYetKnownError, ScriptsUnavailableError, IndexUnavailableError, HttpError 503
   */
  async add(outpoint: Outpoint, listener: OutpointListener, client: Client, worked: (rows: number) => void): Promise<OutpointStatus> {
    const { reader, statuses } = this.#parts;
    const key = keyOfOutpoint(outpoint.txid, outpoint.index);
    const subscribed = this.#outpoints.get(key) ?? this.#enter(key, outpoint);
    subscribed.answering++;
    try {
      return await reader.read(async (snapshot) => {
        const { status: known } = subscribed;
        if (known !== undefined && !this.#pending.has(subscribed) && this.#tip?.equals(snapshot.index.tip.hash) === true) {
          subscribed.listeners.set(listener, known);
          return known;
        }
        const pass = ++this.#passCount;
        const found = await statuses.at(outpoint, snapshot, client);
        worked(found.rows);
        const status = this.#keep(subscribed, found, pass);
        // Before its script was watched, a block may have spent it unseen. And the next pass looks at all only if the tip of the last one has
        // left the chain, which says nothing of a status that was found above it.
        const isNewlyWatched = this.#watch(subscribed, found);
        if (isNewlyWatched || this.#tip?.equals(snapshot.index.tip.hash) !== true) this.#pending.add(subscribed);
        subscribed.listeners.set(listener, status);
        return status;
      });
    } finally {
      subscribed.answering--;
      this.#leave(subscribed);
    }
  }

  /** Ends a subscription, if there is one. */
  delete(outpoint: Outpoint, listener: OutpointListener): void {
    const subscribed = this.#outpoints.get(keyOfOutpoint(outpoint.txid, outpoint.index));
    if (subscribed === undefined) return;
    subscribed.listeners.delete(listener);
    this.#leave(subscribed);
  }

  /** Ends subscriptions a few in each turn. The listener must ignore what it is notified of meanwhile. */
  leave(outpoints: Iterable<Outpoint>, listener: OutpointListener): void {
    this.#leaving.add(outpoints, listener);
  }

  changed(change: Change): void {
    switch (change.type) {
      case 'enter':
      case 'leave': {
        const { txid, transaction } = change.transaction;
        for (const subscribed of this.#ofTransactions.of(keyOf(txid))) this.#pending.add(subscribed);
        for (const input of transaction.inputs) {
          const spent = this.#outpoints.get(keyOfOutpoint(input.txid, input.index));
          if (spent !== undefined) this.#pending.add(spent);
        }
        return;
      }
      case 'connect':
        for (const script of change.rows.keys()) for (const subscribed of this.#ofScripts.of(script)) this.#pending.add(subscribed);
        return;
      // That a block was disconnected which has no row of a watched script is not told: `collect` finds out.
      case 'disconnect':
        return;
      case 'all':
      case 'clear':
        for (const subscribed of this.#outpoints.values()) this.#pending.add(subscribed);
    }
  }

  collect(snapshot: ScriptSnapshot): () => Promise<void> {
    const pass = ++this.#passCount;
    const { hash } = snapshot.index.tip;
    if (this.#tip?.equals(hash) !== true) {
      // Blocks were disconnected, or there are only new ones.
      const isOther = this.#tip !== undefined && snapshot.index.heightOf(this.#tip) === undefined;
      for (const subscribed of isOther ? this.#outpoints.values() : this.#unsettled) this.#pending.include(subscribed);
      this.#tip = hash;
    }
    return this.#pending.collect(
      ({ outpoint }) => this.#parts.statuses.pooled(outpoint),
      (collected) => this.#notifyAll(collected, snapshot, pass)
    );
  }

  async #notifyAll(all: readonly (readonly [SubscribedOutpoint, PooledOutpoint])[], snapshot: ScriptSnapshot, pass: number): Promise<void> {
    const notified = new NotifiedListeners();
    for await (const group of inGroups(all, this.#parts.passes)) {
      const some = group.filter(([{ key }]) => this.#outpoints.has(key));
      const found = await Promise.all(
        some.map(async ([subscribed, pooled]) => [subscribed, await this.#found(subscribed, pooled, snapshot)] as const)
      );
      for (const [subscribed, now] of found) {
        this.#pending.handled(subscribed);
        if (now === undefined || this.#outpoints.get(subscribed.key) !== subscribed) continue;
        const status = this.#keep(subscribed, now, pass);
        this.#watch(subscribed, now);
        for (const [listener, known] of subscribed.listeners) {
          if (isSameStatus(known, status)) continue;
          subscribed.listeners.set(listener, status);
          notify(listener, (one) => {
            one.outpointChanged(subscribed.outpoint, status);
          });
          if (notified.fillTurn()) await setImmediate();
        }
      }
    }
  }

  /** Undefined if the spend is too far away to be found, and the listeners miss it. */
  async #found(subscribed: SubscribedOutpoint, pooled: PooledOutpoint, snapshot: ScriptSnapshot): Promise<FoundOutpoint | undefined> {
    try {
      return await this.#parts.statuses.of(pooled, subscribed.status?.spender?.txid, snapshot, NO_CLIENT);
    } catch (error) {
      if (!(error instanceof HistoryTooLongError)) throw error;
      for (const listener of subscribed.listeners.keys()) listener.failed(error);
      return undefined;
    }
  }

  /** Keeps what was found, unless a later pass has found something meanwhile. Gives what is kept. */
  #keep(subscribed: SubscribedOutpoint, { status }: FoundOutpoint, pass: number): OutpointStatus {
    const { status: before } = subscribed;
    if (before !== undefined && subscribed.pass > pass) return before;
    subscribed.pass = pass;
    subscribed.status = status;
    if (isSettled(status)) this.#unsettled.delete(subscribed);
    else this.#unsettled.add(subscribed);
    return status;
  }

  /** Whether rows of its script are watched only from now on. */
  #watch(subscribed: SubscribedOutpoint, { unspentOf }: FoundOutpoint): boolean {
    if (unspentOf === undefined || subscribed.script !== undefined) return false;
    subscribed.script = unspentOf;
    this.#ofScripts.add(unspentOf, subscribed);
    this.#parts.passes.watch(unspentOf);
    return true;
  }

  #enter(key: string, outpoint: Outpoint): SubscribedOutpoint {
    const subscribed = new SubscribedOutpoint(key, outpoint);
    this.#outpoints.set(key, subscribed);
    this.#ofTransactions.add(keyOf(outpoint.txid), subscribed);
    return subscribed;
  }

  #leave(subscribed: SubscribedOutpoint): void {
    const { key, outpoint, script, listeners, answering } = subscribed;
    if (listeners.size > 0 || answering > 0 || this.#outpoints.get(key) !== subscribed) return;
    this.#outpoints.delete(key);
    this.#ofTransactions.delete(keyOf(outpoint.txid), subscribed);
    this.#unsettled.delete(subscribed);
    this.#pending.delete(subscribed);
    if (script === undefined) return;
    this.#ofScripts.delete(script, subscribed);
    this.#parts.passes.unwatch(script);
  }
}

/** Whether both transactions are in the chain, or the first one and there is no other. */
const isSettled = ({ funderHeight, spender }: OutpointStatus): boolean =>
  funderHeight !== undefined && funderHeight > 0 && (spender === undefined || spender.height > 0);

/** Outpoints by something that they have in common. */
class Groups {
  readonly #groups = new Map<string, Set<SubscribedOutpoint>>();

  has(name: string): boolean {
    return this.#groups.has(name);
  }

  of(name: string): Iterable<SubscribedOutpoint> {
    return this.#groups.get(name) ?? [];
  }

  add(name: string, subscribed: SubscribedOutpoint): void {
    const group = this.#groups.get(name);
    if (group === undefined) this.#groups.set(name, new Set([subscribed]));
    else group.add(subscribed);
  }

  delete(name: string, subscribed: SubscribedOutpoint): void {
    const group = this.#groups.get(name);
    if (group?.delete(subscribed) === true && group.size === 0) this.#groups.delete(name);
  }
}
