// Certification path validation (RFC 5280, section 6) as far as a payment request needs it. The path is the one that was sent, in
// its order; nothing is fetched. Policies and name constraints are not processed: a certificate that requires them is refused,
// whether the extension is critical or not. Revocation is not checked.

import { KeyUsageFlags } from '@peculiar/asn1-x509';
import { checkKey, checkSignatureAlgorithm } from './algorithms';
import { inOneLine, merchantName, readCertificate, type Certificate } from './certificate';
import { UntrustedError } from './untrusted';
import type { X509Certificate } from 'node:crypto';
import type { TrustRoots } from './trust';

/** The most certificates in a request, which bounds the signatures to check. */
const MAX_CERTIFICATES = 8;

const SERVER_AUTHENTICATION = '1.3.6.1.5.5.7.3.1';
const ANY_PURPOSE = '2.5.29.37.0';

/**
 * Validates the path from the signer, which has passed `checkSigner`, to a trusted root.
 * @param chain at least one certificate, the signer's first. It may end with the root or with the certificate
 *   below it, or continue above a trusted root (cross-signed roots).
 * @returns the root that it ends in.
 * @throws UntrustedError
 */
export function validatePath(chain: readonly Certificate[], roots: TrustRoots, time: Date): X509Certificate {
  checkOrder(chain);
  let failure: UntrustedError | undefined;
  for (const [index, certificate] of chain.entries()) {
    for (const root of roots.issuersOf(certificate)) {
      try {
        validateBelow([...chain.slice(0, index + 1), readCertificate(root.raw)], time);
        return root;
      } catch (error) {
        if (!(error instanceof UntrustedError)) throw error;
        failure ??= error;
      }
    }
  }
  throw failure ?? withoutRoot(chain, time);
}

/**
 * Checks a path before it is sent as `validatePath` does, up to the question whether its end is trusted.
 * @param chain the signer's first.
 * @throws UntrustedError
 */
export function checkSentChain(chain: readonly Certificate[], time: Date): void {
  const [signer] = chain;
  if (signer === undefined) throw new UntrustedError('no-certificates', 'At least one certificate expected, none came.');
  checkCount(chain.length);
  checkOrder(chain);
  checkSigner(signer, time);
  validateBelow(chain, time);
  // Also by an issuer that is left out. That of another certificate does not matter to recipients who trust its key under another one.
  if (signer.issuer !== signer.subject) checkSignatureAlgorithm(signer.signatureAlgorithm, title(signer));
  merchantName(signer);
}

/** @throws UntrustedError */
export function checkCount(certificates: number): void {
  if (certificates <= MAX_CERTIFICATES) return;
  throw new UntrustedError('too-many-certificates', `At most ${MAX_CERTIFICATES} certificates expected, ${certificates} came.`);
}

/** Checks the signing certificate itself, whether a root or a pin vouches for it. */
export function checkSigner(signer: Certificate, time: Date): void {
  checkCertificate(signer, time);
  // A request has a digital signature (BIP70), for which contentCommitment alone is not enough.
  if (signer.keyUsage !== undefined && !(signer.keyUsage & KeyUsageFlags.digitalSignature)) {
    throw new UntrustedError('key-usage', `The key of ${title(signer)} may not sign.`);
  }
}

/** Each certificate must be named as issuer by the one before it. */
function checkOrder(chain: readonly Certificate[]): void {
  for (const [index, certificate] of chain.entries()) {
    const issuer = chain[index + 1];
    if (issuer && certificate.issuer !== issuer.subject) {
      throw new UntrustedError('wrong-order', `${title(certificate)} is not issued by ${title(issuer)}, which follows it.`);
    }
  }
}

/** Validates a path whose last certificate is trusted. */
function validateBelow(path: readonly Certificate[], time: Date): void {
  for (const certificate of path) checkCertificate(certificate, time);
  let intermediates = 0;
  for (const authority of path.slice(1)) {
    checkAuthority(authority, intermediates);
    // RFC 5280, 4.2.1.9: self-issued certificates do not count.
    if (authority.subject !== authority.issuer) intermediates++;
  }
  // The root is trusted because it is in the list, so its own signature does not matter.
  checkSignatures(path);
}

/** The last certificate's signature is not checked. */
function checkSignatures(path: readonly Certificate[]): void {
  for (const [index, issuer] of path.slice(1).entries()) checkIssued(path[index] as Certificate, issuer);
}

function checkValidity(certificate: Certificate, time: Date): void {
  const name = title(certificate);
  // Negated comparisons, so that an invalid date is never within the validity.
  if (!(time >= certificate.notBefore))
    throw new UntrustedError('not-yet-valid', `${name} is valid from ${certificate.notBefore.toISOString()} on.`);
  if (!(time <= certificate.notAfter))
    throw new UntrustedError('expired', `${name} was valid until ${certificate.notAfter.toISOString()}.`);
}

function checkCertificate(certificate: Certificate, time: Date): void {
  checkValidity(certificate, time);
  const name = title(certificate);
  if (certificate.unknownCritical.length > 0) {
    throw new UntrustedError(
      'critical-extension',
      `${name} has the critical extension ${certificate.unknownCritical.join(', ')}, which is not understood.`
    );
  }
  if (certificate.hasNameConstraints) throw new UntrustedError('name-constraints', `${name} constrains names, which is not supported.`);
  if (certificate.hasPolicyConstraints)
    throw new UntrustedError('policy-constraints', `${name} constrains policies, which is not supported.`);
  // The names that are shown are names of servers, so the certificates must be for servers.
  if (certificate.purposes && !certificate.purposes.some((purpose) => purpose === SERVER_AUTHENTICATION || purpose === ANY_PURPOSE)) {
    throw new UntrustedError('key-usage', `${name} is not meant for servers.`);
  }
  checkKey(certificate.publicKey, name);
}

function checkAuthority(certificate: Certificate, intermediates: number): void {
  const name = title(certificate);
  if (!certificate.isCa) throw new UntrustedError('not-a-ca', `${name} is not a certificate authority.`);
  if (certificate.keyUsage !== undefined && !(certificate.keyUsage & KeyUsageFlags.keyCertSign)) {
    throw new UntrustedError('key-usage', `The key of ${name} may not sign certificates.`);
  }
  if (certificate.pathLength !== undefined && intermediates > certificate.pathLength) {
    throw new UntrustedError(
      'path-length',
      `${name} allows ${certificate.pathLength} intermediate certificates below it, not ${intermediates}.`
    );
  }
}

function checkIssued(certificate: Certificate, issuer: Certificate): void {
  checkSignatureAlgorithm(certificate.signatureAlgorithm, title(certificate));
  if (!isSigned(certificate, issuer)) {
    throw new UntrustedError('certificate-signature', `${title(certificate)} is not signed by ${title(issuer)}.`);
  }
}

function isSigned(certificate: Certificate, issuer: Certificate): boolean {
  try {
    return certificate.x509.checkIssued(issuer.x509) && certificate.x509.verify(issuer.publicKey);
  } catch {
    // The key does not fit the algorithm that the certificate names.
    return false;
  }
}

/** The error when no root is known; errors of the path itself take precedence. */
function withoutRoot(chain: readonly Certificate[], time: Date): UntrustedError {
  try {
    validateBelow(chain, time);
  } catch (error) {
    if (error instanceof UntrustedError) return error;
    throw error;
  }
  // A path is not empty.
  const last = chain.at(-1) as Certificate;
  return chain.length === 1 && last.issuer === last.subject
    ? new UntrustedError('self-signed', `${title(last)} is signed by itself alone.`)
    : new UntrustedError('unknown-root', `${title(last)} is issued by nobody who is trusted.`);
}

/** The name of a certificate in messages. */
export function title(certificate: Certificate): string {
  return `"${inOneLine(certificate.subject)}"`;
}
