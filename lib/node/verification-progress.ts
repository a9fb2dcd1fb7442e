// How far the node's chain has come, as Bitcoin Core estimates it (GuessVerificationProgress): by transactions, of which
// the network is known to have had so many at some time, and some more each second since.

import type { HostChain } from './host';

interface TransactionRate {
  /** Unix seconds. */
  readonly time: number;
  /** All transactions up to then. */
  readonly count: number;
  readonly perSecond: number;
}

/** Bitcoin Core 0.17's figures by bcoin's names of the networks; others have none (chainparams.cpp). */
const RATES: Readonly<Record<string, TransactionRate | undefined>> = {
  main: { time: 1_532_884_444, count: 331_282_217, perSecond: 2.4 },
  testnet: { time: 1_531_929_919, count: 19_438_708, perSecond: 0.626 }
};

const NONE: TransactionRate = { time: 0, count: 0, perSecond: 0 };

/** The part of all transactions that the chain has, 0 to 1; `now` in Unix seconds. */
export function verificationProgress({ db: { state }, tip }: Pick<HostChain, 'db' | 'tip'>, network: string, now: number): number {
  const { time, count, perSecond } = RATES[network] ?? NONE;
  const all = state.tx <= count ? count + (now - time) * perSecond : state.tx + (now - tip.time) * perSecond;
  return Math.min(1, state.tx / all);
}
