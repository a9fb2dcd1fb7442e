// What the index by script is doing, in words: for the log, and for clients that are refused meanwhile.

import { grouped, percent, reached } from '../follow/state-text';
import type { ScriptsState } from './types';

/** For people, strangers among them, without a full stop: `filling the index by script, block 412,000 of 900,000 (45%)`. */
export function stateText(state: ScriptsState): string {
  switch (state.phase) {
    case 'loading':
      return 'loading the index by script';
    case 'waiting':
      return 'the index by script waits for the index of the chain';
    case 'partitioning':
      return `filling the index by script, block ${reached(state)}`;
    case 'sorting':
      return `filling the index by script, sorting ${percent(state.done, state.total)}`;
    case 'catching-up':
      // It may have blocks that the chain has left meanwhile.
      return state.height > state.target
        ? `the index by script is rewinding, block ${grouped(state.height)}, down to ${grouped(state.target)}`
        : `the index by script is catching up, block ${reached(state)}`;
    case 'live':
      return `the index by script is at block ${grouped(state.height)}`;
    case 'failed':
      return 'the index by script failed; the log of the node says why';
    case 'closed':
      return 'shutting down';
  }
}
