import { X509Certificate, constants, sign } from 'node:crypto';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { PaymentError } from '../../lib/payments/error';
import { decodePaymentRequest, encodePaymentDetails, encodePaymentRequest, encodeX509Certificates } from '../../lib/payments/messages';
import { signPaymentRequest } from '../../lib/payments/signature';
import { verifyPaymentRequest, type TrustPolicy, type Verification } from '../../lib/payments/verify';
import { TrustRoots, keyPin } from '../../lib/payments/x509/trust';
import { VALID_TIME, codeOf, der, identity, key, pem, testRoots, vector } from './vectors';

const serializedPaymentDetails = encodePaymentDetails({
  outputs: [{ amount: 100_000n, script: Buffer.from('51', 'hex') }],
  time: 1_800_000_000n
});
const policy: TrustPolicy = { roots: testRoots(), time: VALID_TIME };

/** Verifies a request signed with a chain; by default with the key of p256, which most leaves share. */
function verifyChain(certificates: readonly string[], keyName = 'p256', by: TrustPolicy = policy): Verification {
  return verifyPaymentRequest(signPaymentRequest({ serializedPaymentDetails }, identity(certificates, keyName)), by);
}

function reasonOf(verification: Verification): string {
  return verification.status === 'untrusted' ? verification.reason : verification.status;
}

/** The bytes with one byte changed. */
function tampered(bytes: Buffer, at: number, mask: number): Buffer {
  const copy = Buffer.from(bytes);
  copy.writeUInt8(copy.readUInt8(at) ^ mask, at);
  return copy;
}

describe('verifyPaymentRequest', () => {
  it('answers none for a request that is not signed', () => {
    const bytes = encodePaymentRequest({ serializedPaymentDetails });
    expect(verifyPaymentRequest(bytes, policy)).to.deep.equal({ status: 'none' });
  });

  describe('trusts', () => {
    const trusted = { status: 'trusted', name: 'shop.example', trustedBy: 'O=Test Roots, CN=Test Root' };
    for (const name of ['rsa2048', 'rsa4096', 'p256', 'p384']) {
      it(`a good chain to ${name}`, () => expect(verifyChain([name, 'intermediate'], name)).to.deep.equal(trusted));
    }

    it('a chain that includes the root', () => expect(verifyChain(['p256', 'intermediate', 'root'])).to.deep.equal(trusted));

    it('a chain that continues above a trusted root', () => {
      const roots = testRoots('intermediate');
      expect(verifyChain(['p256', 'intermediate', 'root'], 'p256', { roots, time: VALID_TIME })).to.include({
        trustedBy: 'O=Test Roots, CN=Test Intermediate'
      });
    });

    it('a leaf issued by an ECDSA root with SHA-384', () => {
      expect(verifyChain(['ec-leaf'], 'ec-leaf', { roots: testRoots('ec-root'), time: VALID_TIME })).to.deep.equal({
        status: 'trusted',
        name: 'ec.example',
        trustedBy: 'CN=Test EC Root'
      });
    });

    it('the right one of two roots with the same name', () => {
      expect(verifyChain(['p256', 'intermediate'], 'p256', { roots: testRoots('other-root', 'root'), time: VALID_TIME })).to.deep.equal(
        trusted
      );
    });

    it('an unknown extension that is not critical', () => expect(verifyChain(['unknown', 'intermediate'])).to.deep.equal(trusted));

    it('a path as long as its length constraint', () => expect(verifyChain(['below-path0', 'path0'])).to.deep.equal(trusted));

    it('a common name if there is no DNS name', () => expect(verifyChain(['no-san', 'intermediate'])).to.include({ name: 'Shop Ltd' }));

    it('a certificate that has its name only in an extension', () =>
      expect(verifyChain(['no-subject', 'intermediate'])).to.deep.equal(trusted));

    it('a request encoded by protoc and signed by openssl, with RSA', () => {
      expect(verifyPaymentRequest(vector('openssl-signed.rsa.hex'), policy)).to.deep.equal(trusted);
    });

    it('a request encoded by protoc and signed by openssl, with ECDSA', () => {
      expect(verifyPaymentRequest(vector('openssl-signed.ecdsa.hex'), policy)).to.deep.equal(trusted);
    });

    it('SHA-1 only if the policy allows it', () => {
      const bytes = vector('openssl-signed.sha1.hex');
      expect(reasonOf(verifyPaymentRequest(bytes, policy))).to.equal('sha1');
      expect(verifyPaymentRequest(bytes, { ...policy, allowSha1: true })).to.deep.equal(trusted);
    });

    it('extension fields that were there when it was signed', () => {
      const unknownFields = [Buffer.from('a20601aa', 'hex')];
      const bytes = signPaymentRequest({ serializedPaymentDetails, unknownFields }, identity(['p256', 'intermediate']));
      expect(verifyPaymentRequest(bytes, policy)).to.deep.equal(trusted);
    });
  });

  describe('does not trust', () => {
    const chains: [title: string, certificates: string[], reason: string, keyName?: string][] = [
      ['an expired certificate', ['expired', 'intermediate'], 'expired'],
      ['certificates in the wrong order', ['p256', 'root', 'intermediate'], 'wrong-order'],
      ['a gap in the chain', ['p256', 'root'], 'wrong-order'],
      ['an issuer that has no CA flag', ['below-no-ca', 'no-ca'], 'not-a-ca'],
      ['an issuer that has no basic constraints', ['below-no-constraints', 'no-constraints'], 'not-a-ca'],
      ['a leaf as issuer', ['p256', 'p256'], 'wrong-order'],
      ['a path longer than its length constraint', ['below-path0-ca', 'path0-ca', 'path0'], 'path-length'],
      ['an issuer whose key may not sign certificates', ['below-no-sign', 'no-sign'], 'key-usage'],
      ['a key that may not sign', ['wrong-usage', 'intermediate'], 'key-usage'],
      ['a certificate for mail', ['wrong-purpose', 'intermediate'], 'key-usage'],
      ['a critical extension that it does not know', ['critical', 'intermediate'], 'critical-extension'],
      ['name constraints, which it does not process', ['below-constrained', 'constrained'], 'name-constraints'],
      ['a certificate signed with SHA-1', ['sha1', 'intermediate'], 'weak-signature'],
      ['a self-signed certificate', ['self-signed'], 'self-signed'],
      ['an unknown root', ['ec-leaf', 'ec-root'], 'unknown-root', 'ec-leaf'],
      ['a chain without its intermediate certificate', ['p256'], 'unknown-root'],
      ['a certificate without a name', ['no-name', 'intermediate'], 'no-name'],
      ['too many certificates', ['p256', ...Array<string>(8).fill('intermediate')], 'too-many-certificates']
    ];
    for (const [title, certificates, reason, keyName] of chains) {
      it(title, () => expect(reasonOf(verifyChain(certificates, keyName))).to.equal(reason));
    }

    it('a certificate that is not valid yet', () => {
      expect(reasonOf(verifyChain(['p256', 'intermediate'], 'p256', { ...policy, time: new Date('2026-01-01') }))).to.equal(
        'not-yet-valid'
      );
    });

    it('any certificate at an invalid time', () => {
      expect(reasonOf(verifyChain(['p256', 'intermediate'], 'p256', { ...policy, time: new Date(NaN) }))).to.equal('not-yet-valid');
    });

    it('a certificate without a subject, and says so', () => {
      expect(verifyChain(['no-subject'])).to.include({
        reason: 'unknown-root',
        message: '"(no name)" is issued by nobody who is trusted.'
      });
    });

    it('a root of the right name with another key', () => {
      expect(reasonOf(verifyChain(['p256', 'intermediate'], 'p256', { roots: testRoots('other-root'), time: VALID_TIME }))).to.equal(
        'certificate-signature'
      );
    });

    it('anybody in particular, with the roots of Node.js', () => {
      expect(reasonOf(verifyChain(['p256', 'intermediate'], 'p256', { time: VALID_TIME }))).to.equal('unknown-root');
    });

    it('keys that are too weak, with which anybody could sign, or on an unsuitable curve', () => {
      for (const name of ['weak', 'exponent1', 'secp256k1']) {
        expect(reasonOf(verifyPaymentRequest(withPki([der(name), der('intermediate')]), policy))).to.equal('weak-key');
      }
    });

    it('a signature by another key', () => {
      const chain = [der('p256'), der('intermediate')];
      const signedBy = (name: string): Buffer => withPki(chain, sign('sha256', withPki(chain, Buffer.alloc(0)), key(name)));
      expect(reasonOf(verifyPaymentRequest(signedBy('p256'), policy))).to.equal('trusted');
      expect(reasonOf(verifyPaymentRequest(signedBy('ec-leaf'), policy))).to.equal('request-signature');
      expect(reasonOf(verifyPaymentRequest(signedBy('rsa2048'), policy))).to.equal('request-signature');
    });

    it('an RSA signature with another padding than the one of PKCS #1 v1.5', () => {
      const chain = [der('rsa2048'), der('intermediate')];
      const withPadding = (padding: number): Buffer =>
        withPki(chain, sign('sha256', withPki(chain, Buffer.alloc(0)), { key: key('rsa2048'), padding }));
      expect(reasonOf(verifyPaymentRequest(withPadding(constants.RSA_PKCS1_PADDING), policy))).to.equal('trusted');
      expect(reasonOf(verifyPaymentRequest(withPadding(constants.RSA_PKCS1_PSS_PADDING), policy))).to.equal('request-signature');
    });

    it('an ECDSA signature that is not in DER', () => {
      const request = decodePaymentRequest(vector('openssl-signed.ecdsa.hex'));
      const { signature = Buffer.alloc(0) } = request;
      const [sequence = 0, length = 0, integer = 0, rLength = 0] = signature;
      const others = [
        Buffer.concat([signature, Buffer.alloc(1)]),
        Buffer.concat([Buffer.from([sequence, 0x81]), signature.subarray(1)]),
        Buffer.concat([Buffer.from([sequence, length + 1, integer, rLength + 1, 0]), signature.subarray(4)])
      ];
      for (const other of others) {
        expect(reasonOf(verifyPaymentRequest(encodePaymentRequest({ ...request, signature: other }), policy))).to.equal(
          'request-signature'
        );
      }
    });

    it('certificates without signature', () => {
      const pkiData = encodeX509Certificates({ certificate: [der('p256'), der('intermediate')] });
      const unsigned = { pkiType: 'x509+sha256', pkiData, serializedPaymentDetails };
      expect(reasonOf(verifyPaymentRequest(encodePaymentRequest(unsigned), policy))).to.equal('no-signature');
      expect(reasonOf(verifyPaymentRequest(encodePaymentRequest({ ...unsigned, signature: Buffer.alloc(0) }), policy))).to.equal(
        'no-signature'
      );
    });

    it('a signature without certificates', () => {
      const bytes = encodePaymentRequest({ pkiType: 'x509+sha256', serializedPaymentDetails, signature: Buffer.alloc(64) });
      expect(reasonOf(verifyPaymentRequest(bytes, policy))).to.equal('no-certificates');
    });

    it('a pki_type that it does not know', () => {
      const bytes = encodePaymentRequest({ pkiType: 'x509+md5', serializedPaymentDetails, signature: Buffer.alloc(64) });
      expect(reasonOf(verifyPaymentRequest(bytes, policy))).to.equal('unknown-pki-type');
    });

    it('malformed certificates', () => {
      const leaf = der('p256');
      const broken = [
        Buffer.alloc(0),
        Buffer.from('3000', 'hex'),
        leaf.subarray(0, -1),
        Buffer.concat([leaf, Buffer.alloc(1)]),
        Buffer.from(pem('p256'))
      ];
      for (const certificate of broken)
        expect(reasonOf(verifyPaymentRequest(withPki([certificate]), policy))).to.equal('malformed-certificate');
    });

    it('pki_data that holds no certificates', () => {
      const bytes = encodePaymentRequest({
        pkiType: 'x509+sha256',
        pkiData: Buffer.from('0aff', 'hex'),
        serializedPaymentDetails,
        signature: Buffer.alloc(64)
      });
      expect(reasonOf(verifyPaymentRequest(bytes, policy))).to.equal('malformed-certificate');
    });

    it('two signatures', () => {
      const signed = signPaymentRequest({ serializedPaymentDetails }, identity(['p256', 'intermediate']));
      expect(codeOf(() => verifyPaymentRequest(Buffer.concat([signed, Buffer.from('2a0101', 'hex')]), policy))).to.equal('malformed');
    });
  });

  describe('pinned keys', () => {
    const pinned = (name: string): TrustPolicy => ({
      roots: new TrustRoots([]),
      pinnedKeys: [keyPin(new X509Certificate(pem(name)))],
      time: VALID_TIME
    });

    it('are trusted with any issuer of the certificate', () => {
      expect(verifyChain(['self-signed'], 'p256', pinned('self-signed'))).to.deep.equal({
        status: 'trusted',
        name: 'shop.example',
        trustedBy: 'pinned key'
      });
    });

    it('still have to be allowed to sign, at this time', () => {
      expect(reasonOf(verifyChain(['expired'], 'p256', pinned('expired')))).to.equal('expired');
      expect(reasonOf(verifyChain(['wrong-usage'], 'p256', pinned('wrong-usage')))).to.equal('key-usage');
    });

    it('are trusted from the first to the last second of their certificate', () => {
      const { validFrom, validTo } = new X509Certificate(pem('self-signed'));
      const at = (time: string, milliseconds: number): string =>
        reasonOf(verifyChain(['self-signed'], 'p256', { ...pinned('self-signed'), time: new Date(Date.parse(time) + milliseconds) }));
      expect([at(validFrom, -1), at(validFrom, 0), at(validTo, 0), at(validTo, 1_000)]).to.deep.equal([
        'not-yet-valid',
        'trusted',
        'trusted',
        'expired'
      ]);
    });

    it('do not trust other keys', () => {
      expect(reasonOf(verifyChain(['rsa2048'], 'rsa2048', pinned('self-signed')))).to.equal('unknown-root');
    });

    it('do not make a signature by another key trusted that comes with a pinned certificate', () => {
      expect(reasonOf(verifyPaymentRequest(withPki([der('self-signed')]), pinned('self-signed')))).to.equal('request-signature');
    });
  });

  describe('a request that was changed', () => {
    for (const [name, mask] of [
      ['openssl-signed.rsa.hex', 0x01],
      ['openssl-signed.ecdsa.hex', 0x80]
    ] as const) {
      it(`in any one byte is never trusted (${name})`, () => {
        const bytes = vector(name);
        for (let at = 0; at < bytes.length; at++) {
          expect(statusOf(tampered(bytes, at, mask)), `byte ${at}`).to.not.equal('trusted');
        }
      }).timeout(60_000);
    }

    it('in its certificate and then signed again is never trusted', () => {
      const [leaf, intermediate, signer] = [der('p256'), der('intermediate'), key('p256')];
      for (let at = 0; at < leaf.length; at += 2) {
        const chain = [tampered(leaf, at, 0x04), intermediate];
        const bytes = withPki(chain, sign('sha256', withPki(chain, Buffer.alloc(0)), signer));
        expect(statusOf(bytes), `byte ${at}`).to.not.equal('trusted');
      }
    });

    it('by inserting or removing a byte anywhere is never trusted', () => {
      const bytes = vector('openssl-signed.ecdsa.hex');
      for (let at = 0; at <= bytes.length; at += 7) {
        const longer = Buffer.concat([bytes.subarray(0, at), Buffer.from([0x42]), bytes.subarray(at)]);
        const shorter = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1)]);
        expect(statusOf(longer), `one more at ${at}`).to.not.equal('trusted');
        if (at < bytes.length) expect(statusOf(shorter), `one less at ${at}`).to.not.equal('trusted');
      }
    });

    it('by adding a field is never trusted', () => {
      const bytes = Buffer.concat([vector('openssl-signed.rsa.hex'), Buffer.from('a20601aa', 'hex')]);
      expect(reasonOf(verifyPaymentRequest(bytes, policy))).to.equal('request-signature');
    });
  });
});

/** A request that claims to be signed by a chain, with an invalid signature. */
function withPki(certificates: readonly Buffer[], signature = Buffer.alloc(70, 1)): Buffer {
  const pkiData = encodeX509Certificates({ certificate: certificates });
  return encodePaymentRequest({ pkiType: 'x509+sha256', pkiData, serializedPaymentDetails, signature });
}

function statusOf(bytes: Buffer): string {
  try {
    return verifyPaymentRequest(bytes, policy).status;
  } catch (error) {
    if (error instanceof PaymentError) return error.code;
    throw error;
  }
}
