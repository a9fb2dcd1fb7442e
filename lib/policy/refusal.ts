// Why the pool does not take a transaction, in Bitcoin Core's words.

/**
 * `invalid`: no block may contain it either. `missing`: it spends outputs that are not there. `fee`: it pays too little by itself, which
 * may be otherwise in a package. `known`: the pool or the chain has it. `stripped`: it fails without a witness that it may have had. `policy`:
 * all else.
 */
export type RefusalKind = 'invalid' | 'missing' | 'fee' | 'known' | 'stripped' | 'policy';

/** The reason if it pays more than its sender wants to. */
export const RATE_TOO_HIGH = 'max feerate exceeded';

/** The message is the reason, and after a comma the details. */
export class PolicyRefusal extends Error {
  override readonly name = 'PolicyRefusal';

  constructor(
    readonly kind: RefusalKind,
    readonly reason: string,
    readonly details = '',
    /** Whether finding out took so much work that nobody may have it done again and again. */
    readonly isCostly = false
  ) {
    super(details === '' ? reason : `${reason}, ${details}`);
  }
}
