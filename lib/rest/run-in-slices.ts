// Long views are generators. This drives one in slices of about a millisecond and gives the
// event loop back between them, so that small requests and the node itself get their turns.

import { ClientGoneError } from './errors';
import type { Waiting } from './work-queue';

const SLICE_MS = 1;

/** A view that ends within its first slice is answered at once, without a promise. */
export function runInSlices<T>(view: Generator<void, T>, client: Waiting): T | Promise<T> {
  const first = runSlice(view);
  return first.done === true ? first.value : runOn(view, client);
}

/** @throws ClientGoneError */
async function runOn<T>(view: Generator<void, T>, client: Waiting): Promise<T> {
  for (;;) {
    await new Promise(setImmediate);
    if (client.isGone) throw new ClientGoneError('the client left before its reply was ready');
    const slice = runSlice(view);
    if (slice.done === true) return slice.value;
  }
}

function runSlice<T>(view: Generator<void, T>): IteratorResult<void, T> {
  const end = performance.now() + SLICE_MS;
  for (;;) {
    const step = view.next();
    if (step.done === true || performance.now() >= end) return step;
  }
}
