// Why the pool refuses a transaction: bcoin's reasons in Bitcoin Core's words (validation.cpp, policy.cpp). Reasons that are not in the
// table are the same in both, or have no counterpart and stay as they are.

/** bcoin's reasons for which Bitcoin Core has separate errors. */
export const FEE_TOO_HIGH = 'absurdly-high-fee';
export const IN_POOL = 'txn-already-in-mempool';
export const IN_CHAIN = 'txn-already-known';

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

/** Whether Bitcoin Core adds figures of the coins that are spent to its words for a reason of bcoin. */
export const hasDetails = (reason: string): boolean => DETAILED.has(coreReason(reason));

export const MISSING_INPUTS = 'bad-txns-inputs-missingorspent';

/** Bitcoin Core's words for a reason of bcoin. */
export function coreReason(reason: string): string {
  return REASONS[reason] ?? reason;
}
