// What to pay for a confirmation soon or late.

import { FeeTargets } from '../../script-answers/fee-targets';
import { rustDoubleText } from '../../views/esplora/double';
import { jsonReply } from '../reply';
import type { PoolView } from '../../script-answers/pool-view';
import type { FeeTarget } from '../../script-pool/fee-estimates';
import type { PoolSummary } from '../../script-pool/pool-summary';
import type { EsploraContext, Route } from '../endpoint';

interface FeeContext {
  readonly rest: Pick<EsploraContext['rest'], 'node'>;
}

export function feeEstimateRoutes({ rest: { node } }: FeeContext, summary: PoolView<PoolSummary>): Route[] {
  const targets = new FeeTargets(node, summary);
  return [{ method: 'GET', path: '/fee-estimates', endpoint: async () => jsonReply(estimatesText(await targets.get())) }];
}

const estimatesText = (targets: readonly FeeTarget[]): string =>
  `{${targets.map(({ blocks, rate }) => `"${blocks}":${rustDoubleText(rate)}`).join(',')}}`;
