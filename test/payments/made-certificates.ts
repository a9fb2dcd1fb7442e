// Certificates that a test makes itself if the recorded ones do not have what it
// needs: other extensions, or a validity around the present time. ECDSA on P-256.

import { generateKeyPairSync, randomBytes, sign, X509Certificate, type KeyObject } from 'node:crypto';
import { AsnConvert, OctetString } from '@peculiar/asn1-schema';
import {
  AlgorithmIdentifier,
  AttributeTypeAndValue,
  AttributeValue,
  BasicConstraints,
  Certificate,
  Extension,
  Extensions,
  GeneralName,
  KeyUsage,
  KeyUsageFlags,
  Name,
  RelativeDistinguishedName,
  SubjectAlternativeName,
  SubjectPublicKeyInfo,
  TBSCertificate,
  Validity,
  Version,
  id_ce_basicConstraints,
  id_ce_keyUsage,
  id_ce_subjectAltName
} from '@peculiar/asn1-x509';

const COMMON_NAME = '2.5.4.3';
/** Signature algorithms by digest. */
const ECDSA = { sha1: '1.2.840.10045.4.1', sha256: '1.2.840.10045.4.3.2' } as const;

const DAY_MS = 86_400_000;

export interface MadeCertificate {
  /** The private key. */
  readonly key: KeyObject;
  readonly keyPem: string;
  readonly der: Buffer;
  readonly pem: string;
  readonly name: Name;
}

export interface CertificateWishes {
  readonly commonName: string;
  /** By default self-signed. */
  readonly issuer?: MadeCertificate;
  /** By default a leaf for `shop.example`. */
  readonly ca?: boolean;
  /** By default yesterday. */
  readonly notBefore?: Date;
  /** By default tomorrow. */
  readonly notAfter?: Date;
  /** Of its signature, by default SHA-256. */
  readonly digest?: keyof typeof ECDSA;
  readonly extensions?: readonly Extension[];
  /** Of a leaf. */
  readonly for?: { readonly name: string } | { readonly address: string };
}

export function makeCertificate(wishes: CertificateWishes): MadeCertificate {
  const { privateKey: key, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = nameOf(wishes.commonName);
  const now = Date.now();
  const { digest = 'sha256' } = wishes;
  const algorithm = new AlgorithmIdentifier({ algorithm: ECDSA[digest] });
  const tbsCertificate = new TBSCertificate({
    version: Version.v3,
    // Positive for any random bytes.
    serialNumber: arrayOf(Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    signature: algorithm,
    issuer: wishes.issuer?.name ?? name,
    validity: new Validity({
      notBefore: wishes.notBefore ?? new Date(now - DAY_MS),
      notAfter: wishes.notAfter ?? new Date(now + DAY_MS)
    }),
    subject: name,
    subjectPublicKeyInfo: AsnConvert.parse(publicKey.export({ type: 'spki', format: 'der' }), SubjectPublicKeyInfo),
    extensions: new Extensions([...(wishes.ca === true ? authorityExtensions() : leafExtensions(wishes.for)), ...(wishes.extensions ?? [])])
  });
  const signature = sign(digest, Buffer.from(AsnConvert.serialize(tbsCertificate)), wishes.issuer?.key ?? key);
  const certificate = new Certificate({ tbsCertificate, signatureAlgorithm: algorithm, signatureValue: arrayOf(signature) });
  const der = Buffer.from(AsnConvert.serialize(certificate));
  return { key, keyPem: key.export({ type: 'pkcs8', format: 'pem' }).toString(), der, pem: new X509Certificate(der).toString(), name };
}

/** @param value an object that @peculiar/asn1-schema can serialize. */
export function extension(extnID: string, critical: boolean, value: unknown): Extension {
  return new Extension({ extnID, critical, extnValue: new OctetString(AsnConvert.serialize(value)) });
}

function authorityExtensions(): Extension[] {
  return [
    extension(id_ce_basicConstraints, true, new BasicConstraints({ cA: true })),
    extension(id_ce_keyUsage, true, new KeyUsage(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign))
  ];
}

function leafExtensions(subject: NonNullable<CertificateWishes['for']> = { name: 'shop.example' }): Extension[] {
  const name = 'name' in subject ? { dNSName: subject.name } : { iPAddress: subject.address };
  return [
    extension(id_ce_keyUsage, true, new KeyUsage(KeyUsageFlags.digitalSignature)),
    extension(id_ce_subjectAltName, false, new SubjectAlternativeName([new GeneralName(name)]))
  ];
}

function nameOf(commonName: string): Name {
  const attribute = new AttributeTypeAndValue({ type: COMMON_NAME, value: new AttributeValue({ utf8String: commonName }) });
  return new Name([new RelativeDistinguishedName([attribute])]);
}

function arrayOf(bytes: Buffer): ArrayBuffer {
  return new Uint8Array(bytes).buffer;
}
