// The next blocks, and what to pay for being in them.

import { preciseFees, RECOMMENDED_FEES, recommendedFees } from '../../answers/pool/recommended-fees';
import { json } from '../../describe/open-api';
import { listOf } from '../../describe/schema';
import { MOST_BLOCKS } from '../../pool/projection/projected-blocks';
import { jsonReply } from '../reply';
import { PROJECTED_BLOCK, projectedBlock } from './projected-block';
import type { EsploraContext, Route } from '../endpoint';

const FEES = json('The rates.', RECOMMENDED_FEES);

export function feeRoutes({ node, projections }: Pick<EsploraContext, 'node' | 'projections'>): Route[] {
  return [
    {
      method: 'GET',
      path: '/v1/fees/recommended',
      endpoint: async () => jsonReply(JSON.stringify(recommendedFees((await projections.get()).blocks, node.pool.info()))),
      isHeavy: true,
      operation: { id: 'getRecommendedFees', summary: 'Recommended fee rates, as whole numbers.', answer: FEES }
    },
    {
      method: 'GET',
      path: '/v1/fees/precise',
      endpoint: async () => jsonReply(JSON.stringify(preciseFees((await projections.get()).blocks, node.pool.info()))),
      isHeavy: true,
      operation: { id: 'getPreciseFees', summary: 'Recommended fee rates, in thousandths.', answer: FEES }
    },
    {
      method: 'GET',
      path: '/v1/fees/mempool-blocks',
      endpoint: async () => jsonReply(JSON.stringify((await projections.get()).blocks.map(projectedBlock))),
      isHeavy: true,
      operation: {
        id: 'getMempoolBlocks',
        summary: 'The next blocks, as a miner would make them of the pool. The last one has everything that is left.',
        answer: json('The blocks.', { ...listOf(PROJECTED_BLOCK), maxItems: MOST_BLOCKS })
      }
    }
  ];
}
