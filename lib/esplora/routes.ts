// The table of endpoints.

import { blockRoutes } from './endpoints/block';
import { broadcastRoutes } from './endpoints/broadcast';
import { chainRoutes } from './endpoints/chain';
import { feeRoutes } from './endpoints/fees';
import { mempoolRoutes } from './endpoints/mempool';
import { outspendRoutes } from './endpoints/outspend';
import { proofRoutes } from './endpoints/proof';
import { scriptRoutes } from './endpoints/script';
import { transactionRoutes } from './endpoints/transaction';
import type { EsploraContext, Route } from './endpoint';

export function esploraRoutes(context: EsploraContext): Route[] {
  return [
    ...chainRoutes(context),
    ...blockRoutes(context),
    ...transactionRoutes(context),
    ...proofRoutes(context),
    ...outspendRoutes(context),
    ...scriptRoutes(context),
    ...broadcastRoutes(context),
    ...mempoolRoutes(context),
    ...feeRoutes(context)
  ];
}
