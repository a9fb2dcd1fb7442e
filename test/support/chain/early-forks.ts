// Relative lock times and witnesses from the 48th block of a regtest chain on, not from the 432nd.

import { after, before } from 'mocha';
import { bcoin } from '../bcoin/bcoin';

const { csv, segwit } = bcoin.Network.get('regtest').deployments;
const FORKS = [csv, segwit].map((fork) => ({ fork, window: fork.window, threshold: fork.threshold }));
/** The forks are active after three of these windows. */
const SHORT_WINDOW = 16;

/** For the tests of a group. Its hooks come first, so that no other one that fails leaves the forks to further groups. */
export function withEarlyForks(): void {
  before(activateForksEarly);
  after(activateForksAsShipped);
}

/** For all chains of this process that are opened from now on. */
export function activateForksEarly(): void {
  for (const { fork } of FORKS) fork.window = fork.threshold = SHORT_WINDOW;
}

export function activateForksAsShipped(): void {
  for (const { fork, window, threshold } of FORKS) Object.assign(fork, { window, threshold });
}
