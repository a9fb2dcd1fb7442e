// A PaymentRequest that we make. `payment_details_version` is written out although it has
// its default: some wallets (BitPay's library) check the signature over an encoding of their
// own, in which defaults are written, and would refuse a request that leaves it out.

import { DEFAULTS, encodePaymentDetails, encodePaymentRequest, type PaymentDetails } from './messages';
import { signPaymentRequest } from './signature';
import type { Identity } from './identity';

/**
 * @param identity signs the request; without, it is unsigned.
 * @returns the serialized PaymentRequest.
 * @throws PaymentError `malformed`, `too-large`, or `cannot-sign`.
 */
export function makePaymentRequest(details: PaymentDetails, identity?: Identity): Buffer {
  const request = { paymentDetailsVersion: DEFAULTS.paymentDetailsVersion, serializedPaymentDetails: encodePaymentDetails(details) };
  return identity ? signPaymentRequest(request, identity) : encodePaymentRequest(request);
}
