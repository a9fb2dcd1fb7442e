// The calls that are answered here; all other calls go to the node.

import { blockCalls } from './calls/blocks';
import { chainCalls } from './calls/chain';
import { coinCalls } from './calls/coins';
import { feeCalls } from './calls/fees';
import { networkCalls } from './calls/network';
import { poolCalls } from './calls/pool';
import { sendingCalls } from './calls/sending';
import { transactionCalls } from './calls/transactions';
import type { CallDefinition } from './call';

export const CALLS: ReadonlyMap<string, CallDefinition> = new Map(
  Object.entries({
    ...chainCalls,
    ...blockCalls,
    ...transactionCalls,
    ...coinCalls,
    ...poolCalls,
    ...sendingCalls,
    ...feeCalls,
    ...networkCalls
  })
);
