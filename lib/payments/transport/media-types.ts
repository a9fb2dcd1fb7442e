// Media types of the payment messages (BIP71).

export const PAYMENT_REQUEST_TYPE = 'application/bitcoin-paymentrequest';
export const PAYMENT_TYPE = 'application/bitcoin-payment';
export const PAYMENT_ACK_TYPE = 'application/bitcoin-paymentack';

/** Of a list of `bitcoin:` URIs (BIP73, RFC 2483). */
export const URI_LIST_TYPE = 'text/uri-list';

/** The type of a Content-Type header without its parameters, in lower case. */
export function mediaTypeOf(contentType: string): string {
  return (contentType.split(';', 1)[0] ?? '').trim().toLowerCase();
}
