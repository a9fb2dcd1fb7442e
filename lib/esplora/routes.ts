// The table of endpoints.

import { blockRoutes } from './endpoints/block';
import { chainRoutes } from './endpoints/chain';
import type { EsploraContext, Route } from './endpoint';

export function esploraRoutes(context: EsploraContext): Route[] {
  return [...chainRoutes(context), ...blockRoutes(context)];
}
