import { X509Certificate } from 'node:crypto';
import { rootCertificates } from 'node:tls';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { readCertificate } from '../../../lib/payments/x509/certificate';
import { TrustRoots, certificatesOfPem, keyPin } from '../../../lib/payments/x509/trust';
import { codeOf, der, pem, testRoots } from '../vectors';

describe('TrustRoots', () => {
  it('finds the roots by the name of the issuer', () => {
    const issuers = testRoots('root', 'other-root', 'ec-root').issuersOf(readCertificate(der('intermediate')));
    expect(issuers.map((issuer) => issuer.raw)).to.deep.equal([der('root'), der('other-root')]);
  });

  it('accepts PEM and DER', () => {
    expect(new TrustRoots([der('root')]).issuersOf(readCertificate(der('intermediate')))).to.have.length(1);
  });

  it('knows the roots of Node.js', () => {
    const [root = ''] = rootCertificates;
    expect(TrustRoots.builtIn().issuersOf(readCertificate(new X509Certificate(root).raw))).to.have.length(1);
  });

  it('says that a certificate cannot be read', () => expect(codeOf(() => new TrustRoots(['no certificate']))).to.equal('malformed'));
});

describe('every root of Node.js', () => {
  it('can be read', () => {
    for (const root of rootCertificates) expect(readCertificate(new X509Certificate(root).raw).subject, root).to.not.equal('');
  });
});

describe('certificatesOfPem', () => {
  it('gives the certificates of a file, and nothing else in it', () => {
    const text = `# comment\n${pem('p256')}\n-----BEGIN PRIVATE KEY-----\nAA==\n-----END PRIVATE KEY-----\n${pem('root')}`;
    expect(certificatesOfPem(text).map((one) => new X509Certificate(one).raw)).to.deep.equal([der('p256'), der('root')]);
  });
});

describe('keyPin', () => {
  it('depends only on the key, not on the certificate', () => {
    const pinOf = (name: string): string => keyPin(new X509Certificate(pem(name))).toString('hex');
    expect(pinOf('self-signed'))
      .to.equal(pinOf('p256'))
      .and.to.match(/^[0-9a-f]{64}$/);
    expect(pinOf('p384')).to.not.equal(pinOf('p256'));
  });
});
