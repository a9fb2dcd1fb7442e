// What making, fetching and verifying a snapshot have in common.

import type { OpeningProgress } from '../store/store';

/** Where a node or reader has its indexes. */
export interface SnapshotPlaces {
  /** In which both are. */
  readonly folder: string;
  readonly index: string;
  readonly scripts: string;
}

export interface SnapshotWork {
  /** Called for about every megabyte. */
  readonly onProgress: (progress: OpeningProgress) => void;
  readonly signal: AbortSignal;
}
