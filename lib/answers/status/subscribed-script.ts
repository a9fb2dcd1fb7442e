// A script with subscribers. There may be hundreds of thousands of such scripts. Most have one subscriber, which needs no set.

import type { BlockPoint } from '../../node/types/chain';
import type { RowTransaction } from '../../scripts/types';
import type { Listener } from '../updates/listener';
import type { NewRows } from './statuses';

/** Rows that are kept until the next pass. If there are more, the next pass reads the index. */
const MOST_ROWS = 64;
const NO_ROWS: readonly RowTransaction[] = [];

/** A script has another status. */
export interface StatusChange {
  /** The script's SHA-256 as a latin1 string. */
  readonly script: string;
  /** 32 bytes as a latin1 string; empty for a script without transactions. */
  readonly status: string;
}

export interface StatusListener extends Listener {
  changed(change: StatusChange): void;
}

/** A status that a listener knows, and the pass that found it. */
export interface KnownStatus {
  readonly status: string;
  readonly pass: number;
}

export class SubscribedScript {
  readonly key: string;
  /** What listeners know, but for those in `#own`; undefined: nothing yet. */
  status: string | undefined;
  /** Number of subscriptions that are being answered. */
  pending = 0;
  /** The pass that found the status. */
  pass = 0;
  /** The block after which `rows` has all rows of the script; undefined if rows are missing. */
  since: BlockPoint | undefined;
  /** Whether the script had no transaction up to that block, nor in the pool. */
  wasEmpty = false;
  /** The rows in blocks above `since`. */
  rows: readonly RowTransaction[] = NO_ROWS;
  #listeners: StatusListener | Set<StatusListener> | undefined;
  /** Listeners that know something else, since they have asked for it. */
  #own: Map<StatusListener, KnownStatus> | undefined;

  constructor(key: string) {
    this.key = key;
  }

  /** To be called when the confirmed part was read up to this block. */
  readUpTo(block: BlockPoint, isEmpty: boolean): void {
    [this.since, this.wasEmpty, this.rows] = [block, isEmpty, NO_ROWS];
  }

  /** Gives up collecting rows: the next status is read from the index. */
  forget(): void {
    [this.since, this.rows] = [undefined, NO_ROWS];
  }

  /** To be called when a block was connected, which may already have been there when the confirmed part was read. */
  addRows({ height }: BlockPoint, rows: readonly RowTransaction[]): void {
    if (this.since === undefined || height <= this.since.height) return;
    if (this.rows.length + rows.length > MOST_ROWS) this.forget();
    else this.rows = [...this.rows, ...rows];
  }

  /** undefined if rows are missing. To be read in the turn of a pass: no block moves then, and the rows of all that moved are here. */
  get newRows(): NewRows | undefined {
    const { since, wasEmpty, rows } = this;
    return since && { since, wasEmpty, rows };
  }

  /** Whether there are no subscribers. */
  get isLeft(): boolean {
    return this.#listeners === undefined && this.pending === 0;
  }

  add(listener: StatusListener): void {
    if (this.#listeners === undefined) this.#listeners = listener;
    else if (this.#listeners instanceof Set) this.#listeners.add(listener);
    else this.#listeners = new Set([this.#listeners, listener]);
  }

  delete(listener: StatusListener): void {
    this.#own?.delete(listener);
    if (this.#listeners === listener) this.#listeners = undefined;
    if (!(this.#listeners instanceof Set)) return;
    this.#listeners.delete(listener);
    if (this.#listeners.size === 0) this.#listeners = undefined;
  }

  /**
   * To be called when a listener has asked and `found` was found for it; the other listeners are notified by the next pass. Returns the
   * status that the listener gets in this turn: `found`, or what the others know from a later pass.
   */
  answered(listener: StatusListener, found: KnownStatus): string {
    if (this.status === undefined) [this.status, this.pass] = [found.status, found.pass];
    // The same status from a later pass is not the same knowledge: a pass that is under way may still find another one.
    const isKnown = this.pass >= found.pass;
    if (isKnown) this.#own?.delete(listener);
    else (this.#own ??= new Map()).set(listener, found);
    return isKnown ? this.status : found.status;
  }

  /** Takes over the status that a pass has found, and returns the listeners that are to be notified of it. */
  settle(status: string, pass: number): readonly StatusListener[] {
    // All listeners were answered with something newer.
    if (pass < this.pass) return [];
    const [before, answered] = [this.status, this.#own];
    [this.status, this.pass, this.#own] = [status, pass, undefined];
    const all = this.#listeners instanceof Set ? [...this.#listeners] : this.#listeners === undefined ? [] : [this.#listeners];
    return all.filter((listener) => {
      const own = answered?.get(listener);
      if (own === undefined) return before !== status;
      if (own.pass <= pass) return own.status !== status;
      // It got something newer: the script has changed since, and there will be another pass.
      (this.#own ??= new Map()).set(listener, own);
      return false;
    });
  }
}
