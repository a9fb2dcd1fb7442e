// Steps of work that is done beside following the chain, as the backfill: how long one takes, and its reads. A block that cannot be read, or
// a node that does not answer, stops that work for a while, but not the index.

import { MalformedBytesError } from '../../bitcoin/reader';
import { NoNodeError, UnreadableBlockError } from '../../node/errors';
import type { IndexLogger } from '../../follow/logger';
import type { NodeSource } from '../../node/types/source';
import type { Store } from '../../store/store';
import type { IndexWriter } from '../write/index-writer';

/** How long a step works, and how many blocks it takes in at most. A new block of the chain may have to wait for the step, and then for its write. */
export const STEP_MS = 30;
export const STEP_BLOCKS = 200;

/** What steps work with. */
export interface StepParts {
  readonly node: NodeSource;
  readonly store: Store;
  readonly writer: IndexWriter;
  readonly logger: IndexLogger;
}

/** The error instead of the result if the node has the data damaged, or no node answers. @throws all other errors */
export async function orUnread<T>(read: Promise<T>): Promise<T | Error> {
  return read.catch((error: unknown) => {
    if (error instanceof UnreadableBlockError || error instanceof MalformedBytesError || error instanceof NoNodeError) return error;
    throw error;
  });
}

/** As `orUnread`, but undefined instead of the error. */
export async function ifReadable<T>(read: Promise<T>): Promise<T | undefined> {
  const result = await orUnread(read);
  return result instanceof Error ? undefined : result;
}
