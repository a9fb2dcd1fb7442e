// What the index by script is doing, in words: for the log, and for clients that are refused meanwhile.

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
      return `the index by script is catching up, block ${reached(state)}`;
    case 'live':
      return `the index by script is at block ${COUNT.format(state.height)}`;
    case 'failed':
      return 'the index by script failed; the log of the node says why';
    case 'closed':
      return 'shutting down';
  }
}

/** For the log: `Filling the index by script, sorting 40%.` */
export function stateSentence(state: ScriptsState): string {
  const text = stateText(state);
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

const COUNT = new Intl.NumberFormat('en-US');

function reached({ height, target }: { readonly height: number; readonly target: number }): string {
  return `${COUNT.format(height)} of ${COUNT.format(target)} (${percent(height, target)})`;
}

/** Truncated, not rounded: 100 % is shown only when the work is done. */
const percent = (part: number, whole: number): string => `${whole > 0 ? Math.floor((part / whole) * 100) : 0}%`;
