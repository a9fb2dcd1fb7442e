// Why the pool does not take a transaction, in Bitcoin Core's words.

/**
 * `invalid`: no block may contain it either. `missing`: it spends outputs that are not there. `fee`: it pays too little by itself, which
 * may be otherwise in a package. `known`: the pool or the chain has it. `policy`: all else.
 */
export type RefusalKind = 'invalid' | 'missing' | 'fee' | 'known' | 'policy';

/** The message is the reason, and after a comma the details. */
export class PolicyRefusal extends Error {
  override readonly name = 'PolicyRefusal';

  constructor(
    readonly kind: RefusalKind,
    readonly reason: string,
    readonly details = ''
  ) {
    super(details === '' ? reason : `${reason}, ${details}`);
  }
}
