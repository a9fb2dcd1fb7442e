// Amounts as clients of Bitcoin Core's calls write them: bitcoins, in a number or a string.

import { MAX_MONEY, SATOSHIS_PER_COIN } from '../../bitcoin/consensus';
import { invalidParameter, typeError } from '../errors';

const AMOUNT_DECIMALS = 8;
/** Of satoshis, as Bitcoin Core reads them. */
const MOST_DIGITS = 18;

/** Satoshis; `fallback` if there is no value. @throws CallError -3 */
export function amountOf(value: unknown, fallback: number): number {
  if (value === undefined || value === null) return fallback;
  if (typeof value !== 'number' && typeof value !== 'string') throw typeError('Amount is not a number or string');
  const satoshis = parseAmount(String(value));
  if (satoshis === undefined) throw typeError('Invalid amount');
  if (satoshis < 0 || satoshis > MAX_MONEY) throw typeError('Amount out of range');
  return satoshis;
}

/** Satoshis per 1,000 virtual bytes (ParseFeeRate); `fallback` if there is no value. @throws CallError -3, -8 */
export function feeRateOf(value: unknown, fallback: number): number {
  const rate = amountOf(value, fallback);
  if (rate >= SATOSHIS_PER_COIN) throw invalidParameter('Fee rates larger than or equal to 1BTC/kvB are not accepted');
  return rate;
}

/** Decimal digits to satoshis without floating point (ParseFixedPoint). Undefined if this is no amount, or has more than 8 decimals. */
function parseAmount(text: string): number | undefined {
  const [, sign, whole = '', fraction = '', exponent = '0'] = /^(-?)(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  if (sign === undefined) return undefined;
  const digits = `${whole === '0' ? '' : whole}${fraction}`;
  let end = digits.length;
  while (digits[end - 1] === '0') end--;
  const shift = digits.length - end - fraction.length + Number(exponent) + AMOUNT_DECIMALS;
  const significant = digits.slice(0, end).replace(/^0+/, '');
  if (shift < 0 || shift >= MOST_DIGITS || significant.length + shift > MOST_DIGITS) return undefined;
  const size = Number(`${significant}${'0'.repeat(shift)}`);
  return sign === '' ? size : 0 - size;
}
