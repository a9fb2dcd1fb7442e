// The table of endpoints.

import { blockRoutes } from './endpoints/block';
import { broadcastRoutes } from './endpoints/broadcast';
import { chainRoutes } from './endpoints/chain';
import { feeEstimateRoutes } from './endpoints/fee-estimates';
import { mempoolRoutes } from './endpoints/mempool';
import { outspendRoutes } from './endpoints/outspend';
import { proofRoutes } from './endpoints/proof';
import { scriptRoutes } from './endpoints/script';
import { transactionRoutes } from './endpoints/transaction';
import { PoolView } from '../script-answers/pool-view';
import type { EsploraContext, Route } from './endpoint';

/** Looking through a large pool is worth it once in so long. */
const SUMMARY_MS = 10_000;

export function esploraRoutes(context: EsploraContext): Route[] {
  const { pool } = context;
  const summary = new PoolView(pool, () => pool.summary(), { lateMs: SUMMARY_MS });
  return [
    ...chainRoutes(context),
    ...blockRoutes(context),
    ...transactionRoutes(context),
    ...proofRoutes(context),
    ...outspendRoutes(context),
    ...scriptRoutes(context),
    ...broadcastRoutes(context),
    ...mempoolRoutes(context, summary),
    ...feeEstimateRoutes(context, summary)
  ];
}
