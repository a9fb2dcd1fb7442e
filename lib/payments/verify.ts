// The signer of a PaymentRequest (BIP70): none, an untrusted one with the reason, or a trusted one with its name.

import { verify } from 'node:crypto';
import { PaymentError } from './error';
import { DEFAULTS, decodePaymentRequest, decodeX509Certificates, type PaymentRequest } from './messages';
import { signedBytes } from './signature';
import { checkKey } from './x509/algorithms';
import { inOneLine, merchantName, readCertificate, type Certificate } from './x509/certificate';
import { checkCount, checkSigner, title, validatePath } from './x509/path';
import { TrustRoots, keyPin } from './x509/trust';
import { UntrustedError, type UntrustedReason } from './x509/untrusted';

export interface TrustPolicy {
  /** Trusted root certificates; by default those of Node.js. */
  readonly roots?: TrustRoots;
  /** Pins (`keyPin`) of signing keys that are trusted without a root. */
  readonly pinnedKeys?: readonly Buffer[];
  /** Accepts `x509+sha1`, whose signatures can be forged by now. */
  readonly allowSha1?: boolean;
  /** When the certificates have to be valid. */
  readonly time: Date;
}

export type Verification =
  /** The request is not signed and does not claim to be. */
  | { readonly status: 'none' }
  /** To be treated as forged: the request claims an identity that could not be verified. */
  | { readonly status: 'untrusted'; readonly reason: UntrustedReason; readonly message: string }
  | {
      readonly status: 'trusted';
      /** DNS name or common name of the signer. */
      readonly name: string;
      /** Subject of the trusted root, or `pinned key`. */
      readonly trustedBy: string;
    };

/**
 * @param bytes the PaymentRequest as received.
 * @throws PaymentError `malformed` or `too-large` when it is not a PaymentRequest.
 */
export function verifyPaymentRequest(bytes: Uint8Array, policy: TrustPolicy): Verification {
  const received = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const request = decodePaymentRequest(received);
  const pkiType = request.pkiType ?? DEFAULTS.pkiType;
  if (pkiType === 'none') return { status: 'none' };
  try {
    const digest = digestOf(pkiType, policy);
    const [first, ...rest] = certificatesOf(request);
    if (!first) throw new UntrustedError('no-certificates', 'The request claims to be signed, but holds no certificate.');
    const signer = readCertificate(first);
    // The signature is checked first: a request that was changed on its way costs no further checks.
    checkSignature(received, request, signer, digest);
    const trustedBy = trustSigner(signer, rest, policy);
    return { status: 'trusted', name: merchantName(signer), trustedBy };
  } catch (error) {
    if (!(error instanceof UntrustedError)) throw error;
    return { status: 'untrusted', reason: error.reason, message: error.message };
  }
}

function digestOf(pkiType: string, policy: TrustPolicy): 'sha256' | 'sha1' {
  if (pkiType === 'x509+sha256') return 'sha256';
  if (pkiType !== 'x509+sha1') {
    throw new UntrustedError('unknown-pki-type', `The pki_type none, x509+sha256 or x509+sha1 expected, ${JSON.stringify(pkiType)} came.`);
  }
  if (policy.allowSha1 !== true) throw new UntrustedError('sha1', 'The request is signed with SHA-1, which is not allowed.');
  return 'sha1';
}

/** The certificates in DER, the signer's first. */
function certificatesOf(request: PaymentRequest): readonly Buffer[] {
  try {
    const { certificate } = decodeX509Certificates(request.pkiData ?? Buffer.alloc(0));
    checkCount(certificate.length);
    return certificate;
  } catch (error) {
    if (!(error instanceof PaymentError)) throw error;
    throw new UntrustedError('malformed-certificate', `The certificates cannot be read: ${error.message}`, { cause: error });
  }
}

/** The root or the pin that vouches for the signer. */
function trustSigner(signer: Certificate, issuers: readonly Buffer[], policy: TrustPolicy): string {
  checkSigner(signer, policy.time);
  const pin = keyPin(signer.x509);
  if (policy.pinnedKeys?.some((pinned) => pinned.equals(pin))) return 'pinned key';
  const chain = [signer, ...issuers.map(readCertificate)];
  return inOneLine(validatePath(chain, policy.roots ?? TrustRoots.builtIn(), policy.time).subject);
}

function checkSignature(received: Buffer, request: PaymentRequest, signer: Certificate, digest: string): void {
  if (!request.signature || request.signature.length === 0) {
    throw new UntrustedError('no-signature', 'The request holds certificates, but no signature.');
  }
  checkKey(signer.publicKey, title(signer));
  if (!isSigned(digest, signedBytes(received), signer, request.signature)) {
    throw new UntrustedError('request-signature', `The signature is not by the key of ${title(signer)}, or the request was changed.`);
  }
}

function isSigned(digest: string, bytes: Buffer, signer: Certificate, signature: Buffer): boolean {
  try {
    return verify(digest, bytes, signer.publicKey, signature);
  } catch {
    // OpenSSL refuses some digests outright, depending on how it was built.
    return false;
  }
}
