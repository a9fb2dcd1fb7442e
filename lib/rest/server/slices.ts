// Long views are generators. This drives them in slices of about a millisecond and gives the
// event loop back after each, so that small requests and the node itself get their turns:
// however many views are under way, one turn of the loop has one slice of one of them.

import { ClientGoneError } from '../errors';
import type { Waiting } from './work-queue';

const SLICE_MS = 1;

/** Runs a slice, and says whether there are more. */
type Advance = () => boolean;

/** What is under way, in the order of its next slices. There is one event loop, and so there is one pair of lines. */
const sharing: Advance[] = [];
const inOrder: Advance[] = [];
/** Who had the last turn while both had somebody. */
let last = inOrder;

/**
 * The views that are run so take turns. One that ends within its first slice is answered at
 * once, without a promise. @throws ClientGoneError in the promise
 */
export function runInSlices<T>(view: Generator<void, T>, client: Waiting): T | Promise<T> {
  const first = runSlice(view);
  if (first.done === true) return first.value;
  return enter(sharing, view, client);
}

/**
 * The views that are run so come one after the other, each with every second turn at least:
 * for what takes so much memory that several should not be begun. As runInSlices otherwise.
 */
export function runInOrder<T>(view: Generator<void, T>, client: Waiting): T | Promise<T> {
  const first = inOrder.length === 0 ? runSlice(view) : undefined;
  if (first?.done === true) return first.value;
  return enter(inOrder, view, client);
}

function enter<T>(line: Advance[], view: Generator<void, T>, client: Waiting): Promise<T> {
  return new Promise((resolve, reject) => {
    line.push(() => {
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
    if (sharing.length + inOrder.length === 1) setImmediate(turn);
  });
}

function turn(): void {
  const line = nextLine();
  const advance = line[0] as Advance; // a turn is only asked for when somebody is in a line
  const goesOn = advance();
  if (line === sharing || !goesOn) line.shift();
  if (line === sharing && goesOn) line.push(advance);
  if (sharing.length + inOrder.length > 0) setImmediate(turn);
}

function nextLine(): Advance[] {
  if (sharing.length === 0 || inOrder.length === 0) return sharing.length > 0 ? sharing : inOrder;
  last = last === sharing ? inOrder : sharing;
  return last;
}

function runSlice<T>(view: Generator<void, T>): IteratorResult<void, T> {
  const end = performance.now() + SLICE_MS;
  for (;;) {
    const step = view.next();
    if (step.done === true || performance.now() >= end) return step;
  }
}
