// The signature of a PaymentRequest (BIP70): over the request as serialized, with field 5
// present and empty. For a received request these are the received bytes with field 5
// emptied in place, never a re-encoding: that could lose fields, order or defaults.

import { createPrivateKey, sign, X509Certificate, type KeyObject } from 'node:crypto';
import { PaymentError, messageOf } from './error';
import { DEFAULTS, encodePaymentRequest, encodeX509Certificates, type PaymentRequest } from './messages';
import { fieldsOf } from './wire';
import { keyWeakness } from './x509/algorithms';
import { certificatesOfPem } from './x509/trust';

const SIGNATURE_FIELD = 5;
/** Tag of field 5, length-delimited, and length 0. */
const EMPTY_SIGNATURE = Buffer.from([SIGNATURE_FIELD << 3 | 2, 0]);

/** Who signs: a private key and the certificates that vouch for it. */
export interface Identity {
  readonly key: KeyObject;
  /** DER, the key's own first, then issuer by issuer; the root may be left out. */
  readonly certificates: readonly Buffer[];
}

/**
 * @param key PEM of a private key, RSA or ECDSA.
 * @param certificates PEM of the chain, the key's own first.
 * @throws PaymentError `cannot-sign` when key and certificate do not belong together.
 */
export function identityOfPem(key: string, certificates: string): Identity {
  try {
    const chain = certificatesOfPem(certificates).map((pem) => new X509Certificate(pem).raw);
    return checkIdentity({ key: createPrivateKey(key), certificates: chain });
  } catch (error) {
    if (error instanceof PaymentError) throw error;
    throw new PaymentError('cannot-sign', `A key and its certificates in PEM expected: ${messageOf(error)}.`, { cause: error });
  }
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
  // Written although it is the default: see new-request.ts.
  const { paymentDetailsVersion = DEFAULTS.paymentDetailsVersion } = request;
  const unsigned: PaymentRequest = { ...request, paymentDetailsVersion, pkiType: 'x509+sha256', pkiData, signature: Buffer.alloc(0) };
  return encodePaymentRequest({ ...unsigned, signature: sign('sha256', encodePaymentRequest(unsigned), key) });
}

/**
 * The bytes that the signature of a received request is over.
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

function checkIdentity(identity: Identity): Identity {
  const [own] = identity.certificates;
  if (!own) throw new PaymentError('cannot-sign', 'A certificate of the key expected, none came.');
  const weakness = keyWeakness(identity.key);
  if (weakness !== undefined) throw new PaymentError('cannot-sign', `The signing key: ${weakness}.`);
  if (!new X509Certificate(own).checkPrivateKey(identity.key)) {
    throw new PaymentError('cannot-sign', 'The first certificate is of another key.');
  }
  return identity;
}
