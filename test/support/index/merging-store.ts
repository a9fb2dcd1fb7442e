// A store on disk that merges its tables when told to, rather than gradually.

import { DiskStore } from '../../../lib/store/disk-store';

export class MergingStore extends DiskStore {
  /** Moves all records of a range through all levels. */
  merge(from: Buffer, to: Buffer): Promise<void> {
    return this.requireEngine().compactRange(from, to);
  }
}
