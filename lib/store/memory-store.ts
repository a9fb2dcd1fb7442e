// A store in memory, which is gone when the process ends.

import { MemoryLevel } from 'memory-level';
import { ENCODINGS, inSlices, LevelStore } from './level-store';
import type { BatchOptions, ScrubbedPart, Store, StoreWrite } from './store';

export class MemoryStore extends LevelStore<MemoryLevel<Buffer, Buffer>> implements Store {
  constructor() {
    super('memory');
  }

  /** A store that is opened again after `close` still has its content. */
  open(): Promise<void> {
    return this.attempt('open', () => (this.engine ??= new MemoryLevel(ENCODINGS)).open());
  }

  batch(writes: Iterable<StoreWrite>, { onTaken }: BatchOptions): Promise<void> {
    return this.attempt('write', async () => {
      const batch = this.requireEngine().batch();
      try {
        // Copies: the engine keeps the buffers that it is given.
        await inSlices(writes, (write) => {
          if (write.type === 'put') batch.put(Buffer.from(write.key), Buffer.from(write.value));
          else batch.del(Buffer.from(write.key));
        });
        onTaken?.();
        await batch.write();
      } finally {
        await batch.close();
      }
    });
  }

  /** Does nothing: all uses are the same in memory. */
  prepareFor(): Promise<void> {
    return this.attempt('open', () => this.requireOpen().open());
  }

  /** Yields nothing: there are no files. */
  async *scrub(): AsyncGenerator<ScrubbedPart> {
    yield* await Promise.resolve([]);
  }

  clear(): Promise<void> {
    return this.attempt('clear', async () => {
      await this.open();
      await this.engine?.clear();
    });
  }

  close(): Promise<void> {
    return this.attempt('close', async () => this.engine?.close());
  }
}
