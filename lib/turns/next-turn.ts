// The next turn of the event loop. What every turn has anew, such as the time for synchronous reads, is renewed before any work continues
// that uses it.

import { setImmediate } from 'node:timers';

const renewals = new Set<() => void>();
let isDue = false;

/** Calls `renew` once in the next turn. */
export function renewInNextTurn(renew: () => void): void {
  renewals.add(renew);
  scheduleRenewals();
}

/** Calls `goOn` in the next turn, after everything is renewed that was used up to then. */
export function goOnInNextTurn(goOn: () => void): void {
  scheduleRenewals();
  setImmediate(goOn);
}

/** Immediates of a turn run in the order in which they were set: these come before the work that wants the turn. */
function scheduleRenewals(): void {
  if (isDue) return;
  isDue = true;
  setImmediate(renewAll);
}

function renewAll(): void {
  isDue = false;
  const due = [...renewals];
  renewals.clear();
  for (const renew of due) renew();
}
