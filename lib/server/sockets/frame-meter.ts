// Follows the frames in the bytes of a WebSocket connection (RFC 6455, 5.2), to know how much of a message has come that is not complete.

/** What each piece costs the process besides its bytes: the library keeps pieces as they come until their message is complete. */
export const PIECE_COST_BYTES = 512;

const FINAL = 0x80;
const CONTROL = 0x08;
const MASKED = 0x80;
const LENGTH = 0x7f;

/** Values of the length's first byte that say how many more bytes have the length. */
const LONG = { 126: 2, 127: 8 } as Readonly<Record<number, number | undefined>>;

const MASK_BYTES = 4;
const MOST_HEADER_BYTES = 14;

export class FrameMeter {
  readonly #header = Buffer.alloc(MOST_HEADER_BYTES);
  #headerLength = 0;
  /** Bytes of the frame's payload that have yet to come. */
  #left = 0;
  #isInFrame = false;
  /** Whether frames of a message have come, but not its last one. */
  #isInMessage = false;
  /** Memory for the message that is not complete; 0 between messages. */
  bytes = 0;

  /** Takes the next bytes of the connection, which may begin and end anywhere in a frame. */
  push(chunk: Buffer): void {
    let begin = 0;
    for (let at = 0; at < chunk.length;) {
      if (!this.#isInFrame) this.#readHeader(chunk[at++] as number); // below the length
      if (!this.#isInFrame) continue;
      const part = Math.min(this.#left, chunk.length - at);
      this.#left -= part;
      at += part;
      if (this.#left > 0) break;
      this.#endFrame();
      if (this.#isInMessage) continue;
      this.bytes = 0;
      begin = at;
    }
    if (begin < chunk.length) this.bytes += chunk.length - begin + PIECE_COST_BYTES;
  }

  #readHeader(byte: number): void {
    const header = this.#header;
    header[this.#headerLength++] = byte;
    if (this.#headerLength < 2) return;
    const second = header[1] as number;
    const more = LONG[second & LENGTH] ?? 0;
    if (this.#headerLength < 2 + more + ((second & MASKED) === 0 ? 0 : MASK_BYTES)) return;
    this.#left = more === 0 ? second & LENGTH : more === 2 ? header.readUInt16BE(2) : Number(header.readBigUInt64BE(2));
    this.#isInFrame = true;
  }

  #endFrame(): void {
    const first = this.#header[0] as number;
    this.#headerLength = 0;
    this.#isInFrame = false;
    if ((first & CONTROL) === 0) this.#isInMessage = (first & FINAL) === 0;
  }
}
