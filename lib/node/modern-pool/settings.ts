// The operator's settings of bcoin's pool that the modern pool applies.

import { LIMITS } from '../../policy/limits';
import type { HostNode } from '../host';

export interface PoolSettings {
  /** Whether only standard transactions are taken (`--require-standard`). */
  readonly requireStandard: boolean;
  /** False: nothing is replaced (`--replace-by-fee=false`). */
  readonly replaces: boolean;
  /** Whether fees of more than 10,000 times the relay fee are refused (`--reject-absurd-fees`). */
  readonly rejectsAbsurdFees: boolean;
  /** Satoshis per 1,000 virtual bytes. */
  readonly relayRate: number;
  readonly incrementalRate: number;
}

/** bcoin's own rate on all networks. */
const OWN_RELAY_RATE = 1_000;

/** Where bcoin has other defaults than Bitcoin Core for replacing, absurd fees and the relay rate, Bitcoin Core's count. */
export function readSettings({ config, mempool: { options } }: Pick<HostNode, 'config' | 'mempool'>): PoolSettings {
  const isSet = (name: string): boolean => config.has(name);
  return {
    requireStandard: options.requireStandard,
    replaces: !isSet('replace-by-fee') || options.replaceByFee,
    rejectsAbsurdFees: isSet('reject-absurd-fees') && options.rejectAbsurdFees,
    relayRate: options.minRelay === OWN_RELAY_RATE ? LIMITS.relayRate : options.minRelay,
    incrementalRate: LIMITS.incrementalRate
  };
}
