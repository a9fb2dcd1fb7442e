// How refusals name transactions and amounts.

import { SATOSHIS_PER_COIN } from '../bitcoin/consensus';
import { toDisplayHex } from '../bitcoin/hash';

const DECIMALS = 8;
/** Decimals that are shown even if they are zero. */
const LEAST_DECIMALS = 2;

export interface Named {
  readonly txid: Buffer;
  readonly wtxid: Buffer;
}

/** Both hashes. */
export const namesOf = ({ txid, wtxid }: Named): string => `tx ${toDisplayHex(txid)} (wtxid=${toDisplayHex(wtxid)})`;

/** An amount in coins, without superfluous zeros beyond `leastDecimals` (FormatMoney). */
export function coinsText(satoshis: number, leastDecimals = LEAST_DECIMALS): string {
  const amount = Math.abs(satoshis);
  const decimals = String(amount % SATOSHIS_PER_COIN).padStart(DECIMALS, '0');
  const shown = decimals.replace(/0+$/, '').padEnd(leastDecimals, '0');
  return `${satoshis < 0 ? '-' : ''}${Math.floor(amount / SATOSHIS_PER_COIN)}.${shown}`;
}
