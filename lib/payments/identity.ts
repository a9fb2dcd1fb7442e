// The signer of requests: a private key and the certificates that vouch for it, read from PEM. Keys and certificates that recipients
// would refuse are refused here, with advice. The recipient decides whether the root is trusted.

import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto';
import { PaymentError, messageOf } from './error';
import { keyWeakness } from './x509/algorithms';
import { readCertificate } from './x509/certificate';
import { checkCount, checkSentChain } from './x509/path';
import { certificatesOfPem } from './x509/trust';
import { UntrustedError, type UntrustedReason } from './x509/untrusted';

export interface Identity {
  readonly key: KeyObject;
  /** DER: the key's own certificate first, then its issuer's, and so on; the root may be left out. */
  readonly certificates: readonly Buffer[];
}

const ORDER = "Put the key's own certificate first, then its issuer's, and so on.";

/** PKCS #8 (RFC 7468) and the older PEM (RFC 1421). OpenSSL's error for such a key differs between versions. */
const ENCRYPTED = /^-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: 4,ENCRYPTED/m;

/** Advice for some of the reasons why a chain is refused. */
const ADVICE: Partial<Record<UntrustedReason, string>> = {
  expired: 'Put a renewed certificate there.',
  'not-yet-valid': 'Put a certificate there that is valid, or set the clock.',
  'weak-signature': 'Ask the issuer for one that is signed with SHA-256.',
  'wrong-order': ORDER,
  'certificate-signature': ORDER
};

/**
 * @param key PEM of a private key, RSA or ECDSA, not encrypted.
 * @param certificates PEM of the chain, the key's own first.
 * @param time at which the certificates have to be valid.
 * @throws PaymentError `cannot-sign`.
 */
export function identityOfPem(key: string, certificates: string, time: Date): Identity {
  return checkIdentity({ key: readPrivateKey(key), certificates: readCertificates(certificates, time) });
}

/** @throws PaymentError `cannot-sign`: no private key in PEM, an encrypted one, or one that no recipient accepts. */
export function readPrivateKey(pem: string): KeyObject {
  const key = parseKey(pem);
  checkStrength(key);
  return key;
}

/**
 * @param pem the key's own certificate first.
 * @returns DER.
 * @throws PaymentError `cannot-sign`: no certificates, or an error of `checkCertificates`.
 */
export function readCertificates(pem: string, time: Date): Buffer[] {
  const texts = certificatesOfPem(pem);
  if (texts.length === 0) throw new PaymentError('cannot-sign', `A certificate in PEM expected, none came. ${ORDER}`);
  // Before they are read, which takes seconds for a bundle of all authorities.
  forSigner(() => {
    checkCount(texts.length);
  });
  const certificates = texts.map((text, index) => {
    try {
      return new X509Certificate(text).raw;
    } catch (error) {
      throw new PaymentError('cannot-sign', `Certificate ${index + 1} cannot be read: ${messageOf(error)}.`, { cause: error });
    }
  });
  // Checked before the key is compared: a chain in the wrong order begins with a certificate of another key.
  checkCertificates(certificates, time);
  return certificates;
}

/**
 * @param certificates DER, the key's own first.
 * @throws PaymentError `cannot-sign`: expired, not valid yet, not in order, or for another purpose.
 */
export function checkCertificates(certificates: readonly Buffer[], time: Date): void {
  forSigner(() => {
    checkSentChain(certificates.map(readCertificate), time);
  });
}

/** Says what a customer would refuse in words for the merchant. @throws PaymentError `cannot-sign` */
function forSigner(check: () => void): void {
  try {
    check();
  } catch (error) {
    if (!(error instanceof UntrustedError)) throw error;
    const advice = ADVICE[error.reason];
    throw new PaymentError('cannot-sign', advice === undefined ? error.message : `${error.message} ${advice}`, { cause: error });
  }
}

/** @throws PaymentError `cannot-sign` when the key may not sign or is not the first certificate's. */
export function checkIdentity(identity: Identity): Identity {
  const [own, ...others] = identity.certificates.map((der) => new X509Certificate(der));
  if (!own) throw new PaymentError('cannot-sign', 'A certificate of the key expected, none came.');
  checkStrength(identity.key);
  if (own.checkPrivateKey(identity.key)) return identity;
  const index = others.findIndex((certificate) => certificate.checkPrivateKey(identity.key));
  throw new PaymentError(
    'cannot-sign',
    index < 0
      ? 'The first certificate is of another key. Put the key there that it was issued for, or a certificate of this key.'
      : `The key's own certificate is the one at place ${index + 2}. ${ORDER}`
  );
}

function parseKey(pem: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch (error) {
    if (ENCRYPTED.test(pem)) {
      const message = 'The key is encrypted. Write it without a passphrase, for example with openssl pkey.';
      throw new PaymentError('cannot-sign', message, { cause: error });
    }
    const message = `A private key in PEM expected: ${messageOf(error)}. Put the key there that the certificate was issued for.`;
    throw new PaymentError('cannot-sign', message, { cause: error });
  }
}

function checkStrength(key: KeyObject): void {
  const weakness = keyWeakness(key);
  if (weakness === undefined) return;
  throw new PaymentError('cannot-sign', `The signing key: ${weakness}. Take a key that wallets accept, and a certificate of it.`);
}
