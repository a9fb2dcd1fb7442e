// An order as JSON, as a shop sends it:
//   {"outputs": [{"amount": 150000, "script": "0014..."}], "memo": "Two mugs", "expires": 1800000000,
//    "merchant_url": "https://shop.example/cart/7", "notify_url": "https://shop.example/paid"}
// Amounts are in satoshis, scripts in hex, `expires` in Unix seconds; all but the outputs is optional. Unknown fields are refused,
// because they may be misspelt.

import { isUtf8 } from 'node:buffer';
import { PaymentError, messageOf } from '../../payments/error';
import { checkAsked } from '../../payments/rules/request';
import { isWebUrl } from '../../payments/web-url';
import type { Output } from '../../payments/messages';

/** The outputs to be paid. Use a new script for every order: it tells payments apart. */
export interface Order {
  readonly outputs: readonly Output[];
  readonly memo?: string;
  /** Unix seconds. */
  readonly expires?: bigint;
  /** Where the page of the order sends the customer back to: http or https. */
  readonly merchantUrl?: string;
  /** Who is told of each change of the order's status: http or https, at an origin that the operator has allowed. */
  readonly notifyUrl?: string;
}

/** Fewer than the outputs that are remembered of what an order has received: several may pay one of these. */
export const MOST_OUTPUTS = 100;

/** Characters of a URL in an order. */
const MOST_URL_CHARACTERS = 2_000;

/**
 * @param notifyOrigins the origins at which an order's `notify_url` may be.
 * @throws PaymentError `unpayable`, `expired`, or `malformed` for an expiry that must be a mistake or a URL that may not be used.
 */
export function checkOrder(order: Order, now: Date, notifyOrigins: readonly string[]): void {
  if (order.outputs.length > MOST_OUTPUTS)
    throw new PaymentError('unpayable', `At most ${MOST_OUTPUTS} outputs expected, ${order.outputs.length} came.`);
  checkAsked(order, now);
  if (order.merchantUrl !== undefined) webUrl('merchant_url', order.merchantUrl);
  if (order.notifyUrl !== undefined) checkNotifyUrl(order.notifyUrl, notifyOrigins);
}

/** A request goes out to this URL by itself, so the operator says where to. */
function checkNotifyUrl(text: string, origins: readonly string[]): void {
  const { origin, username, password } = webUrl('notify_url', text);
  if (username !== '' || password !== '') throw malformed('notify_url', 'a URL without user and password');
  if (origins.includes(origin)) return;
  const allowed = origins.length === 0 ? 'this merchant notifies nobody' : `a URL at ${origins.join(' or ')} expected`;
  throw new PaymentError('malformed', `Order: notify_url: ${allowed}, one at ${origin.slice(0, 100)} came.`);
}

function webUrl(name: string, text: string): URL {
  if (text.length > MOST_URL_CHARACTERS || !isWebUrl(text))
    throw malformed(name, `an http or https URL of at most ${MOST_URL_CHARACTERS} characters`);
  return new URL(text);
}

/** @throws PaymentError `malformed` naming the field. */
export function parseOrder(body: Buffer): Order {
  const fields = parseObject(body);
  refuseUnknown('Order', fields, ['outputs', 'memo', 'expires', 'merchant_url', 'notify_url']);
  const { outputs, memo, expires, merchant_url: merchantUrl, notify_url: notifyUrl } = fields;
  if (!Array.isArray(outputs)) throw malformed('outputs', 'an array');
  // Half of a surrogate pair has no UTF-8.
  if (memo !== undefined && (typeof memo !== 'string' || /\p{Surrogate}/u.test(memo))) throw malformed('memo', 'text');
  if (merchantUrl !== undefined && typeof merchantUrl !== 'string') throw malformed('merchant_url', 'text');
  if (notifyUrl !== undefined && typeof notifyUrl !== 'string') throw malformed('notify_url', 'text');
  return {
    outputs: outputs.map(parseOutput),
    ...(memo !== undefined && { memo }),
    ...(expires !== undefined && { expires: parseInteger('expires', expires) }),
    ...(merchantUrl !== undefined && { merchantUrl }),
    ...(notifyUrl !== undefined && { notifyUrl })
  };
}

function parseObject(body: Buffer): Record<string, unknown> {
  // The memo is shown to the customer, and signed.
  if (!isUtf8(body)) throw malformed('the body', 'UTF-8');
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
