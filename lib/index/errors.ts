// What can be wrong with the index, or with what it is asked to take in.

import { UnreadableBlockError } from '../node/errors';
import { StoreError } from '../store/errors';
import type { BackfillProgress } from './types';

/** A block does not fit the state of the index, or the state is not what it must be. Nothing was changed. */
export class IndexError extends Error {
  override readonly name: string = 'IndexError';
}

/** A record is missing, torn or altered; only a rebuild of the index helps. */
export class DamagedIndexError extends IndexError {
  override readonly name: string = 'DamagedIndexError';
}

/** The chains of index and node fork below what can be undone. After a rebuild it can only come again with another deep reorganization. */
export class TooDeepError extends DamagedIndexError {
  override readonly name = 'TooDeepError';
}

/** The node has thrown away the blocks that come next; its coins are there instead. */
export class LeftBehindError extends DamagedIndexError {
  override readonly name = 'LeftBehindError';
}

/** The node's coins are not what they must be. */
export class CoinSetError extends Error {
  override readonly name = 'CoinSetError';
}

/** The index would have to be rebuilt, and cannot be: it stays as it is, and nobody is answered from it. */
export class NotRebuildableError extends Error {
  override readonly name = 'NotRebuildableError';
}

/** Whether an error says that the index must be rebuilt. */
export function isDamage(error: unknown): error is IndexError | StoreError {
  return error instanceof IndexError || (error instanceof StoreError && error.reason === 'corrupt');
}

/** Whether a block of the node's chain is to blame. The index is as it was, and can go on once the chain does without that block. */
export function isBlockFault(error: unknown): boolean {
  return error instanceof UnreadableBlockError || (error instanceof IndexError && !(error instanceof DamagedIndexError));
}

/** The index in the store must not be touched: it is another network's, or of a newer layout. */
export class IndexRefusedError extends Error {
  override readonly name = 'IndexRefusedError';
}

/**
 * It is not known whether a transaction is in the chain: the index began with the node's coins, and the transaction may stand
 * in a block that was not backfilled yet. It must not be taken for missing.
 */
export class NotYetKnownError extends Error {
  override readonly name = 'NotYetKnownError';

  /** `backfill`: how far the index is; undefined when the node has pruned the other blocks, so that the transaction stays unknown. */
  constructor(readonly backfill: BackfillProgress | undefined) {
    super(
      backfill === undefined
        ? 'the transaction may be one of a block that the node threw away before the index began'
        : `the transaction may be one of a block below ${backfill.height}, which the index has not backfilled yet`
    );
  }
}

/** There is no state to read: the index is empty, closed, damaged, or its store cannot be read. */
export class IndexUnavailableError extends Error {
  override readonly name = 'IndexUnavailableError';
}
