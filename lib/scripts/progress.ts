// What the index by script is doing, in words: for the log and for those who are refused meanwhile.

import { percent } from '../index/progress/text';
import type { ScriptsState } from './types';

/** For people, without a full stop: `filling the index by script, block 412000 of 900000 (45.7%)`. */
export function stateText(state: ScriptsState): string {
  switch (state.phase) {
    case 'loading':
      return 'loading the index by script';
    case 'waiting':
      return 'the index by script waits for the index';
    case 'partitioning':
      return `filling the index by script, block ${reached(state)}`;
    case 'sorting':
      return `filling the index by script, sorting ${percent(state.done, state.total)}`;
    case 'catching-up':
      return `the index by script is catching up, block ${reached(state)}`;
    case 'live':
      return `the index by script is at block ${state.height}`;
    case 'failed':
      return `index by script failed: ${state.message}`;
    case 'closed':
      return 'shutting down';
  }
}

function reached({ height, target }: { readonly height: number; readonly target: number }): string {
  return `${height} of ${target} (${percent(height, target)})`;
}
