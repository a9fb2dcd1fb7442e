// A script that somebody is subscribed to. There may be hundreds of thousands of them: most have one subscriber, for whom no set is kept.

import type { BlockPoint } from '../node/types';
import type { RowPlace } from '../scripts/types';

/** That are kept until the next look; of a script with more they are read then. */
const MOST_ROWS = 64;
const NO_ROWS: readonly RowPlace[] = [];

/** What has become of a script. */
export interface StatusChange {
  /** The script's SHA-256, one character a byte. */
  readonly script: string;
  /** 32 characters, one a byte; none for a script without transactions. */
  readonly status: string;
}

export interface StatusListener {
  changed(change: StatusChange): void;
}

/** What a listener is told, and in which look of all of them it was found. */
export interface Told {
  readonly status: string;
  readonly look: number;
}

export class SubscribedScript {
  readonly key: string;
  /** What listeners were told last; undefined: nothing. */
  status: string | undefined;
  /** Subscriptions that are being answered. */
  coming = 0;
  /** The look of which the status is. */
  look = 0;
  /** The block up to which the confirmed part was read; undefined: what came since is not known in full. */
  since: BlockPoint | undefined;
  /** Whether there was nothing up to that block, nor in the pool. */
  wasEmpty = false;
  /** What blocks above it brought. */
  rows: readonly RowPlace[] = NO_ROWS;
  #listeners: StatusListener | Set<StatusListener> | undefined;
  #told: Map<StatusListener, Told> | undefined;

  constructor(key: string) {
    this.key = key;
  }

  /** The confirmed part was read up to this block. */
  readUpTo(block: BlockPoint, isEmpty: boolean): void {
    [this.since, this.wasEmpty, this.rows] = [block, isEmpty, NO_ROWS];
  }

  /** What blocks have brought since is not known in full. */
  forget(): void {
    [this.since, this.rows] = [undefined, NO_ROWS];
  }

  /** A block came. It may have been there already when the confirmed part was read. */
  bring({ height }: BlockPoint, rows: readonly RowPlace[]): void {
    if (this.since === undefined || height <= this.since.height) return;
    if (this.rows.length + rows.length > MOST_ROWS) this.forget();
    else this.rows = [...this.rows, ...rows];
  }

  get isLeft(): boolean {
    return this.#listeners === undefined && this.coming === 0;
  }

  add(listener: StatusListener): void {
    if (this.#listeners === undefined) this.#listeners = listener;
    else if (this.#listeners instanceof Set) this.#listeners.add(listener);
    else if (this.#listeners !== listener) this.#listeners = new Set([this.#listeners, listener]);
  }

  delete(listener: StatusListener): void {
    this.#told?.delete(listener);
    if (this.#listeners === listener) this.#listeners = undefined;
    if (!(this.#listeners instanceof Set)) return;
    this.#listeners.delete(listener);
    if (this.#listeners.size === 0) this.#listeners = undefined;
  }

  has(listener: StatusListener): boolean {
    return this.#listeners instanceof Set ? this.#listeners.has(listener) : this.#listeners === listener;
  }

  /**
   * A listener asked, and this was found in a look at the present state; the others are told in the next one. What it is told in this turn:
   * that, or what the others were told in a later look.
   */
  answered(listener: StatusListener, found: Told): string {
    if (this.status === undefined) [this.status, this.look] = [found.status, found.look];
    const isKnown = this.look > found.look || this.status === found.status;
    if (isKnown) this.#told?.delete(listener);
    else (this.#told ??= new Map()).set(listener, found);
    return isKnown ? this.status : found.status;
  }

  /** The status found in a look at the settled state. Who is to be told. */
  settle(status: string, look: number): readonly StatusListener[] {
    const before = this.status;
    const told = this.#told;
    this.status = status;
    this.look = look;
    if (before === status && told === undefined) return [];
    const all = this.#listeners instanceof Set ? [...this.#listeners] : this.#listeners === undefined ? [] : [this.#listeners];
    const changed = all.filter((listener) => {
      const own = told?.get(listener);
      if (own === undefined) return before !== status;
      // What it was told is newer than this: the script has changed since, and there will be another look.
      if (own.look > look) return false;
      told?.delete(listener);
      return own.status !== status;
    });
    if (told?.size === 0) this.#told = undefined;
    return changed;
  }
}
