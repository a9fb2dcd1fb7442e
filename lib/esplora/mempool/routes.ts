// The endpoints of mempool's interface, all of them below `/v1`.

import { blockRoutes } from './blocks';
import { difficultyRoutes } from './difficulty';
import { feeRoutes } from './fees';
import { poolRoutes } from './pool';
import { rewardRoutes } from './rewards';
import { serverRoutes } from './server';
import type { EsploraContext, Route } from '../endpoint';

export const mempoolInterfaceRoutes = (context: EsploraContext): Route[] => [
  ...serverRoutes(context),
  ...blockRoutes(context),
  ...rewardRoutes(context),
  ...feeRoutes(context),
  ...poolRoutes(context),
  ...difficultyRoutes(context)
];
