// Media types of the payment messages (BIP71), and content negotiation for a payment URL (BIP73): one URL serves wallets,
// programs that look for a `bitcoin:` URI, browsers, and shops that ask whether the order is paid.

export const PAYMENT_REQUEST_TYPE = 'application/bitcoin-paymentrequest';
export const PAYMENT_TYPE = 'application/bitcoin-payment';
export const PAYMENT_ACK_TYPE = 'application/bitcoin-paymentack';

/** The type of a list of `bitcoin:` URIs (BIP73, RFC 2483). */
export const URI_LIST_TYPE = 'text/uri-list';

export type PaymentRepresentation = 'payment-request' | 'uri-list' | 'page' | 'state';

/** BIP73: only clients that name the type of the message get it; for wildcards and without the header the reply is the page. */
const REPRESENTATIONS: readonly (readonly [string, PaymentRepresentation])[] = [
  [PAYMENT_REQUEST_TYPE, 'payment-request'],
  [URI_LIST_TYPE, 'uri-list'],
  ['text/html', 'page'],
  ['application/json', 'state']
];

/**
 * @param accept the Accept header.
 * @returns the preferred representation; among equals the one that comes first in REPRESENTATIONS.
 */
export function negotiate(accept: string | undefined): PaymentRepresentation {
  const weights = weightsOf(accept ?? '');
  let best: PaymentRepresentation = 'page';
  let bestWeight = 0;
  for (const [type, representation] of REPRESENTATIONS) {
    const weight = weights.get(type) ?? 0;
    if (weight > bestWeight) [best, bestWeight] = [representation, weight];
  }
  return best;
}

/** Whether an Accept header names a type; wildcards do not. */
export function accepts(accept: string | undefined, type: string): boolean {
  return (weightsOf(accept ?? '').get(type) ?? 0) > 0;
}

/** Media types with their `q`, by default 1; a `q` that is not a number counts as 0. */
function weightsOf(accept: string): Map<string, number> {
  return new Map(
    accept.split(',').map((item) => {
      const weight = /;\s*q\s*=\s*([^;\s]*)/i.exec(item)?.[1];
      const value = weight === undefined ? 1 : Number(weight);
      return [mediaTypeOf(item), Number.isNaN(value) ? 0 : value];
    })
  );
}

/** The type of a Content-Type header without its parameters, in lower case. */
export function mediaTypeOf(contentType: string): string {
  return (contentType.split(';', 1)[0] ?? '').trim().toLowerCase();
}
