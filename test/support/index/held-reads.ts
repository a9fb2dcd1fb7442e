// A store that starts to read ranges, or pages, when a test lets it.

import type { Pages } from '../../../lib/store/pages';
import type { Store, StoreSnapshot } from '../../../lib/store/store';

/** `held`: called for each range that is begun to be read from a snapshot, and for pages that may be waited for; returns a promise for which the read waits, or undefined. */
export function holdReads(store: Store, held: () => Promise<void> | undefined): Store {
  const snapshot = (): StoreSnapshot => {
    const real = store.snapshot();
    return {
      get: (key) => real.get(key),
      // As from a disk that is slow.
      soon: () => undefined,
      few: (keys) => real.few(keys),
      load: (keys) => real.load(keys),
      range: (range) => behind(held(), real.range(range)),
      pages: (range) => real.pages(range),
      head: async (range, most) => {
        await held();
        return real.head(range, most);
      },
      close: () => {
        real.close();
      }
    };
  };
  const { pages } = store;
  let waiting: Promise<void> | undefined;
  const heldPages: Pages = {
    count: () => pages.count(),
    visit: (numbers, from, to, until, take) => {
      if (until < Infinity) waiting ??= held();
      // As from a disk that is slow.
      return waiting === undefined || until === Infinity ? pages.visit(numbers, from, to, until, take) : from;
    },
    load: async (...values) => {
      await waiting;
      waiting = undefined;
      await pages.load(...values);
    },
    write: (first, bytes) => pages.write(first, bytes),
    sync: () => pages.sync(),
    cut: (count) => pages.cut(count)
  };
  return new Proxy(store, {
    get: (target, name): unknown => {
      if (name === 'snapshot') return snapshot;
      if (name === 'pages') return heldPages;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    }
  });
}

async function* behind<T>(held: Promise<void> | undefined, records: AsyncIterable<T>): AsyncGenerator<T, void> {
  await held;
  yield* records;
}
