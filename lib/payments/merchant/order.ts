// An order as JSON, how a shop states it:
//   {"outputs": [{"amount": 150000, "script": "0014..."}], "memo": "Two mugs", "expires": 1800000000}
// Amounts in satoshis, scripts in hex, `expires` in Unix seconds; memo and expires may be
// left out.

import { PaymentError, messageOf } from '../error';
import type { Output } from '../messages';
import type { Order } from './merchant';

/** @throws PaymentError `malformed` naming the field. */
export function parseOrder(body: Buffer): Order {
  const { outputs, memo, expires } = parseObject(body);
  if (!Array.isArray(outputs)) throw malformed('outputs', 'an array');
  if (memo !== undefined && typeof memo !== 'string') throw malformed('memo', 'text');
  return {
    outputs: outputs.map(parseOutput),
    ...memo !== undefined && { memo },
    ...expires !== undefined && { expires: parseInteger('expires', expires) }
  };
}

function parseObject(body: Buffer): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(body.toString());
  } catch (error) {
    throw new PaymentError('malformed', `An order in JSON expected: ${messageOf(error)}.`, { cause: error });
  }
  if (typeof value !== 'object' || value === null) throw malformed('the body', 'an object');
  return value as Record<string, unknown>;
}

function parseOutput(value: unknown, index: number): Output {
  const name = `outputs[${index}]`;
  if (typeof value !== 'object' || value === null) throw malformed(name, 'an object');
  const { amount, script } = value as Record<string, unknown>;
  if (typeof script !== 'string' || !/^([0-9a-f]{2})+$/i.test(script)) throw malformed(`${name}.script`, 'hex');
  return { amount: parseInteger(`${name}.amount`, amount), script: Buffer.from(script, 'hex') };
}

function parseInteger(name: string, value: unknown): bigint {
  if (!Number.isSafeInteger(value) || (value as number) < 0) throw malformed(name, 'a whole number from 0');
  return BigInt(value as number);
}

function malformed(name: string, expected: string): PaymentError {
  return new PaymentError('malformed', `Order: ${name}: ${expected} expected.`);
}
