// Trusted root certificates (those of Node.js or a given list) and pins of keys.

import { createHash, X509Certificate } from 'node:crypto';
import { rootCertificates } from 'node:tls';
import { PaymentError, messageOf } from '../error';
import type { Certificate } from './certificate';

/** A set of root certificates, looked up by subject. */
export class TrustRoots {
  static #builtIn: TrustRoots | undefined;
  readonly #bySubject = new Map<string, X509Certificate[]>();

  /**
   * @param certificates PEM or DER, one certificate each.
   * @throws PaymentError `malformed`.
   */
  constructor(certificates: Iterable<string | Buffer>) {
    for (const bytes of certificates) {
      const certificate = parse(bytes);
      const namesakes = this.#bySubject.get(certificate.subject);
      if (namesakes) namesakes.push(certificate);
      else this.#bySubject.set(certificate.subject, [certificate]);
    }
  }

  /** The roots that come with Node.js (Mozilla's). */
  static builtIn(): TrustRoots {
    this.#builtIn ??= new TrustRoots(rootCertificates);
    return this.#builtIn;
  }

  /** The roots that may have issued a certificate, judging by name alone. */
  issuersOf(certificate: Certificate): readonly X509Certificate[] {
    return this.#bySubject.get(certificate.issuer) ?? [];
  }
}

/**
 * The pin of a certificate's key.
 * @returns SHA-256 of the certificate's SubjectPublicKeyInfo, 32 bytes (as in RFC 7469).
 */
export function keyPin(certificate: X509Certificate): Buffer {
  return createHash('sha256')
    .update(certificate.publicKey.export({ type: 'spki', format: 'der' }))
    .digest();
}

/** All certificates of a PEM file, in order. */
export function certificatesOfPem(text: string): string[] {
  return text.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
}

function parse(bytes: string | Buffer): X509Certificate {
  try {
    return new X509Certificate(bytes);
  } catch (error) {
    throw new PaymentError('malformed', `A root certificate cannot be read: ${messageOf(error)}.`, { cause: error });
  }
}
