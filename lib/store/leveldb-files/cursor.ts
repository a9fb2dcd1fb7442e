// A cursor over LevelDB's encodings: integers of variable length (seven bits to a byte, the
// lowest first) and byte strings after their length; and LevelDB's checksum.

import { crc32c } from '@node-rs/crc32';

const MASK_DELTA = 0xa282ead8;

/** Bytes that are not what LevelDB writes. */
export class LevelFormatError extends Error {
  override readonly name = 'LevelFormatError';
}

export class LevelReader {
  readonly bytes: Buffer;
  #offset = 0;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }

  get offset(): number {
    return this.#offset;
  }

  get atEnd(): boolean {
    return this.#offset === this.bytes.length;
  }

  /** An integer up to 2^53 - 1. */
  integer(): number {
    const { bytes } = this;
    let at = this.#offset;
    let value = 0;
    // Most integers are small, and shifting is quicker than multiplying.
    for (let shift = 0; shift < 28; shift += 7) {
      const byte = bytes[at++];
      if (byte === undefined) break;
      value |= (byte & 0x7f) << shift;
      if (byte >= 0x80) continue;
      this.#offset = at;
      return value;
    }
    return this.#longInteger();
  }

  #longInteger(): number {
    const start = this.#offset;
    let value = 0;
    for (let unit = 1; ; unit *= 0x80) {
      const byte = this.bytes[this.#offset];
      if (byte === undefined) throw this.error(`expected an integer at byte ${start}, got its beginning only`);
      this.#offset++;
      value += (byte & 0x7f) * unit;
      if (!Number.isSafeInteger(value)) throw this.error(`expected an integer below 2^53 at byte ${start}, got more`);
      if (byte < 0x80) return value;
    }
  }

  /** Moves past the next bytes and returns where they begin. */
  skip(length: number): number {
    const start = this.#offset;
    const left = this.bytes.length - start;
    if (length < 0 || length > left) throw this.error(`expected ${length} bytes at byte ${start}, got ${left}`);
    this.#offset += length;
    return start;
  }

  /** The next bytes, a view. */
  take(length: number): Buffer {
    const start = this.skip(length);
    return this.bytes.subarray(start, start + length);
  }

  /** A byte string, a view. */
  string(): Buffer {
    return this.take(this.integer());
  }

  /** The error that reads throw at the end of the bytes, or for an integer that is too large. */
  protected error(message: string): Error {
    return new LevelFormatError(message);
  }
}

/** LevelDB's checksum: CRC-32C (node:zlib has only CRC-32), masked, since data that contains checksums is itself checksummed. */
export function levelChecksum(bytes: Uint8Array): number {
  const crc = crc32c(bytes);
  return (((crc >>> 15) | (crc << 17)) + MASK_DELTA) >>> 0;
}
