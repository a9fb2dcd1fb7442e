// Fee rates by confirmation target, in the forms of Esplora and of mempool.

import { recommendedFees } from '../../answers/pool/recommended-fees';
import { rustDoubleText } from '../../views/esplora/double';
import { jsonReply } from '../reply';
import type { PoolFees } from '../../answers/pool/fees';
import type { PoolSource } from '../../node/types';
import type { FeeTarget } from '../../pool/fee-estimates';
import type { Route } from '../endpoint';

interface FeeContext {
  readonly node: { readonly pool: Pick<PoolSource, 'info'> };
  readonly fees: Pick<PoolFees, 'estimates'>;
}

export function feeRoutes({ node, fees }: FeeContext): Route[] {
  return [
    { method: 'GET', path: '/fee-estimates', endpoint: async () => jsonReply(estimatesText(await fees.estimates())) },
    {
      method: 'GET',
      path: '/v1/fees/recommended',
      endpoint: async () => jsonReply(JSON.stringify(recommendedFees(await fees.estimates(), node.pool.info())))
    }
  ];
}

const estimatesText = (targets: readonly FeeTarget[]): string =>
  `{${targets.map(({ blocks, rate }) => `"${blocks}":${rustDoubleText(rate)}`).join(',')}}`;
