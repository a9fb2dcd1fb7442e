// Snapshots of an index that many readers share. The readers of one state have the same snapshot, which is taken at the first read after the
// index has moved, and closed when the last of them has released it.

import { StoreError } from '../store/errors';
import { DamagedIndexError } from './errors';

/** A snapshot that stays as it is until it is released. Must be released once. */
export interface Held<S> {
  readonly snapshot: S;
  readonly release: () => void;
}

/** Keeps the snapshot of which it is part until the work is settled: for work that goes on although its own reader has ended. */
export type During = <T>(work: Promise<T>) => Promise<T>;

/** A snapshot and its readers. */
export class SharedSnapshot<S> {
  readonly snapshot: S;
  readonly #close: () => void;
  /** Its creator is the first. */
  #holders = 1;

  /** `make`: makes the snapshot, which may offer `during`. `close`: called when there are no holders any more. */
  constructor(make: (during: During) => S, close: () => void) {
    this.#close = close;
    this.snapshot = make((work) => {
      this.hold();
      return work.finally(this.release);
    });
  }

  hold(): void {
    this.#holders++;
  }

  readonly release = (): void => {
    if (--this.#holders === 0) this.#close();
  };
}

export interface SnapshotParts<S> {
  /** Takes a snapshot of the present state; undefined: there is none, and readers get the one before. */
  readonly take: () => SharedSnapshot<S> | undefined;
  /** The error for readers while there is nothing to read. */
  readonly unavailable: (message: string, options: ErrorOptions) => Error;
  /** For the text of errors, e.g. `the index`. */
  readonly name: string;
  /** Called when a reader meets a damaged record in the present state, or a store that cannot be read. */
  readonly onDamage: (error: Error) => void;
}

export class SnapshotHolder<S extends object> {
  readonly #parts: SnapshotParts<S>;
  #current: SharedSnapshot<S> | undefined;

  constructor(parts: SnapshotParts<S>) {
    this.#parts = parts;
  }

  /** The snapshot that readers get; undefined: none is taken at present. */
  get current(): S | undefined {
    return this.#current?.snapshot;
  }

  /** A promise that `use` returns keeps the snapshot until it is settled. @throws the error for readers, and what `use` throws */
  read<T>(use: (snapshot: S) => T): T {
    const shared = this.#hold();
    let result: T;
    try {
      result = use(shared.snapshot);
    } catch (error) {
      shared.release();
      throw this.#judge(error, shared);
    }
    if (!(result instanceof Promise)) {
      shared.release();
      return result;
    }
    return result
      .catch((error: unknown) => {
        throw this.#judge(error, shared);
      })
      .finally(shared.release) as T;
  }

  /** For holders that are not readers of this index alone: the snapshot reports damage by itself, whoever calls it. @throws as `read` */
  hold(): Held<S> {
    const shared = this.#hold();
    return { snapshot: reporting(shared.snapshot, (error) => this.#judge(error, shared)), release: shared.release };
  }

  /** Takes the snapshot that later readers get. @throws the error for readers */
  renew(): void {
    let next: SharedSnapshot<S> | undefined;
    try {
      next = this.#parts.take();
    } catch (error) {
      throw this.#judge(error, this.#current);
    }
    if (next === undefined) return;
    this.drop();
    this.#current = next;
  }

  /** The next reader gets a new snapshot. */
  drop(): void {
    this.#current?.release();
    this.#current = undefined;
  }

  #hold(): SharedSnapshot<S> {
    if (this.#current === undefined) this.renew();
    const shared = this.#current;
    if (shared === undefined) throw this.#parts.unavailable(`${this.#parts.name} is on its way to the next state`, {});
    shared.hold();
    return shared;
  }

  /** The error that a reader gets. Damage of the present state is reported; that of an older one does not matter any more. */
  #judge(error: unknown, shared: SharedSnapshot<S> | undefined): unknown {
    if (!(error instanceof DamagedIndexError || error instanceof StoreError)) return error;
    const { unavailable, name, onDamage } = this.#parts;
    // The store is closed before the index is open, and for a moment while it is cleared; or work has outlived its reader.
    if (error instanceof StoreError && error.reason === 'closed') return unavailable(`${name} is not open`, { cause: error });
    if (shared === this.#current) onDamage(error);
    return unavailable(error.message, { cause: error });
  }
}

/** The object, with what its methods throw passed through `judge`. Its methods must not depend on `this` being what they are called on. */
function reporting<S extends object>(target: S, judge: (error: unknown) => unknown): S {
  const fail = (error: unknown): never => {
    throw judge(error);
  };
  const guarded = new Map<PropertyKey, unknown>();
  const guard =
    (method: (...values: unknown[]) => unknown) =>
    (...values: unknown[]): unknown => {
      try {
        const result = method.apply(target, values);
        return result instanceof Promise ? result.catch(fail) : result;
      } catch (error) {
        return fail(error);
      }
    };
  return new Proxy(target, {
    get(_, name) {
      const known = guarded.get(name);
      if (known !== undefined) return known;
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      const wrapped = guard(value as (...values: unknown[]) => unknown);
      guarded.set(name, wrapped);
      return wrapped;
    }
  });
}
