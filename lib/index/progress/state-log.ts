// Says in the log what the index is doing: each phase when it begins, progress now and then.

import { copyingText, indexingText } from './text';
import type { IndexLogger } from '../types';
import type { IndexState } from '../types';

const PROGRESS_MS = 10_000;

export class StateLog {
  readonly #logger: IndexLogger;
  #phase: IndexState['phase'] | undefined;
  #saidAt = -Infinity;
  /** Of phases that take turns while the node downloads the chain. */
  readonly #turnsSaidAt = new Map<IndexState['phase'], number>();

  constructor(logger: IndexLogger) {
    this.#logger = logger;
  }

  note(state: IndexState): void {
    const now = performance.now();
    // Live, every block is a state; the node says those itself.
    if (state.phase === this.#phase && (state.phase === 'live' || now - this.#saidAt < PROGRESS_MS)) return;
    this.#phase = state.phase;
    if (state.phase === 'live' || state.phase === 'indexing') {
      if (now - (this.#turnsSaidAt.get(state.phase) ?? -Infinity) < PROGRESS_MS) return;
      this.#turnsSaidAt.set(state.phase, now);
    } else this.#turnsSaidAt.clear();
    this.#saidAt = now;
    const line = lineOf(state);
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
      return state.work && `${state.work.charAt(0).toUpperCase()}${state.work.slice(1)}.`;
    // Whoever sets these says why.
    case 'failed':
    case 'closed':
      return undefined;
  }
}
