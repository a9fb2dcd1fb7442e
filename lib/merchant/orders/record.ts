// A stored request and its JSON. Bytes are hex, txids and block hashes are in display order, satoshis are decimal text. Reading is strict:
// a damaged record is refused as a whole, because otherwise it would be read in part and then written back.

import { messageOf } from '../../payments/error';
import { decodePayment, decodePaymentDetails, decodePaymentRequest, type Output, type PaymentDetails } from '../../payments/messages';
import { transactionsIn } from '../../payments/rules/payment';
import { displayTxid } from '../../payments/rules/transaction';
import type { ConfirmingBlock } from './chain';

/** The decision on a Payment that does not settle its request. */
export type PaymentOutcome =
  /** `code`: that of the PaymentError; `reason`: what the wallet was told. */
  | { readonly decision: 'refused'; readonly code: string; readonly reason: string }
  /** What pays in it had paid in another Payment that was acknowledged; this one was acknowledged too. */
  | { readonly decision: 'repeated' };

/**
 * A Payment that came. Without `outcome` it settles the request. If it has no `acknowledgement` either, it is not known whether its
 * broadcast succeeded.
 */
export interface StoredPayment {
  readonly receivedAt: Date;
  /** As received. */
  readonly payment: Buffer;
  /** Wire order; empty if its transactions could not be parsed. */
  readonly txids: readonly Buffer[];
  /** Recorded for the merchant; nothing is ever paid back automatically. */
  readonly refundTo: readonly Output[];
  /** As sent. */
  readonly acknowledgement?: Buffer;
  readonly outcome?: PaymentOutcome;
  /** The blocks in which its transactions were seen, by txid in display order. */
  readonly seenIn: ReadonlyMap<string, ConfirmingBlock>;
}

/** An output in a block that pays to a script of the request, with or without a Payment. */
export interface Receipt {
  /** Wire order. */
  readonly txid: Buffer;
  readonly index: number;
  /** Satoshis. */
  readonly amount: bigint;
  readonly script: Buffer;
  readonly block: ConfirmingBlock;
  /** When it was found in the block. */
  readonly receivedAt: Date;
}

export interface StoredRequest {
  readonly id: string;
  readonly createdAt: Date;
  /** The PaymentRequest as it is served. */
  readonly request: Buffer;
  /** In the order in which they came. A later one can settle the request only if other transactions spent the coins of those before. */
  readonly payments: readonly StoredPayment[];
  readonly received: readonly Receipt[];
  /** As in the order. */
  readonly merchantUrl?: string;
  readonly notifyUrl?: string;
}

// A stranger can send any number of Payments that settle nothing. For one request only this many are recorded, with this many bytes
// together as received, and only for this long unless money has come with them.
const MOST_UNSETTLING_PAYMENTS = 8;
const MOST_UNSETTLING_BYTES = 100_000;
const LONGEST_UNPAID_MS = 90 * 24 * 3_600_000;

/** A record cannot be read; the message says which one and why. The record is left as it is. */
export class DamagedRecordError extends Error {
  override readonly name = 'DamagedRecordError';
}

/** The details of a stored request, as they were sent. */
export function detailsOf({ request }: Pick<StoredRequest, 'request'>): PaymentDetails {
  return decodePaymentDetails(decodePaymentRequest(request).serializedPaymentDetails);
}

/** The Payments that settle a request, or are about to. */
export function settling({ payments }: Pick<StoredRequest, 'payments'>): StoredPayment[] {
  return payments.filter(({ outcome }) => outcome === undefined);
}

/**
 * The Payments of a request that stay recorded. Those that settle the request always do. Payments that settle nothing are kept too:
 * their money may have come all the same, and they say where a refund would go. If there are too many, the first ones whose money has
 * come take precedence over the latest ones without money.
 */
export function recordedPayments(
  payments: readonly StoredPayment[],
  hasMoney: (payment: StoredPayment) => boolean,
  now: Date
): StoredPayment[] {
  const aside = payments.filter(({ outcome }) => outcome !== undefined);
  const paid = aside.filter(hasMoney);
  const unpaid = aside.filter((payment) => !paid.includes(payment) && now.getTime() - payment.receivedAt.getTime() <= LONGEST_UNPAID_MS);
  const recorded = new Set<StoredPayment>();
  let bytes = 0;
  for (const payment of [...paid, ...unpaid.reverse()]) {
    bytes += payment.payment.length;
    if (recorded.size >= MOST_UNSETTLING_PAYMENTS || bytes > MOST_UNSETTLING_BYTES) break;
    recorded.add(payment);
  }
  return payments.filter((payment) => payment.outcome === undefined || recorded.has(payment));
}

/** What `readRecord` reads, as a value for JSON. */
export function writeRecord({ createdAt, request, payments, received, merchantUrl, notifyUrl }: StoredRequest): object {
  return {
    createdAt: createdAt.toISOString(),
    request: request.toString('hex'),
    ...(merchantUrl !== undefined && { merchantUrl }),
    ...(notifyUrl !== undefined && { notifyUrl }),
    payments: payments.map(({ receivedAt, payment, txids, refundTo, acknowledgement, outcome, seenIn }) => ({
      receivedAt: receivedAt.toISOString(),
      payment: payment.toString('hex'),
      txids: txids.map(displayTxid),
      refundTo: refundTo.map(({ amount, script }) => ({
        ...(amount !== undefined && { amount: amount.toString() }),
        script: script.toString('hex')
      })),
      ...(acknowledgement && { acknowledgement: acknowledgement.toString('hex') }),
      ...(outcome && { outcome }),
      ...(seenIn.size > 0 && { seenIn: Array.from(seenIn, ([txid, block]) => ({ txid, ...writeBlock(block) })) })
    })),
    ...(received.length > 0 && {
      received: received.map(({ txid, index, amount, script, block, receivedAt }) => ({
        txid: displayTxid(txid),
        index,
        amount: amount.toString(),
        script: script.toString('hex'),
        receivedAt: receivedAt.toISOString(),
        ...writeBlock(block)
      }))
    })
  };
}

/** @throws Error saying what is wrong with the JSON. */
export function readRecord(id: string, json: unknown): StoredRequest {
  const { createdAt, request, payments, received = [], merchantUrl, notifyUrl } = objectOf(json);
  return {
    id,
    createdAt: dateOf(createdAt),
    request: requestOf(request),
    payments: listOf(payments).map(paymentOf),
    received: listOf(received).map(receiptOf),
    ...(merchantUrl !== undefined && { merchantUrl: textOf(merchantUrl) }),
    ...(notifyUrl !== undefined && { notifyUrl: textOf(notifyUrl) })
  };
}

/**
 * @param name of the record, for the message.
 * @throws DamagedRecordError when the bytes are not JSON, or `read` throws.
 */
export function undamaged<Value>(name: string, bytes: Buffer, read: (json: unknown) => Value): Value {
  try {
    return read(JSON.parse(bytes.toString()));
  } catch (error) {
    throw new DamagedRecordError(`The record ${name} is damaged: ${messageOf(error)}`, { cause: error });
  }
}

/** @throws Error for anything but an object */
export function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('an object expected');
  return value as Record<string, unknown>;
}

/** A PaymentRequest; it is decoded again whenever its details are looked up. */
function requestOf(value: unknown): Buffer {
  const request = bytesOf(value);
  detailsOf({ request });
  return request;
}

function paymentOf(value: unknown): StoredPayment {
  const { receivedAt, payment, txids, refundTo, acknowledgement, outcome, seenIn = [] } = objectOf(value);
  // A Payment that settles the request is decoded again whenever its standing is looked up.
  const isReadable = (): boolean => transactionsIn(decodePayment(bytesOf(payment))).length > 0;
  if (outcome === undefined && !isReadable()) throw new Error('a Payment with transactions expected');
  return {
    receivedAt: dateOf(receivedAt),
    payment: bytesOf(payment),
    txids: listOf(txids).map(hashOf),
    refundTo: listOf(refundTo).map(outputOf),
    ...(acknowledgement !== undefined && { acknowledgement: bytesOf(acknowledgement) }),
    ...(outcome !== undefined && { outcome: outcomeOf(outcome) }),
    seenIn: new Map(listOf(seenIn).map((seen) => [displayTxid(hashOf(objectOf(seen)['txid'])), readBlock(seen)]))
  };
}

function outcomeOf(value: unknown): PaymentOutcome {
  const { decision, code, reason } = objectOf(value);
  switch (decision) {
    case 'refused':
      return { decision, code: textOf(code), reason: textOf(reason) };
    case 'repeated':
      return { decision };
    default:
      throw new Error('a decision expected');
  }
}

function receiptOf(value: unknown): Receipt {
  const { txid, index, amount, script, receivedAt } = objectOf(value);
  return {
    txid: hashOf(txid),
    index: numberOf(index),
    amount: BigInt(textOf(amount)),
    script: bytesOf(script),
    block: readBlock(value),
    receivedAt: dateOf(receivedAt)
  };
}

/** A block as fields of a record of something in it. */
export function writeBlock({ height, hash }: ConfirmingBlock): object {
  return { height, block: displayTxid(hash) };
}

/** @throws Error for anything but a block as `writeBlock` writes it */
export function readBlock(value: unknown): ConfirmingBlock {
  const { height, block } = objectOf(value);
  return { height: numberOf(height), hash: hashOf(block) };
}

function outputOf(value: unknown): Output {
  const { amount, script } = objectOf(value);
  return { ...(amount !== undefined && { amount: BigInt(textOf(amount)) }), script: bytesOf(script) };
}

function listOf(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new Error('a list expected');
  return value;
}

function textOf(value: unknown): string {
  if (typeof value !== 'string') throw new Error('text expected');
  return value;
}

function numberOf(value: unknown): number {
  if (!Number.isSafeInteger(value) || (value as number) < 0) throw new Error('a whole number expected');
  return value as number;
}

/** From display order to wire order. */
function hashOf(value: unknown): Buffer {
  const bytes = bytesOf(value);
  if (bytes.length !== 32) throw new Error('a hash expected');
  return bytes.reverse();
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
