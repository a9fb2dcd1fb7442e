// Long views are generators. This drives them in slices of about a millisecond and gives the
// event loop back after each, so that small requests and the node itself get their turns:
// however many views are under way, one turn of the loop has one slice of one of them.

import { ClientGoneError } from './errors';
import type { Waiting } from './work-queue';

const SLICE_MS = 1;

/** Runs a slice, and says whether there are more. */
type Advance = () => boolean;

/** What is under way, in the order of its next slices. There is one event loop, and so there is one line. */
const line: Advance[] = [];

/**
 * A view that ends within its first slice is answered at once, without a promise.
 * @throws ClientGoneError in the promise
 */
export function runInSlices<T>(view: Generator<void, T>, client: Waiting): T | Promise<T> {
  const first = runSlice(view);
  if (first.done === true) return first.value;
  return new Promise((resolve, reject) => {
    enter(() => {
      try {
        if (client.isGone) throw new ClientGoneError('the client left before its reply was ready');
        const slice = runSlice(view);
        if (slice.done === true) resolve(slice.value);
        return slice.done !== true;
      } catch (error) {
        reject(error instanceof Error ? error : new Error(String(error)));
        return false;
      }
    });
  });
}

function enter(advance: Advance): void {
  line.push(advance);
  if (line.length === 1) setImmediate(turn);
}

function turn(): void {
  const advance = line[0] as Advance; // a turn is only asked for when somebody is in the line
  const goesOn = advance();
  line.shift();
  if (goesOn) line.push(advance);
  if (line.length > 0) setImmediate(turn);
}

function runSlice<T>(view: Generator<void, T>): IteratorResult<void, T> {
  const end = performance.now() + SLICE_MS;
  for (;;) {
    const step = view.next();
    if (step.done === true || performance.now() >= end) return step;
  }
}
