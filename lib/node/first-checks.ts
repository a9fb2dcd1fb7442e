// What the pool checks of a transaction by itself, before it looks for the coins that it spends: in Bitcoin Core's order, and from the bytes
// alone. bcoin reads a transaction in one piece and takes up to half a second for a megabyte of small parts, so a large one is checked first.

import { checkForm, checkLength, checkStandard } from '../policy/form';
import { LIMITS } from '../policy/limits';
import { PolicyRefusal } from '../policy/refusal';
import { Offered } from '../policy/transaction';
import type { ScannedTransaction } from '../bitcoin/transaction';
import type { HostChain } from './host';

/** No script can use more than 1,000 items of an input; this many take bcoin ten milliseconds. */
const MOST_WITNESS_ITEMS = 20_000;

export interface FirstChecksOptions {
  readonly chain: Pick<HostChain, 'state'>;
  /** Whether only standard transactions are taken. */
  readonly requireStandard: boolean;
}

/** @throws PolicyRefusal */
export function checkFirst(offered: Offered, { chain, requireStandard }: FirstChecksOptions): void {
  checkForm(offered);
  checkForks(offered, chain, requireStandard);
  if (requireStandard) checkStandard(offered);
  checkLength(offered);
  if (offered.transaction.witnessItems > MOST_WITNESS_ITEMS) throw new PolicyRefusal('policy', 'bad-witness-nonstandard');
}

/** The same for a transaction that bcoin has not read yet; undefined: it is small enough to be read first, or passes. */
export function earlyRefusal(transaction: ScannedTransaction, options: FirstChecksOptions): PolicyRefusal | undefined {
  if (transaction.weight <= LIMITS.mostWeight && transaction.witnessItems <= MOST_WITNESS_ITEMS) return undefined;
  try {
    checkFirst(new Offered(transaction), options);
    return undefined;
  } catch (error) {
    if (error instanceof PolicyRefusal) return error;
    throw error;
  }
}

/** On a chain on which forks are not active yet, bcoin lets in nothing that depends on them. @throws PolicyRefusal */
function checkForks({ version, transaction }: Offered, { state }: Pick<HostChain, 'state'>, requireStandard: boolean): void {
  if (requireStandard && version >= 2 && !state.hasCSV()) throw new PolicyRefusal('policy', 'premature-version2-tx');
  if (transaction.hasWitness && !state.hasWitness()) throw new PolicyRefusal('policy', 'no-witness-yet');
}
