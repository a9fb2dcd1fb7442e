// Relative lock times and witnesses from the 48th block of a regtest chain on, not from the 432nd.

import { bcoin } from './bcoin';

const { csv, segwit } = bcoin.Network.get('regtest').deployments;
const FORKS = [csv, segwit].map((fork) => ({ fork, window: fork.window, threshold: fork.threshold }));
/** The forks are active after three of these windows. */
const SHORT_WINDOW = 16;

/** For all chains of this process that are opened from now on. */
export function activateForksEarly(): void {
  for (const { fork } of FORKS) fork.window = fork.threshold = SHORT_WINDOW;
}

export function activateForksAsShipped(): void {
  for (const { fork, window, threshold } of FORKS) Object.assign(fork, { window, threshold });
}
