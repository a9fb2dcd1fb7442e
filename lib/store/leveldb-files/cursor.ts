// A cursor over LevelDB's encodings: integers of variable length (seven bits to a byte, the
// lowest first) and byte strings with their length in front.

/** Bytes that are not what LevelDB writes. */
export class LevelFormatError extends Error {
  override readonly name = 'LevelFormatError';
}

export class LevelReader {
  constructor(private readonly bytes: Buffer, public offset = 0) {}

  get atEnd(): boolean {
    return this.offset === this.bytes.length;
  }

  /** Up to 2^53 - 1. @throws LevelFormatError */
  integer(): number {
    const start = this.offset;
    let value = 0;
    for (let unit = 1; ; unit *= 0x80) {
      const byte = this.bytes[this.offset];
      if (byte === undefined) throw new LevelFormatError(`expected an integer at byte ${start}, got its beginning only`);
      this.offset++;
      value += (byte & 0x7f) * unit;
      if (!Number.isSafeInteger(value)) throw new LevelFormatError(`expected an integer below 2^53 at byte ${start}, got more`);
      if (byte < 0x80) return value;
    }
  }

  /** @throws LevelFormatError when there are fewer bytes, or fewer than none to skip. */
  skip(length: number): void {
    const left = this.bytes.length - this.offset;
    if (length < 0 || length > left) throw new LevelFormatError(`expected ${length} bytes at byte ${this.offset}, got ${left}`);
    this.offset += length;
  }

  /** A view. @throws LevelFormatError */
  take(length: number): Buffer {
    const start = this.offset;
    this.skip(length);
    return this.bytes.subarray(start, this.offset);
  }

  /** A view. @throws LevelFormatError */
  string(): Buffer {
    return this.take(this.integer());
  }
}
