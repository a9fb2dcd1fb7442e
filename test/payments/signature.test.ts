import { generateKeyPairSync, verify } from 'node:crypto';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { decodePaymentRequest, decodeX509Certificates, encodePaymentDetails } from '../../lib/payments/messages';
import { signPaymentRequest, signedBytes } from '../../lib/payments/signature';
import { codeOf, der, errorOf, identity, key, pem, vector } from './vectors';

const serializedPaymentDetails = encodePaymentDetails({
  outputs: [{ amount: 100_000n, script: Buffer.from('51', 'hex') }],
  time: 1_800_000_000n
});

describe('signedBytes', () => {
  const hex = (text: string): Buffer => Buffer.from(text.replace(/\s/g, ''), 'hex');

  it('are the request with its signature emptied in place', () => {
    expect(signedBytes(vector('messages/PaymentRequest.full.hex')).toString('hex')).to.equal(
      vector('messages/PaymentRequest.full.hex').toString('hex').replace('2a03010203', '2a00')
    );
  });

  it('keep unknown fields, explicit defaults and the order in which the fields came', () => {
    expect(signedBytes(hex('a20601aa 2a020102 22021800 0801 a20601bb')).toString('hex')).to.equal(
      hex('a20601aa 2a00 22021800 0801 a20601bb').toString('hex')
    );
  });

  it('keep an encoding that is longer than necessary', () => {
    expect(signedBytes(hex('088100 22021800 2a0101')).toString('hex')).to.equal(hex('088100 22021800 2a00').toString('hex'));
  });

  it('do not exist without a signature, nor with two', () => {
    expect(codeOf(() => signedBytes(hex('22021800')))).to.equal('malformed');
    expect(codeOf(() => signedBytes(hex('22021800 2a0101 2a0102')))).to.equal('malformed');
  });
});

describe('signPaymentRequest', () => {
  for (const name of ['rsa2048', 'rsa4096', 'p256', 'p384']) {
    it(`signs with ${name}, SHA-256, over the signed bytes`, () => {
      const signed = signPaymentRequest({ serializedPaymentDetails }, identity([name, 'intermediate'], name));
      const request = decodePaymentRequest(signed);
      expect(request.pkiType).to.equal('x509+sha256');
      expect(decodeX509Certificates(request.pkiData ?? Buffer.alloc(0)).certificate).to.deep.equal([der(name), der('intermediate')]);
      expect(verify('sha256', signedBytes(signed), pem(name), request.signature ?? Buffer.alloc(0))).to.equal(true);
    });
  }

  it('replaces an older signature and keeps the other fields', () => {
    const before = decodePaymentRequest(vector('messages/PaymentRequest.extensions.hex'));
    const request = decodePaymentRequest(signPaymentRequest(before, identity(['p256'])));
    expect(request.unknownFields).to.deep.equal(before.unknownFields);
    expect(request.paymentDetailsVersion).to.equal(before.paymentDetailsVersion);
    expect(request.signature).to.not.have.length(0);
  });

  it('refuses the key of another certificate', () => {
    expect(errorOf(() => signPaymentRequest({ serializedPaymentDetails }, identity(['rsa2048'], 'p256'))))
      .to.include({ code: 'cannot-sign' })
      .and.to.have.property('message')
      .that.matches(/^The first certificate is of another key\./);
  });

  it('refuses to sign without certificate', () => {
    expect(codeOf(() => signPaymentRequest({ serializedPaymentDetails }, identity([])))).to.equal('cannot-sign');
  });

  it('refuses keys that no verifier accepts', () => {
    const ed25519 = generateKeyPairSync('ed25519').privateKey;
    for (const [weak, reason] of [
      [key('weak'), /1024 came/],
      [key('secp256k1'), /secp256k1 came/],
      [ed25519, /ed25519 came/]
    ] as const) {
      expect(errorOf(() => signPaymentRequest({ serializedPaymentDetails }, { key: weak, certificates: [der('p256')] })).message).to.match(
        reason
      );
    }
  });
});
