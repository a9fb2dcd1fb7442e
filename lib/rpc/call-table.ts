// The calls that are answered here; all other calls go to the node.

import { blockCalls } from './calls/blocks';
import { chainCalls } from './calls/chain';
import { coinSetCalls } from './calls/coin-set';
import { coinCalls } from './calls/coins';
import { controlCalls } from './calls/control';
import { creatingCalls } from './calls/creating';
import { feeCalls } from './calls/fees';
import { miningCalls } from './calls/mining';
import { networkCalls } from './calls/network';
import { peerCalls } from './calls/peers';
import { poolCalls } from './calls/pool';
import { psbtCalls } from './calls/psbt';
import { proofCalls } from './calls/proofs';
import { scanningCalls } from './calls/scanning';
import { scriptCalls } from './calls/scripts';
import { sendingCalls } from './calls/sending';
import { spendingCalls } from './calls/spending';
import { statisticsCalls } from './calls/statistics';
import { transactionCalls } from './calls/transactions';
import { waitingCalls } from './calls/waiting';
import type { CallDefinition } from './call';

export const CALLS: ReadonlyMap<string, CallDefinition> = new Map(
  Object.entries({
    ...chainCalls,
    ...waitingCalls,
    ...statisticsCalls,
    ...miningCalls,
    ...blockCalls,
    ...transactionCalls,
    ...creatingCalls,
    ...psbtCalls,
    ...scriptCalls,
    ...proofCalls,
    ...coinCalls,
    ...coinSetCalls,
    ...scanningCalls,
    ...spendingCalls,
    ...poolCalls,
    ...sendingCalls,
    ...feeCalls,
    ...networkCalls,
    ...peerCalls,
    ...controlCalls
  })
);
