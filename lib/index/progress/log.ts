// Logs what the index is doing: the start of each phase, and its progress now and then.

import { sentence } from '../../follow/state-text';
import { LOG_MS, Throttle } from '../../follow/throttle';
import { copyingText, indexingText } from './text';
import type { IndexLogger } from '../../follow/logger';
import type { IndexState } from '../types';

export class StateLog {
  readonly #logger: IndexLogger;
  #phase: IndexState['phase'] | undefined;
  /** For each phase, since `indexing` and `live` alternate all the time while the node downloads the chain. */
  readonly #throttles = new Map<IndexState['phase'], Throttle>();

  constructor(logger: IndexLogger) {
    this.#logger = logger;
  }

  /** To be called with each state; most of them give no line. */
  note(state: IndexState): void {
    const { phase } = state;
    const isNew = phase !== this.#phase;
    this.#phase = phase;
    // `live` again means a new block, and the node logs blocks itself.
    if (phase === 'live' && !isNew) return;
    if (isNew && phase !== 'live' && phase !== 'indexing') this.#throttles.clear();
    let throttle = this.#throttles.get(phase);
    if (throttle === undefined) this.#throttles.set(phase, (throttle = new Throttle(LOG_MS)));
    const line = throttle.isDue() ? lineOf(state) : undefined;
    if (line !== undefined) this.#logger.info(line);
  }
}

function lineOf(state: IndexState): string | undefined {
  switch (state.phase) {
    case 'rewinding':
      return `Rewinding the index: block ${state.height}, down to ${state.target}.`;
    case 'copying':
      return `Copying coins of the node: ${copyingText(state)}.`;
    case 'indexing':
      return `Indexing: block ${indexingText(state)}.`;
    case 'live':
      return `The index is at the node's tip, block ${state.height}.`;
    case 'loading':
      return state.work && sentence(state.work);
    // The code that ends in these phases logs why.
    case 'failed':
    case 'closed':
      return undefined;
  }
}
