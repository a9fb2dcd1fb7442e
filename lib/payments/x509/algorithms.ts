// The keys and signature algorithms that are accepted; all others are refused.

import { UntrustedError } from './untrusted';
import type { KeyObject } from 'node:crypto';

/** Bits. Shorter keys are weak. Longer ones take much time to verify, and no known certificate has one. */
const MIN_RSA_BITS = 2048;
const MAX_RSA_BITS = 8192;
/** With the exponent 1 anybody can sign. */
const MIN_RSA_EXPONENT = 3n;

/** OpenSSL's names of P-256, P-384 and P-521. */
const CURVES = new Set(['prime256v1', 'secp384r1', 'secp521r1']);

/** Signature algorithms of certificates: RSA (PKCS #1 v1.5) and ECDSA, each with SHA-256, 384 and 512. */
const SIGNATURE_ALGORITHMS = new Set([
  '1.2.840.113549.1.1.11',
  '1.2.840.113549.1.1.12',
  '1.2.840.113549.1.1.13',
  '1.2.840.10045.4.3.2',
  '1.2.840.10045.4.3.3',
  '1.2.840.10045.4.3.4'
]);

/** The reason why a key is refused; undefined when it is accepted. */
export function keyWeakness(key: KeyObject): string | undefined {
  const { namedCurve = 'an unnamed curve' } = key.asymmetricKeyDetails ?? {};
  switch (key.asymmetricKeyType) {
    case 'rsa':
      return rsaWeakness(key);
    case 'ec':
      return CURVES.has(namedCurve) ? undefined : `P-256, P-384 or P-521 expected, ${namedCurve} came`;
    default:
      return `an RSA or ECDSA key expected, ${String(key.asymmetricKeyType)} came`;
  }
}

function rsaWeakness(key: KeyObject): string | undefined {
  const { modulusLength = 0, publicExponent = 0n } = key.asymmetricKeyDetails ?? {};
  if (modulusLength < MIN_RSA_BITS || modulusLength > MAX_RSA_BITS) {
    return `RSA with ${MIN_RSA_BITS} to ${MAX_RSA_BITS} bits expected, ${modulusLength} came`;
  }
  return publicExponent < MIN_RSA_EXPONENT ? `an exponent from ${MIN_RSA_EXPONENT} expected, ${publicExponent} came` : undefined;
}

/** @throws UntrustedError `weak-key`. */
export function checkKey(key: KeyObject, owner: string): void {
  const weakness = keyWeakness(key);
  if (weakness !== undefined) throw new UntrustedError('weak-key', `The key of ${owner}: ${weakness}.`);
}

/**
 * @param algorithm object identifier.
 * @throws UntrustedError `weak-signature`.
 */
export function checkSignatureAlgorithm(algorithm: string, owner: string): void {
  if (!SIGNATURE_ALGORITHMS.has(algorithm)) {
    throw new UntrustedError('weak-signature', `${owner} is signed by an algorithm that is not allowed, ${algorithm}.`);
  }
}
