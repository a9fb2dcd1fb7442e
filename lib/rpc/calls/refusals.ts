// Why the pool does not take a transaction: bcoin's reasons in Bitcoin Core's words (validation.cpp, policy.cpp). Those that are not in the
// table are the same in both, or have no counterpart and stay what they are.

/** Those that Bitcoin Core answers with errors of their own. */
export const FEE_TOO_HIGH = 'absurdly-high-fee';
export const IN_POOL = 'txn-already-in-mempool';
export const IN_CHAIN = 'txn-already-known';

const REASONS: Readonly<Record<string, string | undefined>> = {
  'bad-txns-inputs-spent': 'txn-mempool-conflict',
  'insufficient priority': 'min relay fee not met',
  'rate limited free transaction': 'min relay fee not met',
  // Which rule a script broke is not known: bcoin does not say.
  'mandatory-script-verify-flag': 'mempool-script-verify-flag-failed',
  'non-mandatory-script-verify-flag': 'mempool-script-verify-flag-failed'
};

/** bcoin has two reasons for one of Bitcoin Core's, which goes with figures there. */
export const isTooLittleFee = (reason: string): boolean => coreReason(reason) === 'min relay fee not met';

/** It pays more than it spends. */
export const BELOW_OUTPUTS = 'bad-txns-in-belowout';

export const MISSING_INPUTS = 'bad-txns-inputs-missingorspent';

/** `reason`: bcoin's. */
export function coreReason(reason: string): string {
  return REASONS[reason] ?? reason;
}
