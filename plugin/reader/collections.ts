// How often V8 collects the whole heap of a reader that catches up. V8 goes by the size of the heap, and a reader's is small, while the client
// of NATS joins a block's bytes in buffers that have more than twice its length together.

import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { filter, finalize, startWith, takeUntil, type Observable } from 'rxjs';

/** What may be allocated between two collections. */
const BETWEEN_BYTES = 96 * 1_024 * 1_024;

/** Lets V8 decide, as it does unless told otherwise. */
const BY_ITSELF = 0;

/** Has V8 collect less often until `ready$` emits true. `moved$`: emits while the main index grows, once a batch of blocks or so. */
export function collectSeldom(moved$: Observable<unknown>, ready$: Observable<boolean>): void {
  moved$
    .pipe(
      startWith(undefined),
      takeUntil(ready$.pipe(filter(Boolean))),
      finalize(() => {
        growBy(BY_ITSELF);
      })
    )
    .subscribe(() => {
      const { used_heap_size: used } = getHeapStatistics();
      growBy(used < BETWEEN_BYTES ? Math.floor((BETWEEN_BYTES / used) * 100) : BY_ITSELF);
    });
}

/** V8 reads it at the end of each collection, for the next one. */
function growBy(percent: number): void {
  setFlagsFromString(`--heap-growing-percent=${percent}`);
}
