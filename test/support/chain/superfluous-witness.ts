// Blocks in a form that bcoin also accepts: transactions without a witness carry marker, flag and empty stacks.

import { scanBlock } from '../../../lib/bitcoin/block';
import type { ScannedTransaction } from '../../../lib/bitcoin/transaction';

/** The block with superfluous witnesses wherever possible; the block itself if bcoin cannot handle them. */
export function withSuperfluousWitnesses(raw: Buffer): Buffer {
  const { transactions } = scanBlock(raw);
  const start = transactions[0]?.offset ?? raw.length;
  const changed = Buffer.concat([raw.subarray(0, start), ...transactions.map(withSuperfluousWitness)]);
  // bcoin counts -1 for the witness of each such transaction, and cannot handle a block with a negative sum.
  const plain = transactions.filter(({ hasWitness }) => !hasWitness).length;
  const witnessBytes = transactions.reduce((sum, { length, strippedLength }) => sum + length - strippedLength, 0);
  return witnessBytes >= plain ? changed : raw;
}

/** The transaction with marker, flag and an empty stack for each input, unless it has a witness. */
export function withSuperfluousWitness({ raw, hasWitness, inputCount }: ScannedTransaction): Buffer {
  if (hasWitness) return raw;
  const end = raw.length - 4;
  return Buffer.concat([raw.subarray(0, 4), Buffer.from([0, 1]), raw.subarray(4, end), Buffer.alloc(inputCount), raw.subarray(end)]);
}
