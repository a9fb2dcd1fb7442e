// The six payment messages (contract 2.8, BIP70) as TypeScript sees them, each with its
// decoder and encoder. A property that is absent was not in the message; the schema's
// default then applies and stands in DEFAULTS. Hashing and signing never go through here
// twice: what was received is kept as bytes.

import { PaymentError } from './error';
import { decodeFields, encodeFields, messageType } from './schema';

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
  /** DER; the signer's first, each following one certifies the one before it. */
  readonly certificate: readonly Buffer[];
}

export interface Payment extends Extensible {
  readonly merchantData?: Buffer;
  /** Serialized as the network does. */
  readonly transactions: readonly Buffer[];
  readonly refundTo: readonly Output[];
  readonly memo?: string;
}

export interface PaymentACK extends Extensible {
  readonly payment: Payment;
  readonly memo?: string;
}

interface Codec<Message> {
  /**
   * @returns the message; its byte fields are views into `bytes`.
   * @throws PaymentError `too-large`, or `malformed` naming message and field.
   */
  readonly decode: (bytes: Uint8Array) => Message;
  /** @throws PaymentError `malformed` naming message and field, or `too-large`. */
  readonly encode: (message: Message) => Buffer;
}

function codec<Message extends object>(name: string, maxSize: number): Codec<Message> {
  const type = messageType(name);
  const limit = (bytes: Uint8Array): void => {
    if (bytes.length > maxSize) {
      throw new PaymentError('too-large', `${name}: at most ${maxSize} bytes expected, ${bytes.length} came.`);
    }
  };
  return {
    decode: (bytes) => {
      limit(bytes);
      // The schema is what the interfaces above say; test/payments/schema.test.ts holds them together.
      return decodeFields(type, bytes) as unknown as Message;
    },
    encode: (message) => {
      const bytes = encodeFields(type, message);
      limit(bytes);
      return bytes;
    }
  };
}

// What travels inside a PaymentRequest cannot be larger than it.
export const { decode: decodeOutput, encode: encodeOutput } = codec<Output>('Output', MAX_PAYMENT_REQUEST_SIZE);
export const { decode: decodePaymentDetails, encode: encodePaymentDetails } = codec<PaymentDetails>('PaymentDetails', MAX_PAYMENT_REQUEST_SIZE);
export const { decode: decodePaymentRequest, encode: encodePaymentRequest } = codec<PaymentRequest>('PaymentRequest', MAX_PAYMENT_REQUEST_SIZE);
export const { decode: decodeX509Certificates, encode: encodeX509Certificates } = codec<X509Certificates>('X509Certificates', MAX_PAYMENT_REQUEST_SIZE);
export const { decode: decodePayment, encode: encodePayment } = codec<Payment>('Payment', MAX_PAYMENT_SIZE);
export const { decode: decodePaymentACK, encode: encodePaymentACK } = codec<PaymentACK>('PaymentACK', MAX_PAYMENT_ACK_SIZE);
