// The one error class of the payments library: no message from a peer makes it throw another.

/** The reason for programs; the message gives it to people. */
export type PaymentErrorCode =
  /** Bytes, text or a value that is not what the format asks for. */
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
  /** It cannot be told whether the request is paid: to be tried again. */
  | 'not-yet-known'
  /** The node does not take the transactions. */
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
