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

/** Whether a reason of bcoin means too low a fee; Bitcoin Core has one reason for this, and adds figures to it. */
export const isTooLittleFee = (reason: string): boolean => coreReason(reason) === 'min relay fee not met';

/** The outputs are worth more than the inputs. */
export const BELOW_OUTPUTS = 'bad-txns-in-belowout';

export const MISSING_INPUTS = 'bad-txns-inputs-missingorspent';

/** Bitcoin Core's words for a reason of bcoin. */
export function coreReason(reason: string): string {
  return REASONS[reason] ?? reason;
}
