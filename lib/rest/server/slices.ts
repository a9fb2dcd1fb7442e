// Long views are generators. They run in slices of about a millisecond and give the event loop back after each, so that small
// requests and the node itself get their turns: however many views are under way, one turn of the loop has one slice of one of them.

import { ClientGoneError } from '../errors';
import type { Waiting } from './work-queue';

const SLICE_MS = 1;

/** Views that wait for their next slice, in order. */
const waiting: (() => void)[] = [];

/** Settles when the last view given to `runInOrder` has ended. */
let last: Promise<unknown> = Promise.resolve();

/** Runs a view in turns with all others. @throws ClientGoneError, and what the view throws */
export async function runInSlices<T>(view: Generator<void, T>, client: Waiting): Promise<T> {
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

/** A slice for work that is not a generator: the caller checks `isOver` between steps. */
export class Slice {
  #end = performance.now() + SLICE_MS;

  get isOver(): boolean {
    return performance.now() >= this.#end;
  }

  /** Resolves when the next slice starts. */
  async renew(): Promise<void> {
    await nextTurn();
    this.#end = performance.now() + SLICE_MS;
  }
}

/** Runs views one after the other: for views that take so much memory that only one at a time should be under way. */
export function runInOrder<T>(view: Generator<void, T>, client: Waiting): Promise<T> {
  const result = last.then(() => runInSlices(view, client));
  last = result.catch(() => undefined);
  return result;
}

/** For a view that is known to be short. */
export function runAtOnce<T>(view: Generator<void, T>): T {
  for (;;) {
    const step = view.next();
    if (step.done === true) return step.value;
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(giveTurn);
  });
}

function giveTurn(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(giveTurn);
}
