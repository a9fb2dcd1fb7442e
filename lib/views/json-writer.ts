// JSON text under construction, as Bitcoin Core 0.17 (UniValue) prints it: no spaces,
// doubles with 16 significant digits, hashes reversed.

import { TextWriter } from '../bitcoin/text-writer';

/** Characters of JSON by their codes. */
export const QUOTE = 0x22;
export const COMMA = 0x2c;
export const COLON = 0x3a;
export const ARRAY_START = 0x5b;
export const ARRAY_END = 0x5d;
export const OBJECT_START = 0x7b;
export const OBJECT_END = 0x7d;
export const LINE_FEED = 0x0a;

/** Significant digits of a double: what C++ prints with setprecision(16). */
const PRECISION = 16;

/** Enough digits to tell any double from a tie between two roundings. */
const EXACT_DIGITS = 100;

/** UniValue's escapes; every other control character and DEL is \u00xx. */
const ESCAPES: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t'
};

const DEL = '\u007f';

/** The first `PRECISION` digits of a positive double, and its decimal exponent; ties go to the even digit, as in C. */
function roundedDigits(value: number): { digits: string; exponent: number } {
  const rounded = parseDigits(value.toExponential(PRECISION - 1));
  // JavaScript rounds ties up. Only if this gives an odd last digit, and one more digit is a 5, may the double have been a tie.
  if (Number(rounded.digits[PRECISION - 1]) % 2 === 0 || !value.toExponential(PRECISION).includes('5e')) return rounded;
  const { digits, exponent } = parseDigits(value.toExponential(EXACT_DIGITS));
  return /^50*$/.test(digits.slice(PRECISION)) ? { digits: digits.slice(0, PRECISION), exponent } : rounded;
}

function parseDigits(exponential: string): { digits: string; exponent: number } {
  const [mantissa = '', exponent = ''] = exponential.split('e');
  return { digits: mantissa.replace('.', ''), exponent: Number(exponent) };
}

/** A finite double as C's `%.16g` prints it. */
export function doubleText(value: number): string {
  if (value < 0) return `-${doubleText(-value)}`;
  if (value === 0) return '0';
  const { digits, exponent } = roundedDigits(value);
  const significant = digits.replace(/0+$/, '');
  const [first = '', rest] = [significant[0], significant.slice(1)];
  if (exponent < -4 || exponent >= PRECISION) {
    const sign = exponent < 0 ? '-' : '+';
    return `${first}${rest === '' ? '' : `.${rest}`}e${sign}${String(Math.abs(exponent)).padStart(2, '0')}`;
  }
  if (exponent < 0) return `0.${'0'.repeat(-exponent - 1)}${significant}`;
  const whole = significant.slice(0, exponent + 1).padEnd(exponent + 1, '0');
  const fraction = significant.slice(exponent + 1);
  return fraction === '' ? whole : `${whole}.${fraction}`;
}

/** Control characters beyond ASCII are left as they are. */
function escaped(character: string): string {
  if (character > DEL) return character;
  return ESCAPES[character] ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

export class JsonWriter extends TextWriter {
  /** A string in quotes, escaped; any text. */
  string(text: string): void {
    this.utf8(`"${text.replace(/["\\\p{Cc}]/gu, escaped)}"`);
  }

  /** Bytes as a hex string in quotes. */
  hexString(bytes: Buffer): void {
    this.char(QUOTE);
    this.hex(bytes);
    this.char(QUOTE);
  }

  /** The 32 bytes of a hash from `start`, reversed, in quotes. */
  hashString(bytes: Buffer, start?: number): void {
    this.char(QUOTE);
    this.displayHex(bytes, start);
    this.char(QUOTE);
  }

  /** A chain's work as 64 hex digits in quotes. */
  workString(work: bigint): void {
    this.ascii(`"${work.toString(16).padStart(64, '0')}"`);
  }

  /** The text with which a field begins, then an integer. The next two methods do likewise. */
  integerField(beginning: string, value: number): void {
    this.ascii(beginning);
    this.integer(value);
  }

  amountField(beginning: string, satoshis: number): void {
    this.ascii(beginning);
    this.amount(satoshis);
  }

  hashField(beginning: string, bytes: Buffer, start?: number): void {
    this.ascii(beginning);
    this.hashString(bytes, start);
  }

  /** A finite double with 16 significant digits, as C's `%.16g` prints it. */
  double(value: number): void {
    this.ascii(doubleText(value));
  }

  boolean(value: boolean): void {
    this.ascii(value ? 'true' : 'false');
  }
}
