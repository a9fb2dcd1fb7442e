// What to pay for a confirmation soon or late.

import { feeEstimates, type FeeTarget } from '../../script-pool/fee-estimates';
import { rustDoubleText } from '../../views/esplora/double';
import { jsonReply } from '../reply';
import type { PoolSummary } from '../../script-pool/pool-summary';
import type { EsploraContext, Route } from '../endpoint';
import type { PoolView } from '../pool-view';

interface FeeContext {
  readonly rest: Pick<EsploraContext['rest'], 'node'>;
}

const KEPT_MS = 60_000;

export function feeEstimateRoutes({ rest: { node } }: FeeContext, summary: PoolView<PoolSummary>): Route[] {
  let text = '';
  let madeAt = -Infinity;
  return [
    {
      method: 'GET',
      path: '/fee-estimates',
      endpoint: async () => {
        if (performance.now() - madeAt >= KEPT_MS) {
          text = estimatesText(feeEstimates(node, await summary.get()));
          madeAt = performance.now();
        }
        return jsonReply(text);
      }
    }
  ];
}

const estimatesText = (targets: readonly FeeTarget[]): string =>
  `{${targets.map(({ blocks, rate }) => `"${blocks}":${rustDoubleText(rate)}`).join(',')}}`;
