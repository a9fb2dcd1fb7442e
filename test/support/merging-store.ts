// A store on disk that merges its tables when it is told to, and not by and by.

import { DiskStore } from '../../lib/store/disk-store';

export class MergingStore extends DiskStore {
  /** All that is in a range goes through all levels. */
  merge(from: Buffer, to: Buffer): Promise<void> {
    return this.requireEngine().compactRange(from, to);
  }
}
