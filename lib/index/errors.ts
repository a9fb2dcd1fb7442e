// What can be wrong with the index of the chain, beside what can be wrong with any index (lib/follow/errors.ts).

import { DamagedIndexError } from '../follow/errors';
import type { BackfillProgress } from './types';

/** The node has pruned the blocks that the index needs next; the index can be rebuilt from the node's coins. */
export class LeftBehindError extends DamagedIndexError {
  override readonly name = 'LeftBehindError';
}

/** The node's coins are not what they must be. */
export class CoinSetError extends Error {
  override readonly name = 'CoinSetError';
}

/**
 * It is not known whether a transaction is in the chain: the index started from the node's coins, and the transaction may be in
 * a block that is not backfilled yet. It must not be reported as missing.
 */
export class NotYetKnownError extends Error {
  override readonly name = 'NotYetKnownError';

  /** `backfill`: how far the backfill is; undefined when the node has pruned the other blocks, so that the transaction stays unknown. */
  constructor(readonly backfill: BackfillProgress | undefined) {
    super(
      backfill === undefined
        ? 'the transaction may be one of a block that the node threw away before the index began'
        : `the transaction may be one of a block below ${backfill.height}, which the index has not backfilled yet`
    );
  }
}

/** There is no state of an index to read: it is empty, closed, damaged, or its store cannot be read. */
export class NoStateError extends Error {
  override readonly name: string = 'NoStateError';
}

/** There is no state of the main index to read. */
export class IndexUnavailableError extends NoStateError {
  override readonly name = 'IndexUnavailableError';
}
