// A store that fails when told to: the n-th call of a kind throws the error of a full or
// broken disk, before or after the real store has done the call.

import { StoreError } from '../../../lib/store/errors';
import type { Pages } from '../../../lib/store/pages';
import type {
  BatchOptions,
  OpeningProgress,
  ScrubbedPart,
  Store,
  StoreRange,
  StoreSnapshot,
  StoreUse,
  StoreWrite
} from '../../../lib/store/store';

/** The calls that following the chain makes. */
export const STORE_CALLS = [
  'open',
  'close',
  'get',
  'load',
  'range',
  'snapshot',
  'snapshot.get',
  'snapshot.load',
  'batch',
  'prepareFor',
  'clear'
] as const;
/** The further calls of the index by script. */
export const SCRIPT_STORE_CALLS = ['snapshot.head', 'snapshot.pages', 'pages.visit', 'pages.write', 'pages.cut'] as const;
export type StoreCall = (typeof STORE_CALLS)[number] | (typeof SCRIPT_STORE_CALLS)[number] | 'snapshot.range' | 'pages.sync';

/** The message of the error that a failing call throws. */
export const FAULT = 'no space left on device';

interface Fault {
  readonly call: StoreCall;
  /** Calls that succeed before the fault, which then stays until it is removed. */
  left: number;
  readonly afterwards: boolean;
}

export class FaultyStore implements Store {
  /** Calls so far; each record of a range counts as one. */
  readonly calls: Record<StoreCall, number> = {
    open: 0,
    close: 0,
    get: 0,
    load: 0,
    range: 0,
    snapshot: 0,
    'snapshot.get': 0,
    'snapshot.load': 0,
    'snapshot.range': 0,
    'snapshot.pages': 0,
    'snapshot.head': 0,
    'pages.visit': 0,
    'pages.write': 0,
    'pages.cut': 0,
    'pages.sync': 0,
    batch: 0,
    prepareFor: 0,
    clear: 0
  };
  #fault: Fault | undefined;
  #failed = false;

  readonly pages: Pages;

  constructor(private readonly real: Store) {
    const { pages } = real;
    this.pages = {
      count: () => pages.count(),
      visit: (...values) => this.#sync('pages.visit', () => pages.visit(...values)),
      load: (...values) => this.#async('pages.visit', () => pages.load(...values)),
      write: (...values) => this.#async('pages.write', () => pages.write(...values)),
      sync: () => this.#async('pages.sync', () => pages.sync()),
      cut: (count) => this.#async('pages.cut', () => pages.cut(count))
    };
  }

  /** Whether a call has failed. */
  get hasFailed(): boolean {
    return this.#failed;
  }

  /** The n-th call of the kind from now on fails, counted from 0, and all after it. `afterwards`: once the real store has done it. */
  fail(call: StoreCall, n: number, afterwards = false): void {
    this.#fault = { call, left: n, afterwards };
    this.#failed = false;
  }

  heal(): void {
    this.#fault = undefined;
  }

  open(onProgress?: (progress: OpeningProgress) => void): Promise<void> {
    return this.#async('open', () => this.real.open(onProgress));
  }

  close(): Promise<void> {
    return this.#async('close', () => this.real.close());
  }

  get(key: Buffer): Buffer | undefined {
    return this.#sync('get', () => this.real.get(key));
  }

  load(keys: readonly Buffer[]): Promise<(Buffer | undefined)[]> {
    return this.#async('load', () => this.real.load(keys));
  }

  range(range: StoreRange): AsyncIterable<readonly [Buffer, Buffer]> {
    return this.#each('range', this.real.range(range));
  }

  snapshot(): StoreSnapshot {
    const snapshot = this.#sync('snapshot', () => this.real.snapshot());
    return {
      get: (key) => this.#sync('snapshot.get', () => snapshot.get(key)),
      soon: (keys) => this.#sync('snapshot.get', () => snapshot.soon(keys)),
      few: (keys) => this.#sync('snapshot.get', () => snapshot.few(keys)),
      load: (keys) => this.#async('snapshot.load', () => snapshot.load(keys)),
      range: (range) => this.#each('snapshot.range', snapshot.range(range)),
      pages: (range) => this.#each('snapshot.pages', snapshot.pages(range)),
      head: (range, most) => this.#async('snapshot.head', () => snapshot.head(range, most)),
      close: () => {
        snapshot.close();
      }
    };
  }

  batch(writes: Iterable<StoreWrite>, options: BatchOptions): Promise<void> {
    return this.#async('batch', () => this.real.batch(writes, options));
  }

  prepareFor(use: StoreUse): Promise<void> {
    return this.#async('prepareFor', () => this.real.prepareFor(use));
  }

  scrub(): AsyncIterable<ScrubbedPart> {
    return this.real.scrub();
  }

  clear(): Promise<void> {
    return this.#async('clear', () => this.real.clear());
  }

  async *#each<T>(call: StoreCall, records: AsyncIterable<T>): AsyncGenerator<T> {
    this.#sync(call, () => undefined);
    for await (const record of records) {
      yield record;
      this.#sync(call, () => undefined);
    }
  }

  #sync<T>(call: StoreCall, run: () => T): T {
    const fault = this.#due(call);
    if (fault === undefined) return run();
    if (fault.afterwards) run();
    throw new StoreError('failed', FAULT);
  }

  async #async<T>(call: StoreCall, run: () => Promise<T>): Promise<T> {
    const fault = this.#due(call);
    if (fault === undefined) return run();
    if (fault.afterwards) await run();
    throw new StoreError('failed', FAULT);
  }

  #due(call: StoreCall): Fault | undefined {
    this.calls[call]++;
    const fault = this.#fault;
    if (fault?.call !== call || fault.left-- > 0) return undefined;
    this.#failed = true;
    return fault;
  }
}
