// Coinbases that may be spent after 30 blocks, not after 100: what compares whole chains again and again has shorter ones to compare. The
// plugin has no part in this rule but in today's pool, which keeps its own.

import { bcoin } from '../bcoin/bcoin';

const { consensus } = bcoin;
const AS_SHIPPED = consensus.COINBASE_MATURITY;
const EARLY = 30;

/** From now on in all chains of this process. */
export function allowEarlySpends(): void {
  consensus.COINBASE_MATURITY = EARLY;
}

export function allowSpendsAsShipped(): void {
  consensus.COINBASE_MATURITY = AS_SHIPPED;
}
