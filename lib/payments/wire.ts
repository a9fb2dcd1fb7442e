// Protocol buffers on the wire, below the schema: a reader that is stricter than protobufjs's, and the fields of a message as they
// are in its bytes.

import { BufferReader } from 'protobufjs';
import { PaymentError, messageOf } from './error';

type Long = ReturnType<BufferReader['uint64']>;

/**
 * Fields of a message and of those inside it. 50,000 bytes of outputs that pay to addresses have some 5,000; many tiny fields would take long to
 * read for their bytes.
 */
const MOST_FIELDS = 6_000;

/** Names of the wire types in error messages. */
export const WIRE_TYPES = ['varint', 'fixed64', 'length-delimited', 'group', 'end of group', 'fixed32'] as const;

/** One field of a message as it was received. */
export interface WireField {
  readonly number: number;
  /** From the first byte of the tag. */
  readonly start: number;
  readonly end: number;
}

/**
 * Preserves unknown fields, and refuses text that is not UTF-8 and integers that do not fit their type. protobufjs would drop the
 * fields, replace the text and truncate the integers, and two readers of one signed request could see two different requests.
 */
export class StrictReader extends BufferReader {
  override discardUnknown = false;
  #fields = 0;

  /** @throws RangeError for one more than MOST_FIELDS */
  override tag(): number {
    if (++this.#fields > MOST_FIELDS) throw new RangeError(`at most ${MOST_FIELDS} fields expected, more came`);
    return super.tag();
  }

  override string(): string {
    return this.stringVerify();
  }

  /** @throws RangeError above 2^32 - 1 */
  override uint32(): number {
    const value = this.uint64();
    if (value.high !== 0) throw new RangeError('uint32 expected, a larger integer came');
    return value.low >>> 0;
  }

  /** @throws RangeError above 2^64 - 1 */
  override uint64(): Long {
    const start = this.pos;
    const value = super.uint64();
    // The tenth byte of a varint holds bit 63 and nothing more.
    if (this.pos - start === 10 && (this.buf[this.pos - 1] ?? 0) > 1) throw new RangeError('uint64 expected, a larger integer came');
    return value;
  }
}

/**
 * The top-level fields of a message, in the order of the bytes.
 * @throws PaymentError when the bytes are not a protocol buffers message.
 */
export function* fieldsOf(bytes: Buffer): Generator<WireField> {
  const reader = new StrictReader(bytes);
  while (reader.pos < reader.len) {
    const start = reader.pos;
    const tag = readTag(reader);
    yield { number: tag >>> 3, start, end: reader.pos };
  }
}

/** Reads one whole field and returns its tag. */
function readTag(reader: StrictReader): number {
  try {
    const tag = reader.tag();
    reader.skipType(tag & 7, 0, tag >>> 3);
    return tag;
  } catch (error) {
    throw new PaymentError('malformed', `A field expected: ${messageOf(error)}.`, { cause: error });
  }
}
