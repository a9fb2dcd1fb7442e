// Fee rates by confirmation target.

import { json } from '../../describe/open-api';
import { mapOf } from '../../describe/schema';
import { FEE_RATE } from '../../describe/values';
import { rustDoubleText } from '../../views/esplora/double';
import { jsonReply } from '../reply';
import type { PoolFees } from '../../answers/pool/fees';
import type { FeeTarget } from '../../pool/fee-estimates';
import type { Route } from '../endpoint';

interface FeeContext {
  readonly fees: Pick<PoolFees, 'estimates'>;
}

export function feeRoutes({ fees }: FeeContext): Route[] {
  return [
    {
      method: 'GET',
      path: '/fee-estimates',
      endpoint: async () => jsonReply(estimatesText(await fees.estimates())),
      operation: {
        id: 'getFeeEstimates',
        summary: 'Fee rates by the number of blocks until confirmation.',
        answer: json('The rates; empty while there are no estimates.', mapOf({ type: 'string', pattern: '^\\d+$' }, FEE_RATE))
      }
    }
  ];
}

const estimatesText = (targets: readonly FeeTarget[]): string =>
  `{${targets.map(({ blocks, rate }) => `"${blocks}":${rustDoubleText(rate)}`).join(',')}}`;
