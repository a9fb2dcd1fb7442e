// Txids of blocks from the index by script, which is cheaper than hashing their transactions.

import { NoStateError } from '../../index/errors';
import type { BlockPoint } from '../../node/types/chain';
import type { ScriptReader } from '../../scripts/types';

/** The txids of a block of the active chain, in block order, from where that is cheaper than hashing; undefined if they are missing. */
export type TxidsOf = (block: BlockPoint) => Promise<readonly Buffer[] | undefined>;

/** Undefined when the index by script cannot be read, or does not have the block at this height. */
export function txidsFrom(scripts: ScriptReader): TxidsOf {
  return async ({ hash, height }) => {
    try {
      return await scripts.read(async (snapshot) =>
        snapshot.index.headerAt(height)?.hash.equals(hash) === true ? snapshot.txids(height) : undefined
      );
    } catch (error) {
      if (error instanceof NoStateError) return undefined;
      throw error;
    }
  };
}
