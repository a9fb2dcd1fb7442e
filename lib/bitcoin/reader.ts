// Reads the integers and length-prefixed fields of Bitcoin's wire format from a Buffer: little endian, bounds checked.

/** Largest compact size that Bitcoin Core accepts (MAX_SIZE, serialize.h). */
export const MAX_COMPACT_SIZE = 0x02000000;

/** Thrown when bytes do not have the form in which they are read. */
export class MalformedBytesError extends Error {
  override readonly name = 'MalformedBytesError';

  /** `offset`: where in the bytes the expectation failed. */
  constructor(
    readonly expected: string,
    readonly came: string,
    readonly offset: number
  ) {
    super(`expected ${expected} at byte ${offset}, got ${came}`);
  }
}

/** A cursor over bytes, at `offset`. Every read throws MalformedBytesError when the bytes end too early. */
export class ByteReader {
  constructor(
    readonly buffer: Buffer,
    public offset = 0
  ) {}

  get remaining(): number {
    return this.buffer.length - this.offset;
  }

  /** Moves past `count` bytes and returns where they began. */
  skip(count: number): number {
    const at = this.offset;
    if (count > this.buffer.length - at) throw this.#endedEarly(count);
    this.offset = at + count;
    return at;
  }

  /** The next `count` bytes, as a view. */
  bytes(count: number): Buffer {
    const at = this.skip(count);
    return this.buffer.subarray(at, at + count);
  }

  /** One byte, unsigned. */
  u8(): number {
    return this.buffer[this.skip(1)] as number; // skip() has checked the bounds
  }

  /** 4 bytes, little endian, unsigned. */
  u32(): number {
    const { buffer } = this;
    const at = this.skip(4);
    return (
      ((buffer[at] as number) |
        ((buffer[at + 1] as number) << 8) |
        ((buffer[at + 2] as number) << 16) |
        ((buffer[at + 3] as number) << 24)) >>>
      0
    );
  }

  /** An amount or other 64-bit count. @throws MalformedBytesError above 2^53 - 1. */
  u64(): number {
    const low = this.u32();
    const high = this.u32();
    if (high > 0x1fffff) throw new MalformedBytesError('at most 2^53 - 1', `${(BigInt(high) << 32n) + BigInt(low)}`, this.offset - 8);
    return high * 0x1_0000_0000 + low;
  }

  /** A signed count of 64 bits; beyond 2^53 - 1 either way it is rounded. */
  i64(): number {
    const low = this.u32();
    return (this.u32() | 0) * 0x1_0000_0000 + low;
  }

  /** A compact size. As in Bitcoin Core, a longer form than needed and more than MAX_COMPACT_SIZE are refused. */
  compactSize(): number {
    const first = this.u8();
    return first < 0xfd ? first : this.#longCompactSize(first);
  }

  /** Kept apart from the usual case, which is thereby short enough to be inlined into its callers. */
  #longCompactSize(first: number): number {
    const at = this.offset - 1;
    const [size, least] =
      first === 0xfd
        ? [this.buffer.readUInt16LE(this.skip(2)), 0xfd]
        : first === 0xfe
          ? [this.u32(), 0x10000]
          : [this.u64(), 0x1_0000_0000];
    if (size < least) throw new MalformedBytesError('a compact size in its shortest form', `${size} in a longer one`, at);
    if (size > MAX_COMPACT_SIZE) throw new MalformedBytesError(`a compact size of at most ${MAX_COMPACT_SIZE}`, `${size}`, at);
    return size;
  }

  #endedEarly(count: number): MalformedBytesError {
    return new MalformedBytesError(`${count} more bytes`, `${Math.max(0, this.remaining)}`, this.offset);
  }

  /** @throws MalformedBytesError when bytes follow. @param what was read whole, for the message. */
  requireEnd(what: string): void {
    const {
      offset,
      buffer: { length }
    } = this;
    if (offset < length) throw new MalformedBytesError(`the end of the ${what}`, `${length - offset} more bytes`, offset);
  }
}

/** Bytes of the longest compact size that `writeCompactSize` writes. */
export const LONGEST_COMPACT_SIZE = 5;

/** Writes a compact size of 32 bits at most in its shortest form, and returns where it ends. */
export function writeCompactSize(bytes: Buffer, size: number, at: number): number {
  if (size < 0xfd) return bytes.writeUInt8(size, at);
  bytes[at] = size < 0x10000 ? 0xfd : 0xfe;
  return size < 0x10000 ? bytes.writeUInt16LE(size, at + 1) : bytes.writeUInt32LE(size, at + 1);
}

/** A compact size alone. */
export function compactSizeOf(size: number): Buffer {
  const bytes = Buffer.alloc(LONGEST_COMPACT_SIZE);
  return bytes.subarray(0, writeCompactSize(bytes, size, 0));
}
