// Reads the integers and length-prefixed fields of Bitcoin's wire format from a Buffer,
// little endian, bounds checked. Mirror of writer.ts.

/** Largest compact size that Bitcoin Core accepts (MAX_SIZE, serialize.h). */
export const MAX_COMPACT_SIZE = 0x02000000;

/** Bytes that are not what they are read as. */
export class MalformedBytesError extends Error {
  override readonly name = 'MalformedBytesError';

  /** `offset`: where in the bytes the expectation failed. */
  constructor(readonly expected: string, readonly came: string, readonly offset: number) {
    super(`expected ${expected} at byte ${offset}, got ${came}`);
  }
}

/** A cursor over bytes. Every read throws MalformedBytesError where the bytes end too early. */
export class ByteReader {
  #offset: number;

  constructor(readonly buffer: Buffer, offset = 0) {
    this.#offset = offset;
  }

  get offset(): number {
    return this.#offset;
  }

  get remaining(): number {
    return this.buffer.length - this.#offset;
  }

  u8(): number {
    return this.buffer[this.#advance(1)] as number; // advance() has checked the bounds
  }

  u16(): number {
    const { buffer } = this;
    const at = this.#advance(2);
    return (buffer[at] as number) | (buffer[at + 1] as number) << 8;
  }

  u32(): number {
    return this.i32() >>> 0;
  }

  i32(): number {
    const { buffer } = this;
    const at = this.#advance(4);
    return (buffer[at] as number) | (buffer[at + 1] as number) << 8
      | (buffer[at + 2] as number) << 16 | (buffer[at + 3] as number) << 24;
  }

  /** An amount or other 64-bit count. @throws MalformedBytesError above 2^53 - 1. */
  u64(): number {
    const low = this.u32();
    const high = this.u32();
    if (high > 0x1fffff)
      throw new MalformedBytesError('at most 2^53 - 1', `${(BigInt(high) << 32n) + BigInt(low)}`, this.#offset - 8);
    return high * 0x1_0000_0000 + low;
  }

  /** The next `count` bytes, as a view. */
  bytes(count: number): Buffer {
    const at = this.#advance(count);
    return this.buffer.subarray(at, at + count);
  }

  skip(count: number): void {
    this.#advance(count);
  }

  /** A compact size. As in Bitcoin Core, a longer form than needed and more than MAX_COMPACT_SIZE are refused. */
  compactSize(): number {
    const first = this.u8();
    if (first < 0xfd)
      return first;
    const at = this.#offset - 1;
    const [size, least] = first === 0xfd ? [this.u16(), 0xfd] : first === 0xfe ? [this.u32(), 0x10000] : [this.u64(), 0x1_0000_0000];
    if (size < least)
      throw new MalformedBytesError('a compact size in its shortest form', `${size} in a longer one`, at);
    if (size > MAX_COMPACT_SIZE)
      throw new MalformedBytesError(`a compact size of at most ${MAX_COMPACT_SIZE}`, `${size}`, at);
    return size;
  }

  /** Bytes behind their compact size, as a view. */
  varBytes(): Buffer {
    return this.bytes(this.compactSize());
  }

  skipVarBytes(): void {
    this.skip(this.compactSize());
  }

  /** Moves past `count` bytes and returns where they began. */
  #advance(count: number): number {
    const at = this.#offset;
    if (count > this.buffer.length - at)
      throw new MalformedBytesError(`${count} more bytes`, `${Math.max(0, this.buffer.length - at)}`, at);
    this.#offset = at + count;
    return at;
  }
}
