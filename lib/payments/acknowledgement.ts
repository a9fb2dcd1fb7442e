// The PaymentACK that answers a Payment. The Payment goes back in the very bytes that it
// came in, unknown fields, order and all.

import { Writer } from 'protobufjs';
import { PaymentError } from './error';
import { MAX_PAYMENT_ACK_SIZE, decodePayment } from './messages';

const PAYMENT_TAG = 1 << 3 | 2;
const MEMO_TAG = 2 << 3 | 2;

/**
 * @param payment the Payment as received.
 * @param memo for the customer.
 * @returns the serialized PaymentACK.
 * @throws PaymentError `malformed` when it is no Payment, `too-large` when the ACK would be.
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
