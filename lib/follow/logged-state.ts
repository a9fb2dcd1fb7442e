// The state of work beside the main index, for its observers and for the log: a line for each phase, and one now and then about its
// progress.

import { BehaviorSubject, type Observable } from 'rxjs';
import { sentence } from './state-text';
import { LOG_MS, Throttle } from './throttle';
import type { IndexLogger } from './logger';

interface Phase {
  readonly phase: string;
}

export class LoggedState<State extends Phase> {
  /** Replays the current state to a new subscriber. */
  readonly state$: Observable<State>;
  readonly #state: BehaviorSubject<State>;
  readonly #text: (state: State) => string;
  readonly #logger: IndexLogger;
  readonly #lines = new Throttle(LOG_MS);

  /** `text`: a state in words, without a full stop. */
  constructor(first: State, text: (state: State) => string, logger: IndexLogger) {
    this.#state = new BehaviorSubject(first);
    this.state$ = this.#state.asObservable();
    this.#text = text;
    this.#logger = logger;
  }

  get now(): State {
    return this.#state.value;
  }

  readonly say = (state: State): void => {
    const { phase } = state;
    const isNew = phase !== this.now.phase;
    if (isNew) this.#lines.restart(-Infinity);
    // `live` recurs with each block; failures were logged with their reasons.
    if (phase !== 'failed' && (isNew || phase !== 'live') && this.#lines.isDue()) this.#logger.info(sentence(this.#text(state)));
    this.#state.next(state);
  };

  /** Says the last state, which is not logged. */
  end(last: State): void {
    this.#state.next(last);
    this.#state.complete();
  }
}
