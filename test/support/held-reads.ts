// A store that starts to read ranges when a test lets it.

import type { Store, StoreSnapshot } from '../../lib/store/store';

/** `held`: called for each range that is read from a snapshot; returns a promise for which the read waits, or undefined. */
export function holdReads(store: Store, held: () => Promise<void> | undefined): Store {
  const snapshot = (): StoreSnapshot => {
    const real = store.snapshot();
    return {
      get: (key) => real.get(key),
      load: (keys) => real.load(keys),
      range: (range) => behind(held(), real.range(range)),
      close: () => {
        real.close();
      }
    };
  };
  return new Proxy(store, {
    get: (target, name): unknown => {
      if (name === 'snapshot') return snapshot;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    }
  });
}

async function* behind<T>(held: Promise<void> | undefined, records: AsyncIterable<T>): AsyncGenerator<T, void> {
  await held;
  yield* records;
}
