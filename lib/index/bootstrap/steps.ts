// Reads for work that is done beside following the chain, such as the backfill. A block that cannot be read, or a node that does not
// answer, stops that work for a while, but not the index.

import { MalformedBytesError } from '../../bitcoin/reader';
import { NoNodeError, UnreadableBlockError } from '../../node/errors';

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
