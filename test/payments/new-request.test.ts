import { verify } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { Writer } from 'protobufjs';
import { runPaymentsCommand } from '../../lib/payments/cli';
import { DEFAULTS, decodePaymentRequest, encodePaymentRequest, type PaymentDetails } from '../../lib/payments/messages';
import { makePaymentRequest, signPaymentRequest } from '../../lib/payments/signature';
import { inShop, order } from '../merchant/orders/shop';
import { newFolder } from '../support/process/folders';
import { CODECS } from './codecs';
import { VALID_TIME, identity, keyFile, pem } from './vectors';

/** The signed bytes of wallets that encode the request again: every field, with defaults, in the order of the schema. */
function encodedAgain(bytes: Buffer): Buffer {
  const { paymentDetailsVersion, pkiType, pkiData, serializedPaymentDetails } = decodePaymentRequest(bytes);
  const writer = Writer.create();
  writer.uint32(1 << 3).uint32(paymentDetailsVersion ?? DEFAULTS.paymentDetailsVersion);
  writer.uint32((2 << 3) | 2).string(pkiType ?? DEFAULTS.pkiType);
  if (pkiData) writer.uint32((3 << 3) | 2).bytes(pkiData);
  writer.uint32((4 << 3) | 2).bytes(serializedPaymentDetails);
  writer.uint32((5 << 3) | 2).bytes(Buffer.alloc(0));
  return Buffer.from(writer.finish());
}

function expectSignedOverEncodedAgain(bytes: Buffer, name: string): void {
  const { signature = Buffer.alloc(0) } = decodePaymentRequest(bytes);
  expect(verify('sha256', encodedAgain(bytes), pem(name), signature)).to.equal(true);
}

const details = CODECS['PaymentDetails']?.message as fc.Arbitrary<PaymentDetails>;
const signers = fc.constantFrom('rsa2048', 'p256', 'p384');

describe('a PaymentRequest made by the library', () => {
  it('has a signature that also holds over an encoding with every default written', () => {
    fc.assert(
      fc.property(details, signers, (made, name) => {
        expectSignedOverEncodedAgain(makePaymentRequest(made, identity([name, 'intermediate'], name)), name);
      }),
      { numRuns: 60 }
    );
  });

  it('names its version, signed or not', () => {
    fc.assert(
      fc.property(details, (made) => {
        expect(makePaymentRequest(made).subarray(0, 2).toString('hex')).to.equal('0801');
        expect(
          makePaymentRequest(made, identity(['p256']))
            .subarray(0, 2)
            .toString('hex')
        ).to.equal('0801');
      }),
      { numRuns: 20 }
    );
  });

  it('gets a version when it is signed without one', () => {
    expectSignedOverEncodedAgain(signPaymentRequest({ serializedPaymentDetails: Buffer.from('1801', 'hex') }, identity(['p256'])), 'p256');
  });

  it('keeps its version when it is signed', () => {
    const signed = signPaymentRequest({ paymentDetailsVersion: 2, serializedPaymentDetails: Buffer.alloc(0) }, identity(['p256']));
    expect(decodePaymentRequest(signed).paymentDetailsVersion).to.equal(2);
  });

  it('names its version when a merchant makes it, signed or not', async () => {
    await inShop(async ({ merchant }) => {
      const { request } = await merchant.request((await merchant.create(order)).id);
      expect(decodePaymentRequest(request).paymentDetailsVersion).to.equal(1);
    })();
    await inShop(
      async ({ merchant }) => {
        const { request } = await merchant.request((await merchant.create(order)).id);
        expectSignedOverEncodedAgain(request, 'p256');
      },
      { identity: () => identity(['p256', 'intermediate']) }
    )();
  });

  it('names its version when the command line makes and signs it', async () => {
    const folder = await newFolder();
    const [made, signed, old, chain] = [join(folder, 'made'), join(folder, 'signed'), join(folder, 'old'), join(folder, 'chain.pem')];
    const io = { out: () => undefined, err: () => undefined, now: () => VALID_TIME };
    const run = (...args: string[]): Promise<number> => runPaymentsCommand(args, io);
    await writeFile(chain, pem('p256') + pem('intermediate'));
    expect(await run('create', '--output', `0014${'00'.repeat(20)}:1000`, '--out', made)).to.equal(0);
    expect(decodePaymentRequest(await readFile(made)).paymentDetailsVersion).to.equal(1);
    const { serializedPaymentDetails } = decodePaymentRequest(await readFile(made));
    await writeFile(old, encodePaymentRequest({ serializedPaymentDetails }));
    for (const unsigned of [made, old]) {
      expect(await run('sign', unsigned, '--key', keyFile('p256'), '--certificates', chain, '--out', signed)).to.equal(0);
      expectSignedOverEncodedAgain(await readFile(signed), 'p256');
    }
  });
});
