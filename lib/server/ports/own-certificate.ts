// A self-signed certificate (RFC 5280). Electrum wallets trust the certificate that they see first, and remember it.

import { createHash, generateKeyPair, randomBytes, sign } from 'node:crypto';
import { isIP } from 'node:net';
import { promisify } from 'node:util';
import { AsnConvert, OctetString } from '@peculiar/asn1-schema';
import {
  AlgorithmIdentifier,
  AttributeTypeAndValue,
  AttributeValue,
  AuthorityKeyIdentifier,
  BasicConstraints,
  Certificate,
  ExtendedKeyUsage,
  Extension,
  Extensions,
  GeneralName,
  id_ce_authorityKeyIdentifier,
  id_ce_basicConstraints,
  id_ce_extKeyUsage,
  id_ce_keyUsage,
  id_ce_subjectAltName,
  id_ce_subjectKeyIdentifier,
  id_kp_serverAuth,
  KeyIdentifier,
  KeyUsage,
  KeyUsageFlags,
  Name,
  RelativeDistinguishedName,
  SubjectAlternativeName,
  SubjectKeyIdentifier,
  SubjectPublicKeyInfo,
  TBSCertificate,
  Validity,
  Version
} from '@peculiar/asn1-x509';

const COMMON_NAME = '2.5.4.3';
const RSA_WITH_SHA256 = '1.2.840.113549.1.1.11';

/** Bits of an RSA key: all versions of Electrum support RSA. */
const KEY_BITS = 2_048;
const SERIAL_BYTES = 16;
const YEARS = 10;
const DAY_MS = 86_400_000;

export interface PemPair {
  readonly certificate: string;
  readonly key: string;
}

/** `host`: a name or an address besides localhost's. */
export async function makeOwnCertificate(host: string): Promise<PemPair> {
  const { privateKey, publicKey } = await promisify(generateKeyPair)('rsa', { modulusLength: KEY_BITS });
  const spki = AsnConvert.parse(publicKey.export({ type: 'spki', format: 'der' }), SubjectPublicKeyInfo);
  const name = new Name([
    new RelativeDistinguishedName([
      new AttributeTypeAndValue({ type: COMMON_NAME, value: new AttributeValue({ utf8String: 'localhost' }) })
    ])
  ]);
  const signatureAlgorithm = new AlgorithmIdentifier({ algorithm: RSA_WITH_SHA256, parameters: null });
  const now = Date.now();
  const serial = randomBytes(SERIAL_BYTES);
  // Makes the serial number positive, with a first byte that is not zero.
  serial[0] = ((serial[0] as number) & 0x3f) | 0x40;
  const tbs = new TBSCertificate({
    version: Version.v3,
    serialNumber: serial.buffer.slice(serial.byteOffset, serial.byteOffset + SERIAL_BYTES),
    signature: signatureAlgorithm,
    issuer: name,
    validity: new Validity({ notBefore: new Date(now - DAY_MS), notAfter: new Date(now + YEARS * 365 * DAY_MS) }),
    subject: name,
    subjectPublicKeyInfo: spki,
    extensions: new Extensions(extensionsFor(spki, ['localhost', '127.0.0.1', '::1', host]))
  });
  const signature = sign('sha256', Buffer.from(AsnConvert.serialize(tbs)), privateKey);
  const certificate = new Certificate({ tbsCertificate: tbs, signatureAlgorithm, signatureValue: bytesOf(signature) });
  return {
    certificate: pemOf(Buffer.from(AsnConvert.serialize(certificate))),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  };
}

/** The extensions that strict clients require of a self-signed certificate. */
function extensionsFor(spki: SubjectPublicKeyInfo, hosts: readonly string[]): Extension[] {
  const keyId = bytesOf(createHash('sha1').update(Buffer.from(spki.subjectPublicKey)).digest());
  const extension = (extnID: string, critical: boolean, value: object): Extension =>
    new Extension({ extnID, critical, extnValue: new OctetString(AsnConvert.serialize(value)) });
  const names = [...new Set(hosts)].map((host) => new GeneralName(isIP(host) === 0 ? { dNSName: host } : { iPAddress: host }));
  return [
    extension(id_ce_basicConstraints, true, new BasicConstraints({ cA: true })),
    extension(
      id_ce_keyUsage,
      true,
      new KeyUsage(KeyUsageFlags.digitalSignature | KeyUsageFlags.keyEncipherment | KeyUsageFlags.keyCertSign)
    ),
    extension(id_ce_extKeyUsage, false, new ExtendedKeyUsage([id_kp_serverAuth])),
    extension(id_ce_subjectKeyIdentifier, false, new SubjectKeyIdentifier(keyId)),
    extension(id_ce_authorityKeyIdentifier, false, new AuthorityKeyIdentifier({ keyIdentifier: new KeyIdentifier(keyId) })),
    extension(id_ce_subjectAltName, false, new SubjectAlternativeName(names))
  ];
}

function bytesOf(buffer: Buffer): ArrayBuffer {
  return new Uint8Array(buffer).buffer;
}

function pemOf(der: Buffer): string {
  return `-----BEGIN CERTIFICATE-----\n${der.toString('base64').replace(/.{1,64}/g, '$&\n')}-----END CERTIFICATE-----\n`;
}
