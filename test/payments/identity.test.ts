import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { ExtendedKeyUsage, NameConstraints, id_ce_extKeyUsage, id_ce_nameConstraints, id_kp_clientAuth } from '@peculiar/asn1-x509';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { identityOfPem } from '../../lib/payments/identity';
import { extension, makeCertificate, type CertificateWishes } from './made-certificates';
import { VALID_TIME, der, errorOf, keyFile, pem } from './vectors';

const keyText = readFileSync(keyFile('p256'), 'utf8');
const chain = pem('p256') + pem('intermediate');

function refusal(key: string, certificates: string, time = VALID_TIME): string {
  const { code, message } = errorOf(() => identityOfPem(key, certificates, time));
  expect(code).to.equal('cannot-sign');
  return message;
}

describe('identityOfPem', () => {
  it('reads a key and a chain in order, with or without the root', () => {
    expect(identityOfPem(keyText, chain, VALID_TIME).certificates).to.deep.equal([der('p256'), der('intermediate')]);
    expect(identityOfPem(keyText, chain + pem('root'), VALID_TIME).certificates).to.have.length(3);
  });

  it('says what it cannot read', () => {
    expect(refusal('no key', chain)).to.match(/^A private key in PEM expected: .*Put the key there/);
    expect(refusal(pem('p256'), chain)).to.match(/^A private key in PEM expected/);
    expect(refusal(keyText, 'no certificate')).to.match(/^A certificate in PEM expected, none came\. Put/);
    expect(refusal(keyText, '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----')).to.match(/^Certificate 1 cannot be read/);
  });

  it('says that a key is encrypted, in either format', () => {
    const cipher = { cipher: 'aes-256-cbc', passphrase: 'sesame' };
    const encrypted = createPrivateKey(keyText)
      .export({ type: 'pkcs8', format: 'pem', ...cipher })
      .toString();
    const traditional = createPrivateKey(keyText)
      .export({ type: 'sec1', format: 'pem', ...cipher })
      .toString();
    for (const key of [encrypted, traditional]) {
      expect(refusal(key, chain)).to.match(/^The key is encrypted\. Write it without a passphrase/);
    }
  });

  it('says that no wallet accepts a key', () => {
    const weak = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    expect(refusal(weak, chain)).to.match(/^The signing key: an RSA or ECDSA key expected, ed25519 came\. Take/);
  });

  it('says that the certificate is of another key', () => {
    expect(refusal(keyText, pem('rsa2048') + pem('intermediate'))).to.match(/^The first certificate is of another key\. Put/);
  });

  it('says that certificates are in the wrong order', () => {
    const order = /Put the key's own certificate first, then its issuer's, and so on\.$/;
    expect(refusal(keyText, pem('intermediate') + pem('p256')))
      .to.match(/^"O=Test Roots, CN=Test Intermediate" is not issued by "CN=shop.example", which follows it\. /)
      .and.to.match(order);
    expect(refusal(keyText, pem('p256') + pem('root') + pem('intermediate'))).to.match(order);
    expect(refusal(keyText, pem('p256') + pem('root'))).to.match(order);
    // In the order of issuers, but the key belongs to the second.
    const [authority, other] = [makeCertificate({ commonName: 'Authority', ca: true }), makeCertificate({ commonName: 'Root', ca: true })];
    const below = makeCertificate({ commonName: 'shop.example', issuer: authority });
    expect(refusal(authority.keyPem, below.pem + authority.pem, new Date()))
      .to.match(/^The key's own certificate is the one at place 2\. /)
      .and.to.match(order);
    // An issuer of the right name with another key.
    const namesake = makeCertificate({ commonName: 'Authority', ca: true, issuer: other });
    expect(refusal(below.keyPem, below.pem + namesake.pem, new Date()))
      .to.match(/is not signed by/)
      .and.to.match(order);
  });

  it("says that a certificate has expired or is not valid yet, the key's own or an issuer's", () => {
    expect(refusal(keyText, pem('expired') + pem('intermediate'))).to.match(
      /^"CN=shop.example" was valid until 2026-.*\. Put a renewed certificate there\.$/
    );
    expect(refusal(keyText, chain, new Date('2026-01-01'))).to.match(/^"CN=shop.example" is valid from 2026-/);
    const root = makeCertificate({ commonName: 'Root', ca: true });
    const [notBefore, notAfter] = [new Date('2020-01-01'), new Date('2021-01-01')];
    const issuer = makeCertificate({ commonName: 'Authority', ca: true, issuer: root, notBefore, notAfter });
    const leaf = makeCertificate({ commonName: 'shop.example', issuer });
    expect(refusal(leaf.keyPem, leaf.pem + issuer.pem, new Date())).to.match(/^"CN=Authority" was valid until 2021-01-01/);
  });

  it('says that the signature of the signing certificate is weak, also if its issuer is left out', () => {
    const weak =
      '"CN=shop.example" is signed by an algorithm that is not allowed, 1.2.840.113549.1.1.5. Ask the issuer for one that is signed with SHA-256.';
    for (const issuers of ['', pem('intermediate')]) expect(refusal(keyText, pem('sha1') + issuers)).to.equal(weak);
  });

  it('takes weak signatures that no recipient looks at: of a self-signed certificate, and of a trusted authority by an older one', () => {
    const older = makeCertificate({ commonName: 'Older Root', ca: true });
    const root = makeCertificate({ commonName: 'Root', ca: true, issuer: older, digest: 'sha1' });
    const leaf = makeCertificate({ commonName: 'shop.example', issuer: root });
    expect(identityOfPem(leaf.keyPem, leaf.pem + root.pem, new Date()).certificates).to.have.length(2);
    const alone = makeCertificate({ commonName: 'shop.example', digest: 'sha1' });
    expect(identityOfPem(alone.keyPem, alone.pem, new Date()).certificates).to.have.length(1);
  });

  it('says what keeps recipients from trusting the certificates, whatever their roots', () => {
    const root = makeCertificate({ commonName: 'Root', ca: true });
    const refusalOf = (wishes: Partial<CertificateWishes>, issuer = root): string => {
      const leaf = makeCertificate({ commonName: 'shop.example', issuer, ...wishes });
      return refusal(leaf.keyPem, leaf.pem + issuer.pem, new Date());
    };
    const clients = extension(id_ce_extKeyUsage, false, new ExtendedKeyUsage([id_kp_clientAuth]));
    const names = extension(id_ce_nameConstraints, true, new NameConstraints());
    expect(refusalOf({ extensions: [clients] })).to.equal('"CN=shop.example" is not meant for servers.');
    expect(refusalOf({ extensions: [names] })).to.equal('"CN=shop.example" constrains names, which is not supported.');
    expect(refusalOf({ ca: true })).to.equal('The key of "CN=shop.example" may not sign.');
    const shop = makeCertificate({ commonName: 'shop.example', issuer: root });
    expect(refusalOf({}, shop)).to.equal('"CN=shop.example" is not a certificate authority.');
    expect(identityOfPem(keyText, chain + pem('root').repeat(6), VALID_TIME).certificates).to.have.length(8);
    expect(refusal(keyText, chain + pem('root').repeat(7))).to.equal('At most 8 certificates expected, 9 came.');
    const unreadable = '-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n';
    expect(refusal(keyText, chain + unreadable.repeat(7)), 'counted first').to.equal('At most 8 certificates expected, 9 came.');
  });
});
