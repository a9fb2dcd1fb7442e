// The only error class of the payments library: whatever a peer sends, the library throws no other error.

/** The reason, for programs; the message is for people. */
export type PaymentErrorCode =
  /** Bytes, text or a value that does not have the required format. */
  | 'malformed'
  /** More bytes than BIP70 allows. */
  | 'too-large'
  /** A newer `payment_details_version`: this software has to be upgraded. */
  | 'upgrade'
  | 'wrong-network'
  | 'expired'
  /** Outputs that cannot or may not be paid: none, dust, more coins than there are. */
  | 'unpayable'
  /** A Payment that does not answer its request. */
  | 'wrong-merchant-data'
  | 'underpaid'
  | 'already-paid'
  /** It is not known yet whether the request is paid: try again later. */
  | 'not-yet-known'
  /** Too many Payments are being taken: try again later. */
  | 'busy'
  /** The node refuses the transactions. */
  | 'refused'
  | 'unknown-request'
  /** A key or certificate that cannot sign. */
  | 'cannot-sign';

export class PaymentError extends Error {
  override readonly name = 'PaymentError';

  constructor(
    readonly code: PaymentErrorCode,
    message: string,
    options?: ErrorOptions
  ) {
    super(message, options);
  }
}

/** The text of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
