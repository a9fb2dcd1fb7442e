// The reason why a signed request is not trusted. This error never leaves the library: verify.ts turns it into a result.

/** The reason, for programs; the message is for people. */
export type UntrustedReason =
  | 'unknown-pki-type'
  | 'sha1'
  | 'no-signature'
  | 'no-certificates'
  | 'malformed-certificate'
  | 'too-many-certificates'
  | 'wrong-order'
  | 'certificate-signature'
  | 'not-yet-valid'
  | 'expired'
  | 'weak-key'
  | 'weak-signature'
  | 'critical-extension'
  | 'name-constraints'
  | 'policy-constraints'
  | 'not-a-ca'
  | 'path-length'
  | 'key-usage'
  | 'no-name'
  | 'self-signed'
  | 'unknown-root'
  | 'request-signature';

export class UntrustedError extends Error {
  override readonly name = 'UntrustedError';

  constructor(
    readonly reason: UntrustedReason,
    message: string,
    options?: ErrorOptions
  ) {
    super(message, options);
  }
}
