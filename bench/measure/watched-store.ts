// A store that remembers whether its last batch was durable.

import { DiskStore } from '../../lib/store/disk-store';
import type { BatchOptions, StoreWrite } from '../../lib/store/store';

export class WatchedStore extends DiskStore {
  /** Whether the last batch was on the disk itself when it resolved. */
  lastDurable = false;

  override async batch(writes: Iterable<StoreWrite>, options: BatchOptions): Promise<void> {
    await super.batch(writes, options);
    this.lastDurable = options.durable;
  }
}
