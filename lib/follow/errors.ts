// What can be wrong with an index that follows the chain, or with a block that it is asked to add, and what can be done about it.

import { UnreadableBlockError } from '../node/errors';
import { StoreError } from '../store/errors';

/** A block does not fit the state of the index, or the state is wrong. Nothing was changed. */
export class IndexError extends Error {
  override readonly name: string = 'IndexError';
}

/** A record is missing, torn or altered; only a rebuild of the index helps. */
export class DamagedIndexError extends IndexError {
  override readonly name: string = 'DamagedIndexError';
}

/** The chains of index and node fork below what can be undone. After a rebuild this recurs only with another deep reorganization. */
export class TooDeepError extends DamagedIndexError {
  override readonly name = 'TooDeepError';
}

/** The index would have to be rebuilt, but cannot be: it stays as it is, and answers nothing. */
export class NotRebuildableError extends Error {
  override readonly name = 'NotRebuildableError';
}

/** The index in the store must not be touched: it belongs to another network, or has a newer layout. */
export class IndexRefusedError extends Error {
  override readonly name = 'IndexRefusedError';
}

/** Whether an error says that the index must be rebuilt. */
export function isDamage(error: unknown): error is IndexError | StoreError {
  return error instanceof IndexError || (error instanceof StoreError && error.reason === 'corrupt');
}

/** Whether a block of the node's chain is to blame. The index is unchanged, and can continue once that block has left the chain. */
export function isBlockFault(error: unknown): boolean {
  return error instanceof UnreadableBlockError || (error instanceof IndexError && !(error instanceof DamagedIndexError));
}

/** Whether a failure may pass by itself, as that of a full disk does. Damage that a rebuild did not help, or that cannot be rebuilt, stays. */
export function mayPass(error: unknown): boolean {
  return !(isDamage(error) || error instanceof NotRebuildableError || error instanceof IndexRefusedError);
}

/** The error as one: what is thrown may be anything. */
export function errorOf(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
