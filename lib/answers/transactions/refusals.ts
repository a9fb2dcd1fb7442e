// Why the pool refuses a transaction: bcoin's reasons in Bitcoin Core's words (validation.cpp, policy.cpp), and as errors of its calls.

import { PolicyRefusal, RATE_TOO_HIGH } from '../../policy/refusal';
import { checkFee, checkValues } from '../../policy/spending';
import { Candidate, Offered } from '../../policy/transaction';
import { CallError, CODES } from '../errors';
import type { ScannedTransaction } from '../../bitcoin/transaction';
import type { RefusalWords } from '../../node/errors';
import type { PoolSource } from '../../node/types/pool';
import type { Spent } from './spent-coins';

/** bcoin's reasons for which Bitcoin Core has separate errors. */
export const FEE_TOO_HIGH = 'absurdly-high-fee';
const IN_POOL = 'txn-already-in-mempool';
const IN_CHAIN = 'txn-already-known';

export const TOO_MUCH_FEE = 'Fee exceeds maximum configured by user (e.g. -maxtxfee, maxfeerate)';
const MISSING_INPUTS = 'bad-txns-inputs-missingorspent';

export const tooMuchFee = (): CallError => new CallError(CODES.transaction, TOO_MUCH_FEE);

export const inUtxoSet = (): CallError => new CallError(CODES.alreadyInUtxoSet, 'Transaction outputs already in utxo set');

export const missingInputs = (): CallError => new CallError(CODES.transaction, MISSING_INPUTS);

/** Why the node refuses a transaction. */
interface Refusal {
  /** The node's. */
  readonly reason: string;
  /** Bitcoin Core's, if the node has them. */
  readonly words?: RefusalWords | undefined;
}

/** `spent`: undefined when it is not known. */
export function refusal(
  { reason, words }: Refusal,
  transaction: ScannedTransaction,
  spent: Spent | undefined,
  pool: Pick<PoolSource, 'info'>
): CallError {
  // A transaction of the pool itself is announced again, not refused: this one is an orphan that waits for outputs that it spends.
  if (reason === IN_POOL) return missingInputs();
  if (reason === IN_CHAIN) return inUtxoSet();
  if (reason === FEE_TOO_HIGH || reason === RATE_TOO_HIGH) return tooMuchFee();
  return new CallError(CODES.rejected, (words ?? wordsOf(reason, transaction, spent, pool)).message);
}

/**
 * A reason of bcoin in Bitcoin Core's words. The details, which bcoin does not give, come from the checks of today's pool; these also know
 * that outputs worth more than the inputs are no matter of the fee rate, which bcoin checks first.
 */
export function wordsOf(
  reason: string,
  transaction: ScannedTransaction,
  spent: Spent | undefined,
  pool: Pick<PoolSource, 'info'>
): RefusalWords {
  const words = coreReason(reason);
  if (spent === undefined || !hasDetails(reason)) return { reason: words, message: words };
  const candidate = new Candidate(new Offered(transaction), spent.coins);
  try {
    checkValues(candidate, spent.height);
    checkFee(candidate.fee, candidate.size, { floor: 0, relay: pool.info().minRelayFeeRate });
  } catch (error) {
    if (error instanceof PolicyRefusal) return error;
    throw error;
  }
  return { reason: words, message: words };
}

/** Whether Bitcoin Core adds figures of the coins that are spent to its words for a reason of bcoin. */
export const hasDetails = (reason: string): boolean => DETAILED.has(coreReason(reason));

/** Bitcoin Core's words for a reason of bcoin. */
function coreReason(reason: string): string {
  return REASONS[reason] ?? reason;
}

/** Reasons that are not here are the same in both, or have no counterpart and stay as they are. */
const REASONS: Readonly<Record<string, string | undefined>> = {
  'bad-txns-inputs-spent': 'txn-mempool-conflict',
  'insufficient priority': 'min relay fee not met',
  'rate limited free transaction': 'min relay fee not met',
  // Bitcoin Core adds which rule the script broke, but bcoin does not say.
  'mandatory-script-verify-flag': 'mempool-script-verify-flag-failed',
  'non-mandatory-script-verify-flag': 'mempool-script-verify-flag-failed'
};

/** Reasons to which Bitcoin Core adds figures of the coins that are spent. */
const DETAILED: ReadonlySet<string> = new Set(['min relay fee not met', 'bad-txns-in-belowout', 'bad-txns-premature-spend-of-coinbase']);
