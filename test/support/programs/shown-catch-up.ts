// A program for a terminal: draws the progress bar of a node that catches up, from an index's
// states, and ends.

import { Subject } from 'rxjs';
import { showCatchUp } from '../../../plugin/progress';
import type { IndexState } from '../../../lib/index/types';

const state$ = new Subject<IndexState>();
showCatchUp(state$, process.stdout, { console: false, level: 4 });
state$.next({ phase: 'indexing', height: 0, target: 90, secondsLeft: undefined });
state$.next({
  phase: 'indexing',
  height: 45,
  target: 90,
  secondsLeft: 61,
  pace: { blocksPerSecond: 1, bytesPerSecond: 41_200_000, coinsPerSecond: 310_000 }
});
state$.next({ phase: 'live', height: 90 });
