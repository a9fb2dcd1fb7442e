// Names of certificates for people. The name under which a merchant is shown is a DNS name
// of the certificate, or its common name when it has none (RFC 6125, 6.4.4).

import type { Certificate } from './certificate';
import { UntrustedError } from './untrusted';

const DNS_NAME = /^(\*\.)?([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/i;
/** Nothing invisible and nothing that turns the writing direction: it would hide another name. */
const PLAIN_TEXT = /^[^\p{C}\p{Zl}\p{Zp}]{1,64}$/u;

/**
 * A distinguished name in one line.
 * @param name as node:crypto prints it, one attribute to a line; it has undefined for an empty one.
 */
export function inOneLine(name: string | undefined): string {
  return name ? name.replaceAll('\n', ', ') : '(no name)';
}

/** @throws UntrustedError `no-name`. */
export function merchantName(certificate: Certificate): string {
  const [dnsName] = certificate.dnsNames;
  const [commonName] = certificate.commonNames;
  if (dnsName !== undefined) {
    if (DNS_NAME.test(dnsName)) return dnsName;
  } else if (commonName !== undefined && PLAIN_TEXT.test(commonName)) {
    return commonName;
  }
  throw new UntrustedError('no-name', 'The certificate has no name that can be shown.');
}
