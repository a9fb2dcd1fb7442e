// One X.509 certificate (RFC 5280) and its names for people. node:crypto reads keys, names and signatures, @peculiar/asn1-x509
// the rest: validity as times, signature algorithm, criticality, basic constraints, key usage
// (docs/decisions/payments-x509.md).

import { X509Certificate, type KeyObject } from 'node:crypto';
import { AsnConvert } from '@peculiar/asn1-schema';
import {
  BasicConstraints,
  Certificate as DerCertificate,
  ExtendedKeyUsage,
  KeyUsage,
  SubjectAlternativeName,
  id_ce_basicConstraints,
  id_ce_extKeyUsage,
  id_ce_inhibitAnyPolicy,
  id_ce_keyUsage,
  id_ce_nameConstraints,
  id_ce_policyConstraints,
  id_ce_policyMappings,
  id_ce_subjectAltName,
  type Extension,
  type Name
} from '@peculiar/asn1-x509';
import { messageOf } from '../error';
import { UntrustedError } from './untrusted';

const DER_SEQUENCE = 0x30;
const COMMON_NAME = '2.5.4.3';

const DNS_NAME = /^(\*\.)?([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/i;
/** No invisible characters and none that change the writing direction: they could hide another name. */
const PLAIN_TEXT = /^[^\p{C}\p{Zl}\p{Zp}]{1,64}$/u;

/** What path validation needs of a certificate. */
export interface Certificate {
  readonly x509: X509Certificate;
  readonly publicKey: KeyObject;
  /** As node:crypto prints names, one attribute to a line; empty if the name is only in an extension (RFC 5280, 4.1.2.6). */
  readonly subject: string;
  readonly issuer: string;
  readonly notBefore: Date;
  readonly notAfter: Date;
  /** Object identifier of the algorithm of the certificate's signature. */
  readonly signatureAlgorithm: string;
  readonly isCa: boolean;
  /** How many intermediate certificates may follow; undefined: no limit. */
  readonly pathLength: number | undefined;
  /** KeyUsageFlags; undefined: no restriction. */
  readonly keyUsage: number | undefined;
  /** Object identifiers; undefined: no restriction. */
  readonly purposes: readonly string[] | undefined;
  readonly hasNameConstraints: boolean;
  /** An extension by which policies, which are not processed, would decide whether the path is valid. */
  readonly hasPolicyConstraints: boolean;
  /** Critical extensions that are not understood here. */
  readonly unknownCritical: readonly string[];
  readonly dnsNames: readonly string[];
  readonly commonNames: readonly string[];
}

/** RFC 5280, 4.2.1.5, 4.2.1.11 and 4.2.1.14. They should be critical, but bind even if they are not. */
const POLICY_CONSTRAINTS = [id_ce_policyMappings, id_ce_policyConstraints, id_ce_inhibitAnyPolicy];

/** Object identifiers of the extensions that may be critical, because path.ts heeds them. */
const UNDERSTOOD = new Set([
  id_ce_basicConstraints,
  id_ce_keyUsage,
  id_ce_extKeyUsage,
  id_ce_subjectAltName,
  // Always refused, with its own reason.
  id_ce_nameConstraints,
  ...POLICY_CONSTRAINTS
]);

/**
 * @param der exactly one DER certificate; PEM is refused, although node:crypto would accept it.
 * @throws UntrustedError `malformed-certificate`.
 */
export function readCertificate(der: Buffer): Certificate {
  try {
    if (der[0] !== DER_SEQUENCE) throw new Error('it is not DER');
    const x509 = new X509Certificate(der);
    // False for another encoding of the same content, or if bytes follow it.
    if (!x509.raw.equals(der)) throw new Error('it is not encoded as DER demands');
    return describe(x509, AsnConvert.parse(der, DerCertificate));
  } catch (error) {
    throw new UntrustedError('malformed-certificate', `A certificate cannot be read: ${messageOf(error)}.`, { cause: error });
  }
}

function describe(x509: X509Certificate, der: DerCertificate): Certificate {
  const { tbsCertificate: tbs, signatureAlgorithm } = der;
  if (tbs.signature.algorithm !== signatureAlgorithm.algorithm) throw new Error('it names two signature algorithms');
  const extensions = uniqueExtensions(tbs.extensions ?? []);
  const constraints = extensionValue(extensions, id_ce_basicConstraints, BasicConstraints);
  const keyUsage = extensionValue(extensions, id_ce_keyUsage, KeyUsage);
  const purposes = extensionValue(extensions, id_ce_extKeyUsage, ExtendedKeyUsage);
  const alternativeNames = extensionValue(extensions, id_ce_subjectAltName, SubjectAlternativeName);
  return {
    x509,
    // Read now, because node:crypto parses a key only on access, and may throw.
    publicKey: x509.publicKey,
    subject: nameOf(x509.subject),
    issuer: nameOf(x509.issuer),
    notBefore: tbs.validity.notBefore.getTime(),
    notAfter: tbs.validity.notAfter.getTime(),
    signatureAlgorithm: signatureAlgorithm.algorithm,
    isCa: constraints?.cA ?? false,
    pathLength: pathLengthOf(constraints),
    keyUsage: keyUsage?.toNumber(),
    purposes: purposes && [...purposes],
    hasNameConstraints: extensions.has(id_ce_nameConstraints),
    hasPolicyConstraints: POLICY_CONSTRAINTS.some((id) => extensions.has(id)),
    unknownCritical: [...extensions.values()]
      .filter((extension) => extension.critical && !UNDERSTOOD.has(extension.extnID))
      .map((extension) => extension.extnID),
    dnsNames: Array.from(alternativeNames ?? [], (name) => name.dNSName).filter((name) => name !== undefined),
    commonNames: commonNamesOf(tbs.subject)
  };
}

/** node:crypto gives undefined for a name without attributes, contrary to its types. */
function nameOf(printed: string | undefined): string {
  return printed ?? '';
}

/** RFC 5280, 4.2: no extension may occur twice. */
function uniqueExtensions(extensions: readonly Extension[]): Map<string, Extension> {
  const byId = new Map(extensions.map((extension) => [extension.extnID, extension]));
  if (byId.size !== extensions.length) throw new Error('it has an extension twice');
  return byId;
}

function extensionValue<Value>(extensions: Map<string, Extension>, id: string, type: new () => Value): Value | undefined {
  const extension = extensions.get(id);
  return extension && AsnConvert.parse(extension.extnValue.buffer, type);
}

function pathLengthOf(constraints: BasicConstraints | undefined): number | undefined {
  const length = constraints?.pathLenConstraint;
  if (length === undefined) return undefined;
  if (!Number.isSafeInteger(length) || length < 0) throw new Error('its path length is no length');
  return length;
}

function commonNamesOf(subject: Name): string[] {
  return [...subject]
    .flatMap((part) => [...part])
    .filter((attribute) => attribute.type === COMMON_NAME)
    .map((attribute) => attribute.value.toString());
}

/**
 * A distinguished name in one line.
 * @param name as node:crypto prints it, one attribute to a line; undefined for an empty name.
 */
export function inOneLine(name: string | undefined): string {
  return name ? name.replaceAll('\n', ', ') : '(no name)';
}

/**
 * The name under which a merchant is shown: a DNS name of the certificate, or its common name when it has none (RFC 6125, 6.4.4).
 * @throws UntrustedError `no-name`.
 */
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
