import { expect } from 'chai';
import { describe, it } from 'mocha';
import { KeyUsageFlags } from '@peculiar/asn1-x509';
import { readCertificate } from '../../../lib/payments/x509/certificate';
import { UntrustedError } from '../../../lib/payments/x509/untrusted';
import { der, pem } from '../vectors';

describe('readCertificate', () => {
  it('reads a leaf', () => {
    const { isCa, pathLength, keyUsage, purposes, unknownCritical, dnsNames, commonNames, signatureAlgorithm, subject, issuer } =
      readCertificate(der('p256'));
    expect({
      isCa,
      pathLength,
      keyUsage,
      purposes,
      unknownCritical,
      dnsNames,
      commonNames,
      signatureAlgorithm,
      subject,
      issuer
    }).to.deep.equal({
      isCa: false,
      pathLength: undefined,
      keyUsage: KeyUsageFlags.digitalSignature,
      purposes: ['1.3.6.1.5.5.7.3.1'],
      unknownCritical: [],
      dnsNames: ['shop.example', 'www.shop.example'],
      commonNames: ['shop.example'],
      signatureAlgorithm: '1.2.840.113549.1.1.11',
      subject: 'CN=shop.example',
      issuer: 'O=Test Roots\nCN=Test Intermediate'
    });
  });

  it('reads an authority with a path length', () => {
    expect(readCertificate(der('path0'))).to.include({ isCa: true, pathLength: 0, keyUsage: KeyUsageFlags.keyCertSign });
  });

  it('lists the critical extensions that it does not know, and only those', () => {
    expect(readCertificate(der('critical')).unknownCritical).to.deep.equal(['1.2.3.4.5']);
    expect(readCertificate(der('unknown')).unknownCritical).to.deep.equal([]);
  });

  it('sees name constraints', () => expect(readCertificate(der('constrained')).hasNameConstraints).to.equal(true));

  it('refuses anything but one DER certificate', () => {
    const good = der('p256');
    for (const bytes of [
      Buffer.alloc(0),
      Buffer.from(pem('p256')),
      good.subarray(1),
      good.subarray(0, 100),
      Buffer.concat([good, good]),
      Buffer.alloc(600, 0x30)
    ]) {
      expect(() => readCertificate(bytes)).to.throw(UntrustedError, 'A certificate cannot be read');
    }
  });
});
