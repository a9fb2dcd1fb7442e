// Every message with its codec and an arbitrary for random messages, extensions included.

import fc, { type Arbitrary } from 'fast-check';
import { Writer } from 'protobufjs';
import * as messages from '../../lib/payments/messages';

export interface AnyCodec {
  readonly decode: (bytes: Uint8Array) => unknown;
  readonly encode: (message: never) => Buffer;
  readonly message: Arbitrary<object>;
}

const bytes = fc.uint8Array({ maxLength: 40 }).map((array) => Buffer.from(array));
const text = fc.string({ unit: 'grapheme', maxLength: 20 });
const uint64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });

/** One field in its encoding. */
const extension = fc.tuple(fc.integer({ min: 100, max: 536870911 }), fc.oneof(uint64, bytes)).map(([number, value]) => {
  const writer = Writer.create();
  if (typeof value === 'bigint') writer.uint32((number << 3) >>> 0).uint64(value.toString());
  else writer.uint32(((number << 3) | 2) >>> 0).bytes(value);
  return Buffer.from(writer.finish());
});
const unknownFields = fc.array(extension, { minLength: 1, maxLength: 3 });

/** Optional properties are absent about half the time, never undefined (exactOptionalPropertyTypes). */
function record(required: Record<string, Arbitrary<unknown>>, optional: Record<string, Arbitrary<unknown>>): Arbitrary<object> {
  const fields: Record<string, Arbitrary<unknown>> = { ...required, ...optional, unknownFields };
  return fc.record(fields, { requiredKeys: Object.keys(required) });
}

const output = record({ script: bytes }, { amount: uint64 });
const payment = record(
  { transactions: fc.array(bytes, { maxLength: 4 }), refundTo: fc.array(output, { maxLength: 3 }) },
  { merchantData: bytes, memo: text }
);

export const CODECS: Readonly<Record<string, AnyCodec>> = {
  Output: { decode: messages.decodeOutput, encode: messages.encodeOutput, message: output },
  PaymentDetails: {
    decode: messages.decodePaymentDetails,
    encode: messages.encodePaymentDetails,
    message: record(
      { outputs: fc.array(output, { maxLength: 4 }), time: uint64 },
      { network: text, expires: uint64, memo: text, paymentUrl: text, merchantData: bytes }
    )
  },
  PaymentRequest: {
    decode: messages.decodePaymentRequest,
    encode: messages.encodePaymentRequest,
    message: record(
      { serializedPaymentDetails: bytes },
      { paymentDetailsVersion: fc.integer({ min: 0, max: 2 ** 32 - 1 }), pkiType: text, pkiData: bytes, signature: bytes }
    )
  },
  X509Certificates: {
    decode: messages.decodeX509Certificates,
    encode: messages.encodeX509Certificates,
    message: record({ certificate: fc.array(bytes, { maxLength: 4 }) }, {})
  },
  Payment: { decode: messages.decodePayment, encode: messages.encodePayment, message: payment },
  PaymentACK: { decode: messages.decodePaymentACK, encode: messages.encodePaymentACK, message: record({ payment }, { memo: text }) }
};

export function codecOf(name: string): AnyCodec {
  const codec = CODECS[name];
  if (!codec) throw new Error(`no codec for ${name}`);
  return codec;
}
