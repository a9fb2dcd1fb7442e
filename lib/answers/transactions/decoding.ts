// Transactions in hex, as clients give them to be sent or tested: decoded, and checked as far as Bitcoin Core checks them before its pool.

import { hasValidOpcodes, isUnspendable } from '../../bitcoin/script';
import { scanWholeTransaction, type ScannedTransaction } from '../../bitcoin/transaction';
import { LIMITS } from '../../policy/limits';
import { nextTurn, Slice } from '../../turns/slices';
import { CallError, CODES, invalidParameter } from '../errors';

const TOO_MUCH_BURNT = 'Unspendable output exceeds maximum configured by user (maxburnamount)';

/** The transaction in hex. @throws CallError -22 */
export function decodeTransaction(hex: string): ScannedTransaction {
  const transaction = decoded(hex);
  if (transaction === undefined) throw undecodable();
  return transaction;
}

/**
 * The transactions in a list of hex texts, decoded in slices: a large one takes milliseconds. `textOf` checks that an item is a text.
 * @throws CallError -22, and what `textOf` throws
 */
export async function decodeTransactions<T>(list: readonly T[], textOf: (item: T) => string): Promise<ScannedTransaction[]> {
  const slice = new Slice();
  const transactions: ScannedTransaction[] = [];
  for (const item of list) {
    if (slice.isOver()) await nextTurn();
    const hex = textOf(item);
    const transaction = decoded(hex);
    if (transaction === undefined) throw undecodable(hex);
    transactions.push(transaction);
  }
  return transactions;
}

/** Bitcoin Core looks at the number of transactions before it looks at anything else. @throws CallError -8 */
export function requirePackageSize({ length }: readonly unknown[]): void {
  if (length < 1 || length > LIMITS.mostInPackage)
    throw invalidParameter(`Array must contain between 1 and ${LIMITS.mostInPackage} transactions.`);
}

/** @throws CallError -25 when an unspendable output has more than `most` satoshis. */
export function requireNotBurnt({ outputs }: ScannedTransaction, most: number): void {
  if (outputs.some(({ value, script }) => value > most && (isUnspendable(script) || !hasValidOpcodes(script))))
    throw new CallError(CODES.transaction, TOO_MUCH_BURNT);
}

function decoded(hex: string): ScannedTransaction | undefined {
  if (!/^(?:[0-9a-fA-F]{2})+$/.test(hex)) return undefined;
  try {
    const transaction = scanWholeTransaction(Buffer.from(hex, 'hex'));
    // bcoin cannot read other amounts, or takes the bytes for those of another transaction.
    return transaction.outputs.every(({ value }) => Number.isSafeInteger(value)) ? transaction : undefined;
  } catch {
    return undefined;
  }
}

/** `hex`: the undecodable one, if several transactions were given. */
export function undecodable(hex?: string): CallError {
  const which = hex === undefined ? '.' : `: ${hex}`;
  return new CallError(CODES.deserialization, `TX decode failed${which} Make sure the tx has at least one input.`);
}
