// Amounts: whole satoshis as bigint. They never pass through floating point.

export type Sats = bigint;

export type Unit = 'BTC' | 'sats';

const DECIMALS = 8;
const SATS_PER_BTC = 10n ** BigInt(DECIMALS);

/** Satoshis from a JSON reply: a whole number, or its digits where a number would be inexact. @throws RangeError for anything else */
export function satsOf(value: number | string): Sats {
  if (typeof value === 'number' && !Number.isSafeInteger(value)) throw new RangeError(`expected whole satoshis, got ${value}`);
  return BigInt(value);
}

/** Satoshis from a decimal number of bitcoins as text: `0.5`, `-1.00000001`, `1e-8`. @throws RangeError for any other text, or fractions of a satoshi */
export function satsOfBtc(text: string): Sats {
  const [, sign, whole = '', part = '', exponent = '0'] = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,2}))?$/.exec(text) ?? [];
  if (sign === undefined) throw new RangeError(`expected an amount, got ${text}`);
  const shift = DECIMALS + Number(exponent) - part.length;
  const digits = BigInt(whole + part);
  const scale = 10n ** BigInt(Math.abs(shift));
  if (shift < 0 && digits % scale !== 0n) throw new RangeError(`expected whole satoshis, got ${text}`);
  const sats = shift < 0 ? digits / scale : digits * scale;
  return sign === '-' ? -sats : sats;
}

/** An amount in parts, of which the last one is of little interest: zeros at its end. `1,234.5` and `0000000`. */
export interface AmountText {
  readonly sign: '' | '−' | '+';
  readonly digits: string;
  readonly zeros: string;
  readonly unit: string;
}

/** `signed`: with a plus sign in front of what is more than zero. */
export function amountText(sats: Sats, unit: Unit, signed = false): AmountText {
  const absolute = sats < 0n ? -sats : sats;
  const sign = sats < 0n ? '−' : signed && sats > 0n ? '+' : '';
  if (unit === 'sats') return { sign, digits: grouped(absolute), zeros: '', unit: absolute === 1n ? 'sat' : 'sats' };
  const part = String(absolute % SATS_PER_BTC).padStart(DECIMALS, '0');
  const shown = part.replace(/0+$/, '');
  const whole = grouped(absolute / SATS_PER_BTC);
  return shown === ''
    ? { sign, digits: whole, zeros: `.${part}`, unit }
    : { sign, digits: `${whole}.${shown}`, zeros: part.slice(shown.length), unit };
}

/** As one text: `1,234.50000000 BTC`. */
export function amountLine(sats: Sats, unit: Unit): string {
  const { sign, digits, zeros, unit: name } = amountText(sats, unit);
  return `${sign}${digits}${zeros} ${name}`;
}

/** Digits in groups of three: `1,234,567`. */
export const grouped = (value: bigint | number): string => String(value).replace(/\B(?=(\d{3})+(?!\d))/g, ',');

/**
 * A JSON text with numbers that a double may not hold as texts: whole ones of 16 digits and more. `decimals`: also those with a decimal
 * point, or an exponent, as amounts of Bitcoin Core are.
 */
export function parseExactly(json: string, { decimals = false } = {}): unknown {
  if (!decimals && !/[[:,]\s*-?\d{16}/.test(json)) return JSON.parse(json);
  return JSON.parse(
    json.replace(/"(?:[^"\\]|\\.)*"|-?\d+(\.\d+)?([eE][+-]?\d+)?/g, (token, part?: string, exponent?: string) => {
      if (token.startsWith('"')) return token;
      const isDecimal = part !== undefined || exponent !== undefined;
      return isDecimal ? (decimals ? `"${token}"` : token) : token.length >= 16 ? `"${token}"` : token;
    })
  );
}
