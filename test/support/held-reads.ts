// A store whose ranges begin to be read when a test lets them.

import type { Store, StoreSnapshot } from '../../lib/store/store';

/** `held`: asked for each range of a snapshot that is read: until when it waits; undefined: it does not. */
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
