// Making PaymentRequests, and their signature (BIP70), which is over the serialized request with field 5 present and empty.
// For a received request these are the received bytes with field 5 emptied in place. A second encoding could lose fields, order
// or defaults. Requests made here contain `payment_details_version` even with its default value: some wallets (BitPay's library)
// check the signature over their own encoding, which writes defaults.

import { sign } from 'node:crypto';
import { PaymentError } from './error';
import { checkIdentity, type Identity } from './identity';
import {
  DEFAULTS,
  encodePaymentDetails,
  encodePaymentRequest,
  encodeX509Certificates,
  type PaymentDetails,
  type PaymentRequest
} from './messages';
import { fieldsOf } from './wire';

const SIGNATURE_FIELD = 5;
/** Tag of field 5, length-delimited, and length 0. */
const EMPTY_SIGNATURE = Buffer.from([(SIGNATURE_FIELD << 3) | 2, 0]);

/**
 * @param identity signs the request; without it the request is unsigned.
 * @returns the serialized PaymentRequest.
 * @throws PaymentError `malformed`, `too-large`, or `cannot-sign`.
 */
export function makePaymentRequest(details: PaymentDetails, identity?: Identity): Buffer {
  const request = { paymentDetailsVersion: DEFAULTS.paymentDetailsVersion, serializedPaymentDetails: encodePaymentDetails(details) };
  return identity ? signPaymentRequest(request, identity) : encodePaymentRequest(request);
}

/**
 * Signs with `x509+sha256`; SHA-1 is verified on request, but never made.
 * @param request unsigned; its PKI fields are replaced.
 * @returns the serialized PaymentRequest.
 * @throws PaymentError `cannot-sign` when the key may not sign or is not the certificate's.
 */
export function signPaymentRequest(request: PaymentRequest, identity: Identity): Buffer {
  const { key, certificates } = checkIdentity(identity);
  const pkiData = encodeX509Certificates({ certificate: certificates });
  const { paymentDetailsVersion = DEFAULTS.paymentDetailsVersion } = request;
  const unsigned: PaymentRequest = { ...request, paymentDetailsVersion, pkiType: 'x509+sha256', pkiData, signature: Buffer.alloc(0) };
  return encodePaymentRequest({ ...unsigned, signature: sign('sha256', encodePaymentRequest(unsigned), key) });
}

/**
 * The bytes of a received request that are signed.
 * @throws PaymentError `malformed` unless there is exactly one signature.
 */
export function signedBytes(request: Buffer): Buffer {
  const signatures = [...fieldsOf(request)].filter((field) => field.number === SIGNATURE_FIELD);
  const [signature] = signatures;
  if (!signature || signatures.length > 1) {
    throw new PaymentError('malformed', `PaymentRequest: one signature expected, ${signatures.length} came.`);
  }
  return Buffer.concat([request.subarray(0, signature.start), EMPTY_SIGNATURE, request.subarray(signature.end)]);
}
