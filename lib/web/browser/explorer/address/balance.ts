// What transactions did with a balance, and how the balance went.

import type { Sats } from '../../parts/amounts';
import type { Transaction } from '../data/types';

/** What a transaction did with the balance of an address, or of a script in hex. */
export function effectOf({ inputs, outputs }: Transaction, isOwn: (output: { readonly address: string | undefined }) => boolean): Sats {
  let effect = 0n;
  for (const { spent } of inputs) if (spent !== undefined && isOwn(spent)) effect -= spent.value;
  for (const output of outputs) if (isOwn(output)) effect += output.value;
  return effect;
}

export interface BalancePoint {
  readonly time: number;
  readonly sats: Sats;
}

/**
 * The balance after each confirmed transaction, in the order of the chain. `history`: from the newest one down, in the order of the chain or
 * from any transaction on; `balance`: after the newest one. The first point is the balance before them.
 */
export function balancesOf(history: readonly { readonly effect: Sats; readonly time: number }[], balance: Sats): readonly BalancePoint[] {
  const points: BalancePoint[] = [];
  let after = balance;
  for (const { effect, time } of history) {
    points.push({ time, sats: after });
    after -= effect;
  }
  const first = points.at(-1);
  return first === undefined ? [] : [{ time: first.time, sats: after }, ...points.reverse()];
}
