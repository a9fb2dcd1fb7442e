// Errors about blocks that the node does not have.

import { findOtherBlock, requireSettled, type KnownBlock } from '../../answers/blocks/known-block';
import { UnreadableBlockError } from '../../node/errors';
import { notFound, prunedBlock, unreadableBlock } from '../errors';
import type { Answers } from '../../answers/answers';

/** A block off the active chain. `parameter`: the hash as typed. @throws HttpError 404, and 503 while the chain moves */
export async function otherBlock(hash: Buffer, parameter: string, answers: Answers): Promise<KnownBlock> {
  const block = await findOtherBlock(hash, answers);
  if (block === undefined) throw notFound(parameter);
  return block;
}

/** For a block whose bytes the node does not have. @throws HttpError */
export async function refuseBlock(block: KnownBlock, parameter: string, answers: Answers): Promise<never> {
  await requireSettled(block, answers);
  throw answers.node.pruned ? prunedBlock(parameter) : notFound(parameter);
}

/** What `read` gives. @throws HttpError for a block that the node cannot read, in the words of the edition */
export async function orUnreadable<T>(read: Promise<T>, parameter: string, { profile }: Pick<Answers, 'profile'>): Promise<T> {
  return read.catch((error: unknown) => {
    if (!(error instanceof UnreadableBlockError)) throw error;
    throw unreadableBlock(parameter, profile.replies.unreadableBlockStatus, error);
  });
}
