// Writes the integers and length-prefixed fields of Bitcoin's wire format into a Buffer that grows, little endian.

/** Bytes under construction. The caller must ensure that integers fit their width. */
export class ByteWriter {
  #buffer: Buffer;
  #length = 0;

  constructor(capacity = 256) {
    this.#buffer = Buffer.allocUnsafeSlow(capacity);
  }

  get length(): number {
    return this.#length;
  }

  u8(value: number): this {
    const at = this.#reserve(1);
    this.#buffer[at] = value;
    return this;
  }

  u16(value: number): this {
    const at = this.#reserve(2);
    this.#buffer.writeUInt16LE(value, at);
    return this;
  }

  u32(value: number): this {
    const at = this.#reserve(4);
    this.#buffer.writeUInt32LE(value, at);
    return this;
  }

  i32(value: number): this {
    const at = this.#reserve(4);
    this.#buffer.writeInt32LE(value, at);
    return this;
  }

  /** An integer of 0 to 2^53 - 1. */
  u64(value: number): this {
    return this.u32(value % 0x1_0000_0000).u32(Math.floor(value / 0x1_0000_0000));
  }

  bytes(bytes: Buffer): this {
    const at = this.#reserve(bytes.length);
    bytes.copy(this.#buffer, at);
    return this;
  }

  /** A compact size in its shortest form. */
  compactSize(size: number): this {
    if (size < 0xfd) return this.u8(size);
    if (size < 0x10000) return this.u8(0xfd).u16(size);
    return size < 0x1_0000_0000 ? this.u8(0xfe).u32(size) : this.u8(0xff).u64(size);
  }

  /** A compact size and that many bytes. */
  varBytes(bytes: Buffer): this {
    return this.compactSize(bytes.length).bytes(bytes);
  }

  /** What was written, a view: later writes may or may not show in it. */
  toBuffer(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  /** Makes space for `count` bytes and returns where they begin. */
  #reserve(count: number): number {
    const at = this.#length;
    this.#length = at + count;
    if (this.#length > this.#buffer.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(this.#length, this.#buffer.length * 2));
      this.#buffer.copy(grown, 0, 0, at);
      this.#buffer = grown;
    }
    return at;
  }
}
