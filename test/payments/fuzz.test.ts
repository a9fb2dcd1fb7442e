// For any bytes nothing but a PaymentError is thrown, and nothing that was changed is
// trusted. A few thousand cases in every test run; FUZZ_CASES=100000 and more by hand
// (`npm run fuzz`). A failure prints the seed and the smallest case.

import { sign } from 'node:crypto';
import { expect } from 'chai';
import fc, { type Arbitrary } from 'fast-check';
import { describe, it } from 'mocha';
import {
  acknowledgePayment,
  decodePayment,
  decodePaymentRequest,
  encodePaymentRequest,
  encodeX509Certificates
} from '../../lib/payments/messages';
import { PaymentError } from '../../lib/payments/error';
import { checkPayment } from '../../lib/payments/rules/payment';
import { checkPaymentRequest } from '../../lib/payments/rules/request';
import { parseTransaction } from '../../lib/payments/rules/transaction';
import { signedBytes } from '../../lib/payments/signature';
import { verifyPaymentRequest } from '../../lib/payments/verify';
import { parseBitcoinUri } from '../../lib/payments/transport/bitcoin-uri';
import { CODECS } from './codecs';
import { outpoint, serialize } from './transactions';
import { VALID_TIME, der, key, messageVectors, testRoots, vector } from './vectors';

const CASES = Number(process.env['FUZZ_CASES'] ?? 3_000);

const roots = testRoots();
const signer = key('p256');
const script = Buffer.from('51', 'hex');
const signedRequests = ['rsa', 'ecdsa', 'sha1'].map((name) => vector(`openssl-signed.${name}.hex`));
const transaction = serialize({ inputs: [outpoint(1)], outputs: [{ value: 5n, script }], witness: true });
const certificates = ['p256', 'critical', 'no-san', 'no-subject'].map(der);
const everything = [...messageVectors().map((name) => vector(`messages/${name}.hex`)), ...signedRequests, transaction];

interface Target {
  /** Returns or throws a PaymentError. */
  readonly run: (bytes: Buffer) => unknown;
  /** Valid bytes, which are then changed. */
  readonly samples: readonly Buffer[];
}

/** The functions that read bytes from strangers. */
const TARGETS: Readonly<Record<string, Target>> = {
  ...Object.fromEntries(
    Object.entries(CODECS).map(([name, { decode, encode }]): [string, Target] => [
      name,
      {
        samples: everything,
        run: (bytes) => {
          const message = decode(bytes);
          // A message that could be decoded can be encoded, and is the same again.
          expect(decode(encode(message as never))).to.deep.equal(message);
        }
      }
    ])
  ),
  verify: {
    samples: signedRequests,
    run: (bytes) =>
      refuseTrust(
        bytes,
        signedRequests.some((request) => request.equals(bytes))
      )
  },
  certificate: {
    samples: certificates,
    run: (bytes) =>
      refuseTrust(
        signedWith(bytes),
        certificates.some((certificate) => certificate.equals(bytes))
      )
  },
  signedBytes: { samples: everything, run: signedBytes },
  rules: { samples: everything, run: (bytes) => checkPaymentRequest(decodePaymentRequest(bytes), { network: 'test', time: VALID_TIME }) },
  payment: { samples: everything, run: (bytes) => checkPayment(decodePayment(bytes), { outputs: [{ amount: 1n, script }], total: 1n }) },
  acknowledgement: { samples: everything, run: (bytes) => acknowledgePayment(bytes) },
  transaction: { samples: [transaction], run: parseTransaction },
  uri: {
    samples: [Buffer.from('abc?amount=20.3&label=Luke-Jr&r=https%3A%2F%2Fshop.example')],
    run: (bytes) => parseBitcoinUri(`bitcoin:${bytes.toString('latin1')}`)
  }
};

function refuseTrust(request: Buffer, unchanged: boolean): void {
  const { status } = verifyPaymentRequest(request, { roots, time: VALID_TIME, allowSha1: true });
  if (status === 'trusted') expect(unchanged).to.equal(true);
}

/** A request with a valid signature by the key of the certificate before the certificate was changed. */
function signedWith(certificate: Buffer): Buffer {
  const request = {
    pkiType: 'x509+sha256',
    pkiData: encodeX509Certificates({ certificate: [certificate, der('intermediate')] }),
    serializedPaymentDetails: Buffer.alloc(0),
    signature: Buffer.alloc(0)
  };
  return encodePaymentRequest({ ...request, signature: sign('sha256', encodePaymentRequest(request), signer) });
}

type Mutation = (bytes: Buffer) => Buffer;

const at = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
const piece = fc.uint8Array({ maxLength: 12 }).map((array) => Buffer.from(array));

/** Changes one place: other bytes, more bytes, fewer bytes, or the end of another sample. */
const mutation: Arbitrary<Mutation> = fc.oneof(
  fc.tuple(at, fc.integer({ min: 1, max: 255 })).map(([place, mask]): Mutation => (bytes) => {
    const copy = Buffer.from(bytes);
    const index = Math.floor(place * copy.length);
    if (copy.length > 0) copy.writeUInt8(copy.readUInt8(index) ^ mask, index);
    return copy;
  }),
  fc.tuple(at, at, piece).map(([from, length, inserted]): Mutation => (bytes) => {
    const start = Math.floor(from * bytes.length);
    return Buffer.concat([bytes.subarray(0, start), inserted, bytes.subarray(start + Math.floor(length * 8))]);
  }),
  fc.tuple(at, at, fc.constantFrom(...everything)).map(
    ([head, tail, other]): Mutation =>
      (bytes) =>
        Buffer.concat([bytes.subarray(0, Math.ceil(head * bytes.length)), other.subarray(Math.floor(tail * other.length))])
  )
);

const randomBytes = fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array));

const input = fc.constantFrom(...Object.entries(TARGETS)).chain(([name, { run, samples }]) => {
  const mutated = fc
    .tuple(fc.constantFrom(...samples), fc.array(mutation, { minLength: 1, maxLength: 4 }))
    .map(([sample, mutations]) => mutations.reduce((bytes, mutate) => mutate(bytes), sample));
  const bytes = fc.oneof({ weight: 1, arbitrary: randomBytes }, { weight: 4, arbitrary: mutated });
  return fc.record({ name: fc.constant(name), run: fc.constant(run), bytes });
});

describe('payments, with any bytes', () => {
  it(`throw only their own error, and trust nothing that was changed (${CASES} cases)`, () => {
    fc.assert(
      fc.property(input, ({ run, bytes }) => {
        try {
          run(bytes);
        } catch (error) {
          if (!(error instanceof PaymentError)) throw error;
        }
      }),
      { numRuns: CASES }
    );
  }).timeout(0);
});
