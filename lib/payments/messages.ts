// The six payment messages (BIP70) as TypeScript types, each with its decoder and encoder. An absent property was not in the
// message: the schema's default, which is in DEFAULTS, applies. Hashes and signatures are over the bytes as received, never over
// a second encoding.

import { Writer } from 'protobufjs';
import { PaymentError } from './error';
import { codec } from './schema';

/** Bytes; BIP70 lets a receiver refuse anything larger. */
export const MAX_PAYMENT_REQUEST_SIZE = 50_000;
export const MAX_PAYMENT_SIZE = 50_000;
export const MAX_PAYMENT_ACK_SIZE = 60_000;

/** What an absent field means. */
export const DEFAULTS = {
  amount: 0n,
  network: 'main',
  paymentDetailsVersion: 1,
  pkiType: 'none'
} as const;

interface Extensible {
  /** Fields that the schema does not know (extensions are 100 and above), tag included, as received. */
  readonly unknownFields?: readonly Buffer[];
}

export interface Output extends Extensible {
  /** Satoshis. */
  readonly amount?: bigint;
  readonly script: Buffer;
}

export interface PaymentDetails extends Extensible {
  /** `main` or `test`. */
  readonly network?: string;
  readonly outputs: readonly Output[];
  /** Unix seconds. */
  readonly time: bigint;
  readonly expires?: bigint;
  readonly memo?: string;
  readonly paymentUrl?: string;
  readonly merchantData?: Buffer;
}

export interface PaymentRequest extends Extensible {
  readonly paymentDetailsVersion?: number;
  /** `none`, `x509+sha256` or `x509+sha1`. */
  readonly pkiType?: string;
  /** For the X.509 types a serialized X509Certificates. */
  readonly pkiData?: Buffer;
  readonly serializedPaymentDetails: Buffer;
  readonly signature?: Buffer;
}

export interface X509Certificates extends Extensible {
  /** DER: the signer's certificate first; each of the others certifies the one before it. */
  readonly certificate: readonly Buffer[];
}

export interface Payment extends Extensible {
  readonly merchantData?: Buffer;
  /** In the serialization of the Bitcoin network. */
  readonly transactions: readonly Buffer[];
  readonly refundTo: readonly Output[];
  readonly memo?: string;
}

export interface PaymentACK extends Extensible {
  readonly payment: Payment;
  readonly memo?: string;
}

// A message inside a PaymentRequest cannot be larger than the request.
export const { decode: decodeOutput, encode: encodeOutput } = codec<Output>('Output', MAX_PAYMENT_REQUEST_SIZE);
export const { decode: decodePaymentDetails, encode: encodePaymentDetails } = codec<PaymentDetails>(
  'PaymentDetails',
  MAX_PAYMENT_REQUEST_SIZE
);
export const { decode: decodePaymentRequest, encode: encodePaymentRequest } = codec<PaymentRequest>(
  'PaymentRequest',
  MAX_PAYMENT_REQUEST_SIZE
);
export const { decode: decodeX509Certificates, encode: encodeX509Certificates } = codec<X509Certificates>(
  'X509Certificates',
  MAX_PAYMENT_REQUEST_SIZE
);
export const { decode: decodePayment, encode: encodePayment } = codec<Payment>('Payment', MAX_PAYMENT_SIZE);
export const { decode: decodePaymentACK, encode: encodePaymentACK } = codec<PaymentACK>('PaymentACK', MAX_PAYMENT_ACK_SIZE);

const PAYMENT_TAG = (1 << 3) | 2;
const MEMO_TAG = (2 << 3) | 2;

/**
 * The PaymentACK that answers a Payment. The Payment in it has the very bytes that were received, with unknown fields and in their order.
 * @param payment as received.
 * @param memo for the customer.
 * @returns the serialized PaymentACK.
 * @throws PaymentError `malformed` when it is not a Payment, `too-large` when the ACK would be too large.
 */
export function acknowledgePayment(payment: Buffer, memo?: string): Buffer {
  decodePayment(payment);
  const writer = Writer.create().uint32(PAYMENT_TAG).bytes(payment);
  if (memo !== undefined) writer.uint32(MEMO_TAG).string(memo);
  const bytes = Buffer.from(writer.finish());
  if (bytes.length > MAX_PAYMENT_ACK_SIZE) {
    throw new PaymentError('too-large', `PaymentACK: at most ${MAX_PAYMENT_ACK_SIZE} bytes expected, ${bytes.length} would go.`);
  }
  return bytes;
}
