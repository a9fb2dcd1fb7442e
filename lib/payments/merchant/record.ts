// A stored request and its JSON. Bytes are hex, txids in display order, satoshis decimal
// text. Read strictly: a damaged record is refused whole, never taken for less and then
// written back.

import { messageOf } from '../error';
import { decodePaymentDetails, decodePaymentRequest, type Output, type PaymentDetails } from '../messages';
import { displayTxid } from '../rules/transaction';

/** A Payment that was taken. Without acknowledgement, its broadcast has not been seen to succeed. */
export interface StoredPayment {
  readonly receivedAt: Date;
  /** As received. */
  readonly payment: Buffer;
  /** Wire order. */
  readonly txids: readonly Buffer[];
  /** Recorded for the merchant; nothing is ever paid back automatically. */
  readonly refundTo: readonly Output[];
  /** As sent. */
  readonly acknowledgement?: Buffer;
}

export interface StoredRequest {
  readonly id: string;
  readonly createdAt: Date;
  /** The PaymentRequest as it is served. */
  readonly request: Buffer;
  /** In the order they came; more than one only when the chain forgot those before, or knows them in part. */
  readonly payments: readonly StoredPayment[];
}

/** What is stored cannot be read; the message says where and why. It is left as it is. */
export class DamagedRecordError extends Error {
  override readonly name = 'DamagedRecordError';
}

/** The details of a stored request, as they were sent. */
export function detailsOf({ request }: Pick<StoredRequest, 'request'>): PaymentDetails {
  return decodePaymentDetails(decodePaymentRequest(request).serializedPaymentDetails);
}

export function writeRecord({ createdAt, request, payments }: StoredRequest): object {
  return {
    createdAt: createdAt.toISOString(),
    request: request.toString('hex'),
    payments: payments.map(({ receivedAt, payment, txids, refundTo, acknowledgement }) => ({
      receivedAt: receivedAt.toISOString(),
      payment: payment.toString('hex'),
      txids: txids.map(displayTxid),
      refundTo: refundTo.map(({ amount, script }) => ({
        ...amount !== undefined && { amount: amount.toString() },
        script: script.toString('hex')
      })),
      ...acknowledgement && { acknowledgement: acknowledgement.toString('hex') }
    }))
  };
}

/** @throws Error saying what is wrong with the JSON. */
export function readRecord(id: string, json: unknown): StoredRequest {
  const { createdAt, request, payments } = objectOf(json);
  const stored = { id, createdAt: dateOf(createdAt), request: bytesOf(request), payments: listOf(payments).map(paymentOf) };
  detailsOf(stored);
  return stored;
}

/**
 * @param name of the record, for the message.
 * @throws DamagedRecordError when the bytes are no JSON, or `read` throws.
 */
export function undamaged<Value>(name: string, bytes: Buffer, read: (json: unknown) => Value): Value {
  try {
    return read(JSON.parse(bytes.toString()));
  } catch (error) {
    throw new DamagedRecordError(`The record ${name} is damaged: ${messageOf(error)}`, { cause: error });
  }
}

export function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('an object expected');
  return value as Record<string, unknown>;
}

function paymentOf(value: unknown): StoredPayment {
  const { receivedAt, payment, txids, refundTo, acknowledgement } = objectOf(value);
  return {
    receivedAt: dateOf(receivedAt),
    payment: bytesOf(payment),
    txids: listOf(txids).map((txid) => Buffer.from(bytesOf(txid)).reverse()),
    refundTo: listOf(refundTo).map(outputOf),
    ...acknowledgement !== undefined && { acknowledgement: bytesOf(acknowledgement) }
  };
}

function outputOf(value: unknown): Output {
  const { amount, script } = objectOf(value);
  return { ...amount !== undefined && { amount: BigInt(textOf(amount)) }, script: bytesOf(script) };
}

function listOf(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new Error('a list expected');
  return value;
}

function textOf(value: unknown): string {
  if (typeof value !== 'string') throw new Error('text expected');
  return value;
}

function dateOf(value: unknown): Date {
  const date = new Date(textOf(value));
  if (Number.isNaN(date.getTime())) throw new Error('a time expected');
  return date;
}

/** Buffer.from alone would stop at the first character that is not hex. */
function bytesOf(value: unknown): Buffer {
  const text = textOf(value);
  const bytes = Buffer.from(text, 'hex');
  if (bytes.length * 2 !== text.length) throw new Error('hex expected');
  return bytes;
}
