// An order as JSON, as a shop sends it:
//   {"outputs": [{"amount": 150000, "script": "0014..."}], "memo": "Two mugs", "expires": 1800000000}
// Amounts are in satoshis, scripts in hex, `expires` in Unix seconds; `memo` and `expires` are optional. Unknown fields are refused,
// because they may be misspelt.

import { PaymentError, messageOf } from '../../payments/error';
import type { Output } from '../../payments/messages';
import { isUnspendable } from '../../payments/rules/amount';
import { checkExpiry, payableOutputs } from '../../payments/rules/request';

/** The outputs to be paid. Use a new script for every order: it tells payments apart. */
export interface Order {
  readonly outputs: readonly Output[];
  readonly memo?: string;
  /** Unix seconds. */
  readonly expires?: bigint;
}

/** In the year 5138. The same number in milliseconds is in 1973, so a time in milliseconds is refused. */
const LATEST_EXPIRY = 100_000_000_000n;

/** @throws PaymentError `unpayable`, `expired`, or `malformed` for an expiry that must be a mistake. */
export function checkOrder(order: Order, now: Date): void {
  payableOutputs(order);
  if (order.outputs.some(({ script }) => isUnspendable(script))) {
    throw new PaymentError('unpayable', 'Outputs that can be spent expected, one came that nobody ever can (OP_RETURN).');
  }
  checkExpiry(order, now);
  if (order.expires !== undefined && order.expires > LATEST_EXPIRY) {
    throw new PaymentError('malformed', `Order: expires: Unix seconds expected, ${order.expires} came (milliseconds?).`);
  }
}

/** @throws PaymentError `malformed` naming the field. */
export function parseOrder(body: Buffer): Order {
  const fields = parseObject(body);
  refuseUnknown('Order', fields, ['outputs', 'memo', 'expires']);
  const { outputs, memo, expires } = fields;
  if (!Array.isArray(outputs)) throw malformed('outputs', 'an array');
  if (memo !== undefined && typeof memo !== 'string') throw malformed('memo', 'text');
  return {
    outputs: outputs.map(parseOutput),
    ...(memo !== undefined && { memo }),
    ...(expires !== undefined && { expires: parseInteger('expires', expires) })
  };
}

function parseObject(body: Buffer): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(body.toString());
  } catch (error) {
    throw new PaymentError('malformed', `An order in JSON expected: ${messageOf(error)}.`, { cause: error });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw malformed('the body', 'an object');
  return value as Record<string, unknown>;
}

function parseOutput(value: unknown, index: number): Output {
  const name = `outputs[${index}]`;
  if (typeof value !== 'object' || value === null) throw malformed(name, 'an object');
  refuseUnknown(`Order: ${name}`, value, ['amount', 'script']);
  const { amount, script } = value as Record<string, unknown>;
  if (typeof script !== 'string' || !/^([0-9a-f]{2})+$/i.test(script)) throw malformed(`${name}.script`, 'hex');
  return { amount: parseInteger(`${name}.amount`, amount), script: Buffer.from(script, 'hex') };
}

function refuseUnknown(place: string, value: object, known: readonly string[]): void {
  const unknown = Object.keys(value).find((field) => !known.includes(field));
  if (unknown === undefined) return;
  throw new PaymentError('malformed', `${place}: ${known.join(', ')} expected, ${JSON.stringify(unknown.slice(0, 40))} came.`);
}

function parseInteger(name: string, value: unknown): bigint {
  if (!Number.isSafeInteger(value) || (value as number) < 0) throw malformed(name, 'a whole number from 0');
  return BigInt(value as number);
}

function malformed(name: string, expected: string): PaymentError {
  return new PaymentError('malformed', `Order: ${name}: ${expected} expected.`);
}
