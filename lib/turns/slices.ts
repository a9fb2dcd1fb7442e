// Long views are generators. They run in slices of about a millisecond and give the event loop back after each, so that small
// requests and the node itself get their turns: however many views are under way, one turn of the loop has one slice of one of them.

import { setImmediate as atNextTurn } from 'node:timers';
import { setImmediate } from 'node:timers/promises';
import { ClientGoneError } from './client';
import { Lock } from './lock';
import { renewInNextTurn } from './next-turn';
import type { Client } from './client';

const SLICE_MS = 1;

/** Steps between two looks at the clock. */
const STEPS_PER_LOOK = 32;

/** Views that wait for their next slice, in order. */
const waiting: (() => void)[] = [];

/** For the views given to `runInOrder`. */
const inOrder = new Lock();

/** Runs a view in turns with all others. @throws ClientGoneError, and what the view throws */
export async function runInSlices<T>(view: Generator<void, T>, client: Client): Promise<T> {
  for (;;) {
    if (client.isGone) throw new ClientGoneError('the client left before its reply was ready');
    const end = performance.now() + SLICE_MS;
    do {
      const step = view.next();
      if (step.done === true) return step.value;
    } while (performance.now() < end);
    await nextTurn();
  }
}

/** A slice for work that is not run by `runInSlices`: it asks whether the slice is over between its steps. */
export class Slice {
  #steps = 0;
  /** When the slice ends; undefined: it begins with the next look at the clock. */
  #end: number | undefined;

  /** If so, the next slice begins with the next call. */
  isOver(): boolean {
    const now = performance.now();
    this.#end ??= now + SLICE_MS;
    if (now < this.#end) return false;
    this.#end = undefined;
    return true;
  }

  /** As `isOver`, for short steps: the clock is looked at after some of them only. To be called after each. */
  isOverAfterStep(): boolean {
    return ++this.#steps % STEPS_PER_LOOK === 0 && this.isOver();
  }
}

/** Runs work of the node or an index itself, also under the lock of chain and pool: it does not wait behind the views of clients. */
export async function runAhead<T>(view: Generator<void, T>): Promise<T> {
  const slice = new Slice();
  for (;;) {
    const step = view.next();
    if (step.done === true) return step.value;
    if (slice.isOver()) await setImmediate();
  }
}

/** Runs views one after the other: for views that take so much memory that only one at a time should be under way. */
export function runInOrder<T>(view: Generator<void, T>, client: Client): Promise<T> {
  return inOrder.run(() => runInSlices(view, client));
}

/** For a view that is known to be short. */
export function runAtOnce<T>(view: Generator<void, T>): T {
  for (;;) {
    const step = view.next();
    if (step.done === true) return step.value;
  }
}

/** When work that asks with `soon` began in this turn of the event loop; undefined: none has asked. */
let soonSince: number | undefined;

function endSoon(): void {
  soonSince = undefined;
}

/**
 * For work in small pieces, of which many may come together, such as the replies of a disk: nothing to wait for while the pieces of this turn
 * have taken less than a slice, and then a later turn.
 */
export function soon(): Promise<void> | undefined {
  const now = performance.now();
  if (soonSince === undefined) {
    soonSince = now;
    renewInNextTurn(endSoon);
  }
  return now - soonSince < SLICE_MS ? undefined : nextTurn();
}

/** Resolves in a later turn of the event loop, after all that waits already. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) atNextTurn(giveTurn);
  });
}

function giveTurn(): void {
  waiting.shift()?.();
  if (waiting.length > 0) atNextTurn(giveTurn);
}
