// A store that takes the writes of a batch at once, as engines on disk do, and writes them, or
// fails, when told to.

import type { Store, StoreWrite } from '../../../lib/store/store';

export interface HeldBatch {
  /** Writes the batch. */
  write(): void;
  /** Makes the batch fail; nothing of it is written. */
  fail(error: Error): void;
}

/** `onTaken` is called for each batch once all its writes are taken. */
export function holdBatches(store: Store, onTaken: (batch: HeldBatch) => void): Store {
  const batch: Store['batch'] = async (writes, options) => {
    const taken: StoreWrite[] = [];
    for (const write of writes)
      taken.push(
        write.type === 'put'
          ? { type: 'put', key: Buffer.from(write.key), value: Buffer.from(write.value) }
          : { type: 'del', key: Buffer.from(write.key) }
      );
    options.onTaken?.();
    await new Promise<void>((resolve, reject) => {
      onTaken({ write: resolve, fail: reject });
    });
    await store.batch(taken, { durable: options.durable });
  };
  return new Proxy(store, {
    get: (target, name): unknown => {
      if (name === 'batch') return batch;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    }
  });
}
