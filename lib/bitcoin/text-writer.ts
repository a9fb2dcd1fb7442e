// Text under construction, as ASCII bytes: scripts, addresses and amounts are printed into it. Strings would be built
// twice, once as text and once as the bytes that are sent.

import { SATOSHIS_PER_COIN } from './consensus';

const ZERO = 0x30;
const MINUS = 0x2d;
const POINT = 0x2e;
const COIN_DIGITS = 8;

const HEX_DIGITS = Buffer.from('0123456789abcdef', 'latin1');
const HIGH_DIGIT = Uint8Array.from({ length: 256 }, (_, byte) => HEX_DIGITS[byte >> 4] as number);
const LOW_DIGIT = Uint8Array.from({ length: 256 }, (_, byte) => HEX_DIGITS[byte & 15] as number);

/** Both digits of each byte in one 16-bit unit, in this machine's byte order. */
const DIGIT_PAIRS = new Uint16Array(256);
Buffer.from(DIGIT_PAIRS.buffer).set(
  Array.from({ length: 512 }, (_, digit) => (digit % 2 === 0 ? HIGH_DIGIT : LOW_DIGIT)[digit >> 1] as number)
);

/** From this number of bytes up, copying prepared digits is quicker than making them. */
const WORTH_COPYING = 12;

/** Bytes whose digits are prepared between two yields. */
const PREPARED_AT_ONCE = 0x1_0000;

/** Allocates at least `length` bytes, which are not zeroed. */
export type Allocate = (length: number) => Buffer;

/** Takes short texts from Node's shared pool, which costs less than a separate allocation. */
export const anyMemory: Allocate = (length) => Buffer.allocUnsafe(length);

/** A text that grows at its end, in a buffer that doubles when it is full. */
export class TextWriter {
  #buffer: Buffer;
  /** The memory of `#buffer` as 16-bit units; made when digits are first prepared. */
  #units: Uint16Array | undefined;
  #length = 0;
  /** Where the text must end: where the prepared digits begin, or at the end of the buffer. */
  #limit: number;
  /** Bytes whose digits are prepared, from `#preparedStart` to before `#preparedEnd`. */
  #prepared: Buffer | undefined;
  #preparedStart = 0;
  #preparedEnd = 0;
  readonly #allocate: Allocate;

  /** `capacity`: bytes after which it has to grow. */
  constructor(capacity = 1_024, allocate = anyMemory) {
    this.#allocate = allocate;
    this.#buffer = allocate(capacity);
    this.#limit = this.#buffer.length;
  }

  /** Bytes written so far. */
  get length(): number {
    return this.#length;
  }

  /** The buffer that has the text up to `length`. The next write may move the text to another one. */
  get memory(): Buffer {
    return this.#buffer;
  }

  /** Removes the last `count` bytes. */
  unwrite(count: number): void {
    this.#length -= count;
  }

  /** Text given as bytes, from `start` to before `end`. */
  bytes(text: Buffer, start: number, end: number): void {
    const at = this.#reserve(end - start);
    text.copy(this.#buffer, at, start, end);
  }

  /** Text that was written to this writer before, from `start` to before `end`. */
  again(start: number, end: number): void {
    const at = this.#reserve(end - start);
    this.#buffer.copyWithin(at, start, end);
  }

  /** One character by its code. */
  char(code: number): void {
    const at = this.#reserve(1);
    this.#buffer[at] = code;
  }

  /** Text of ASCII characters only. */
  ascii(text: string): void {
    const at = this.#reserve(text.length);
    const buffer = this.#buffer;
    for (let i = 0; i < text.length; i++) buffer[at + i] = text.charCodeAt(i);
  }

  /** Digits from `start` to before `end`, each as the character that the alphabet has for it. */
  digits(digits: Uint8Array, start: number, end: number, alphabet: Buffer): void {
    let at = this.#reserve(end - start);
    const buffer = this.#buffer;
    for (let i = start; i < end; i++) buffer[at++] = alphabet[digits[i] as number] as number;
  }

  /** Text of any characters, as UTF-8. */
  utf8(text: string): void {
    const at = this.#reserve(Buffer.byteLength(text));
    this.#buffer.write(text, at);
  }

  /**
   * For bytes of which many parts will be written as hex: puts the digits of all of them at the end of the buffer. Until the next
   * call, `hex` copies the digits of a part from there. The bytes must not change. Yields within many bytes; nothing may be written meanwhile.
   */
  *prepareHex(bytes: Buffer, start: number, end: number): Generator<void, void> {
    const length = (end - start) * 2;
    this.#limit = this.#buffer.length;
    this.#prepared = undefined;
    // Makes room without writing. 16-bit units begin at even offsets.
    this.#length = this.#reserve(length + 1);
    const buffer = this.#buffer;
    const limit = (buffer.length - length) & ~1;
    const units = (this.#units ??= new Uint16Array(buffer.buffer, buffer.byteOffset, buffer.length >> 1));
    for (let from = start; from < end; from += PREPARED_AT_ONCE) {
      if (from > start) yield;
      writeDigitPairs(units, (limit >> 1) + from - start, bytes, from, Math.min(end, from + PREPARED_AT_ONCE));
    }
    this.#limit = limit;
    this.#prepared = bytes;
    this.#preparedStart = start;
    this.#preparedEnd = end;
  }

  /** Bytes from `start` to before `end` in lowercase hex. */
  hex(bytes: Buffer, start = 0, end = bytes.length): void {
    let at = this.#reserve((end - start) * 2);
    const buffer = this.#buffer;
    if (bytes === this.#prepared && end - start >= WORTH_COPYING && start >= this.#preparedStart && end <= this.#preparedEnd) {
      const digits = this.#limit + (start - this.#preparedStart) * 2;
      buffer.copyWithin(at, digits, digits + (end - start) * 2);
      return;
    }
    for (let i = start; i < end; i++) {
      const byte = bytes[i] as number;
      buffer[at++] = HIGH_DIGIT[byte] as number;
      buffer[at++] = LOW_DIGIT[byte] as number;
    }
  }

  /** The 32 bytes of a hash from `start`, last byte first: as hashes are displayed. */
  displayHex(bytes: Buffer, start = 0): void {
    let at = this.#reserve(64);
    const buffer = this.#buffer;
    for (let i = start + 31; i >= start; i--) {
      const byte = bytes[i] as number;
      buffer[at++] = HIGH_DIGIT[byte] as number;
      buffer[at++] = LOW_DIGIT[byte] as number;
    }
  }

  /** An unsigned 32-bit integer as eight hex digits. */
  hex32(value: number): void {
    const at = this.#reserve(8);
    for (let digit = 0; digit < 8; digit++) this.#buffer[at + digit] = HEX_DIGITS[(value >>> (28 - digit * 4)) & 15] as number;
  }

  /** An integer, at most 2^53 - 1 either way. */
  integer(value: number): void {
    if (value < 0) {
      this.char(MINUS);
      value = -value;
    }
    let count = 1;
    for (let limit = 10; value >= limit; limit *= 10) count++;
    this.#decimal(value, count);
  }

  /** Satoshis as whole coins with eight decimals, from integers only. */
  amount(satoshis: number): void {
    if (satoshis < 0) {
      this.char(MINUS);
      satoshis = -satoshis;
    }
    const fraction = satoshis % SATOSHIS_PER_COIN;
    this.integer((satoshis - fraction) / SATOSHIS_PER_COIN);
    this.char(POINT);
    this.#decimal(fraction, COIN_DIGITS);
  }

  /** An amount in eight bytes, little-endian and signed: in a transaction that is in no block it may be any. */
  amountIn(bytes: Buffer, at: number): void {
    const satoshis = bytes.readBigInt64LE(at);
    if (Number.isSafeInteger(Number(satoshis))) {
      this.amount(Number(satoshis));
      return;
    }
    const digits = satoshis.toString();
    this.ascii(`${digits.slice(0, -COIN_DIGITS)}.${digits.slice(-COIN_DIGITS)}`);
  }

  /** The text, a view: later writes may or may not show in it. */
  toBuffer(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  toString(): string {
    return this.toBuffer().toString('utf8');
  }

  /** The last `count` decimal digits of a non-negative integer. */
  #decimal(value: number, count: number): void {
    const at = this.#reserve(count);
    const buffer = this.#buffer;
    let end = at + count;
    for (; end > at && value > 0x7fff_ffff; value = Math.floor(value / 10)) buffer[--end] = ZERO + (value % 10);
    // The rest in 32-bit integers, which are several times as fast.
    for (let small = value | 0; end > at; small = (small / 10) | 0) buffer[--end] = ZERO + (small % 10);
  }

  /** Takes `count` bytes of the buffer and returns where they begin. */
  #reserve(count: number): number {
    const at = this.#length;
    this.#length = at + count;
    if (this.#length > this.#limit) this.#grow(at);
    return at;
  }

  #grow(used: number): void {
    const prepared = this.#buffer.subarray(this.#limit);
    const grown = this.#allocate(Math.max(this.#length, this.#buffer.length * 2) + prepared.length);
    this.#buffer.copy(grown, 0, 0, used);
    this.#buffer = grown;
    this.#units = undefined;
    this.#limit = grown.length - prepared.length;
    prepared.copy(grown, this.#limit);
  }
}

/** A separate function, since within a generator the loop takes several times as long. */
function writeDigitPairs(units: Uint16Array, at: number, bytes: Buffer, start: number, end: number): void {
  for (let i = start; i < end; i++) units[at++] = DIGIT_PAIRS[bytes[i] as number] as number;
}
