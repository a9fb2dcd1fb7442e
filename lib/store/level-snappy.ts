// Uncompresses what LevelDB compressed with Snappy (format_description.txt of Snappy): the
// length of the whole, then literal bytes and copies of what came before.

import { LevelFormatError, LevelReader } from './level-reader';

const LITERAL = 0;
const NEAR_COPY = 1;
const COPY = 2;
/** Lengths of literals above this stand in that many bytes behind the tag. */
const LONGEST_SHORT_LITERAL = 60;

/** @throws LevelFormatError */
export function uncompress(compressed: Buffer): Buffer {
  const reader = new LevelReader(compressed);
  const bytes = Buffer.alloc(reader.integer());
  let at = 0;
  while (!reader.atEnd) {
    const tag = reader.take(1).readUInt8();
    const kind = tag & 3;
    if (kind === LITERAL) {
      const verbatim = literal(reader, tag);
      verbatim.copy(bytes, Math.min(at, bytes.length));
      at += verbatim.length;
      continue;
    }
    const length = kind === NEAR_COPY ? (tag >> 2 & 7) + 4 : (tag >> 2) + 1;
    const distance = kind === NEAR_COPY ? (tag >> 5) * 256 + reader.take(1).readUInt8() : reader.take(kind === COPY ? 2 : 4).readUIntLE(0, kind === COPY ? 2 : 4);
    if (distance === 0 || distance > at) throw new LevelFormatError(`expected a copy of what is within ${at} bytes, got one from ${distance} bytes before`);
    // Byte by byte: a copy may reach into itself.
    for (const end = at + length; at < end; at++) bytes[at] = bytes[at - distance] as number; // it is there, or behind the end and dropped
  }
  if (at !== bytes.length) throw new LevelFormatError(`expected ${bytes.length} uncompressed bytes, got ${at}`);
  return bytes;
}

function literal(reader: LevelReader, tag: number): Buffer {
  const short = (tag >> 2) + 1;
  const extra = short - LONGEST_SHORT_LITERAL;
  return reader.take(extra > 0 ? reader.take(extra).readUIntLE(0, extra) + 1 : short);
}
