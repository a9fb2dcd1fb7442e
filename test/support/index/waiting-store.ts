// A store whose calls take some turns of the event loop, as those of a disk do. With a store in memory all waiting ends within microtasks,
// so that much of what may happen in between never does.

import { setImmediate } from 'node:timers/promises';
import { holdBatches } from './held-batches';
import type { Pages } from '../../../lib/store/pages';
import type { Store, StoreSnapshot } from '../../../lib/store/store';

/** How many turns one call after the other takes. */
const TURNS = [1, 0, 3, 0, 0, 2, 1, 5];

const SLOW: ReadonlySet<string | symbol> = new Set(['open', 'load', 'clear', 'prepareFor']);

export function waitingStore(store: Store): Store {
  let calls = 0;
  const wait = async (): Promise<void> => {
    for (let turns = TURNS[calls++ % TURNS.length] as number; turns > 0; turns--) await setImmediate();
  };
  const snapshot = (): StoreSnapshot => {
    const real = store.snapshot();
    return {
      get: (key) => real.get(key),
      soon: (keys) => (TURNS[calls++ % TURNS.length] === 0 ? real.soon(keys) : undefined),
      few: async (keys) => {
        await wait();
        return real.few(keys);
      },
      load: async (keys) => {
        await wait();
        return real.load(keys);
      },
      range: (range) => slowly(real.range(range), wait),
      pages: (range) => slowly(real.pages(range), wait),
      head: async (range, most) => {
        await wait();
        return real.head(range, most);
      },
      close: () => {
        real.close();
      }
    };
  };
  const { pages } = store;
  const slowPages: Pages = {
    count: () => pages.count(),
    visit: (...values) => pages.visit(...values),
    load: async (...values) => {
      await wait();
      await pages.load(...values);
    },
    write: async (...values) => {
      await wait();
      await pages.write(...values);
      await wait();
    },
    sync: async () => {
      await wait();
      await pages.sync();
    },
    cut: async (count) => {
      await wait();
      await pages.cut(count);
    }
  };
  const held = holdBatches(
    store,
    (batch) =>
      void wait().then(() => {
        batch.write();
      })
  );
  return new Proxy(held, {
    get: (target, name): unknown => {
      if (name === 'snapshot') return snapshot;
      if (name === 'pages') return slowPages;
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function' || !SLOW.has(name)) return value;
      return async (...values: unknown[]): Promise<unknown> => {
        await wait();
        return (value as (...values: unknown[]) => unknown)(...values);
      };
    }
  });
}

async function* slowly<T>(records: AsyncIterable<T>, wait: () => Promise<void>): AsyncGenerator<T, void> {
  await wait();
  for await (const record of records) {
    yield record;
    await wait();
  }
}
