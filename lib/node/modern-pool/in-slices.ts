// Work that is done while the lock of chain and pool is held: in slices, so that others get their turns, but not behind the views of clients.

import { setImmediate } from 'node:timers/promises';
import { Slice } from '../../turns/slices';

export async function inSlices<T>(work: Generator<void, T>): Promise<T> {
  const slice = new Slice();
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
    if (slice.isOver()) await setImmediate();
  }
}
