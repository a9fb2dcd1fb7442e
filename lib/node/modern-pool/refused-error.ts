// A refusal as bcoin's own code expects it: with the shape of bcoin's VerifyError (protocol/errors.js).

import type { PolicyRefusal, RefusalKind } from '../../policy/refusal';
import type { HostHash } from '../host';

/** Points towards the ban of the peer that sent the transaction: at 100 it is banned. */
const [BAN, COSTLY] = [100, 10];

/** bcoin's words for messages to peers (`reject`). */
const CODES: Readonly<Record<RefusalKind, string>> = {
  invalid: 'invalid',
  missing: 'invalid',
  fee: 'insufficientfee',
  known: 'alreadyknown',
  stripped: 'nonstandard',
  policy: 'nonstandard'
};

export class RefusedError extends Error {
  override readonly name = 'RefusedError';
  readonly type = 'VerifyError';
  readonly code: string;
  readonly reason: string;
  readonly score: number;

  /** `malleated`: bcoin must not remember the txid as refused: the same transaction may be right another time, or with a witness. */
  constructor(
    readonly refusal: PolicyRefusal,
    readonly hash: HostHash,
    readonly malleated: boolean
  ) {
    super(refusal.message, { cause: refusal });
    this.code = CODES[refusal.kind];
    this.reason = refusal.reason;
    this.score = refusal.kind === 'invalid' ? BAN : refusal.isCostly ? COSTLY : 0;
  }
}
