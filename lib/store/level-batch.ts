// How writes get into a batch of the engines.

import { setImmediate } from 'node:timers/promises';
import { notOpen, type Engine, type EngineBatch } from './level-engine';
import type { StoreWrite } from './store';

/** Writes handed to the engine before others get the event loop: about a millisecond. */
const WRITES_PER_SLICE = 1_000;

/** The half of a batch that abstract-level asks of engines on disk. */
interface BareBatch {
  _put(key: Buffer, value: Buffer): void;
  _del(key: Buffer): void;
  _clear(): void;
  _write(options: { readonly sync: boolean }): Promise<void>;
}

/**
 * Batches that go around abstract-level's own half, which checks and copies each write for
 * encodings, hooks and events that are not in use here: 3 µs for a write that takes half of
 * one. They share one batch of the engine: its memory, tens of megabytes, is only given back
 * by the garbage collector, which sees nothing of it.
 */
export function bareBatches(): (engine: Engine) => EngineBatch {
  let spare: { readonly engine: Engine; readonly batch: BareBatch } | undefined;
  return (engine) => {
    const batch = spare?.engine === engine ? spare.batch : engine.batch() as unknown as BareBatch; // every engine's batch on disk has both halves
    spare = undefined;
    return {
      put: (key, value) => { batch._put(key, value); },
      del: (key) => { batch._del(key); },
      write: async (options) => {
        // Otherwise the engine would be called without its database.
        if (engine.status !== 'open') throw notOpen();
        await batch._write(options);
      },
      close: () => {
        batch._clear();
        spare = { engine, batch };
        return Promise.resolve();
      }
    };
  };
}

/** The engine in memory keeps what it is given. */
export function copyingBatch(engine: Engine): EngineBatch {
  const batch = engine.batch();
  return {
    put: (key, value) => batch.put(Buffer.from(key), Buffer.from(value)),
    del: (key) => batch.del(Buffer.from(key)),
    write: (options) => batch.write(options),
    close: () => batch.close()
  };
}

/** Puts the writes into a batch, in portions. */
export async function fill(batch: EngineBatch, writes: Iterable<StoreWrite>): Promise<void> {
  let left = WRITES_PER_SLICE;
  for (const write of writes) {
    if (write.type === 'put') batch.put(write.key, write.value);
    else batch.del(write.key);
    if (--left > 0) continue;
    left = WRITES_PER_SLICE;
    await setImmediate();
  }
}
