// How many requests each interface has answered, with which outcome, and how long that took. Names come from the tables of routes and methods,
// never from clients, so their number is bounded.

import { Durations } from './durations';

/** A status class of HTTP; of calls whose replies have no status, whether there was a result. */
export type Outcome = '1xx' | '2xx' | '3xx' | '4xx' | '5xx' | 'ok' | 'error';

const CLASSES = ['1xx', '2xx', '3xx', '4xx', '5xx'] as const;

/** The class of a status of HTTP. */
export const classOf = (status: number): Outcome => CLASSES[Math.floor(status / 100) - 1] ?? '5xx';

export interface TimedRequests {
  readonly route: string;
  readonly outcome: Outcome;
  readonly seconds: Durations;
}

/** The requests of one interface. */
export class InterfaceTimes {
  readonly #routes = new Map<string, Map<Outcome, Durations>>();

  /** `route`: a name of a table. */
  count(route: string, outcome: Outcome, ms: number): void {
    let outcomes = this.#routes.get(route);
    if (outcomes === undefined) this.#routes.set(route, (outcomes = new Map<Outcome, Durations>()));
    let seconds = outcomes.get(outcome);
    if (seconds === undefined) outcomes.set(outcome, (seconds = new Durations()));
    seconds.count(ms / 1_000);
  }

  /** Does the work of a call, and counts it: an error once it throws or rejects. */
  during<T>(route: string, work: () => T | Promise<T>): T | Promise<T> {
    const begin = performance.now();
    const end = (outcome: Outcome): void => {
      this.count(route, outcome, performance.now() - begin);
    };
    try {
      const result = work();
      if (result instanceof Promise)
        void result.then(
          () => {
            end('ok');
          },
          () => {
            end('error');
          }
        );
      else end('ok');
      return result;
    } catch (error) {
      end('error');
      throw error;
    }
  }

  clear(): void {
    this.#routes.clear();
  }

  *[Symbol.iterator](): Generator<TimedRequests> {
    for (const [route, outcomes] of this.#routes) for (const [outcome, seconds] of outcomes) yield { route, outcome, seconds };
  }
}

/** The interfaces that have requests. */
export type InterfaceName = 'rest' | 'rpc' | 'esplora' | 'electrum' | 'push' | 'payments';

export class RequestTimes {
  readonly #interfaces = new Map<InterfaceName, InterfaceTimes>();

  of(name: InterfaceName): InterfaceTimes {
    let times = this.#interfaces.get(name);
    if (times === undefined) this.#interfaces.set(name, (times = new InterfaceTimes()));
    return times;
  }

  /** Begins anew. */
  clear(): void {
    for (const times of this.#interfaces.values()) times.clear();
  }

  [Symbol.iterator](): Iterator<[InterfaceName, InterfaceTimes]> {
    return this.#interfaces[Symbol.iterator]();
  }
}
