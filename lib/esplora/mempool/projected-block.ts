// The next blocks as mempool's interface shows them.

import { WEIGHT_PER_VBYTE } from '../../bitcoin/transaction';
import { described, listOf, named, object, type Schema } from '../../describe/schema';
import { BYTES, COUNT, FEE_RATE, NUMBER, SATOSHIS } from '../../describe/values';
import type { ProjectedBlock } from '../../pool/projection/projected-blocks';

/** `MempoolBlock` in mempool.interfaces.ts. */
export const projectedBlock = ({ size, weight, count, totalFees, statistics }: ProjectedBlock): object => ({
  blockSize: size,
  blockVSize: weight / WEIGHT_PER_VBYTE,
  nTx: count,
  totalFees,
  medianFee: statistics.median,
  feeRange: statistics.range
});

/** What `projectedBlock` makes. */
export const PROJECTED_BLOCK: Schema = named(
  'MempoolBlock',
  object({
    blockSize: BYTES,
    blockVSize: described('A quarter of the weight, not rounded.', NUMBER),
    nTx: described('The number of transactions.', COUNT),
    totalFees: SATOSHIS,
    medianFee: FEE_RATE,
    feeRange: described(
      'From the lowest rate to the highest: seven rates, or eleven for a last block that is more than one.',
      listOf(FEE_RATE)
    )
  })
);
