// Checks every byte of one of LevelDB's tables (doc/table_format.md of LevelDB), which never
// change once they are written: consecutive blocks, each with a checksum, and a footer that
// says where the blocks of handles are.

import { open, type FileHandle } from 'node:fs/promises';
import { levelChecksum, LevelFormatError, LevelReader } from './cursor';
import type { Table } from './manifest';

/** Two handles and padding 40, magic 8. */
const FOOTER_LENGTH = 48;
const MAGIC = 0xdb4775248b80fb57n;
/** After each block: type 1, checksum 4. */
const TRAILER_LENGTH = 5;
/** The type of blocks that are not compressed; the store has no others (disk-store.ts). */
const PLAIN = 0;
/** Bytes that are checked between two turns of the event loop: half a millisecond of work. */
const SLICE_BYTES = 1_024 * 1_024;

/** Where a block is, without its trailer. */
interface BlockHandle {
  readonly offset: number;
  readonly length: number;
}

/**
 * Checks that a file is a table of the manifest, about a megabyte at a time, and yields the bytes of each part.
 * @throws LevelFormatError that says what is wrong, and errors of the system.
 */
export async function* checkTable(path: string, { length, smallest }: Pick<Table, 'length' | 'smallest'>): AsyncGenerator<number, void> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    if (size !== length) throw new LevelFormatError(`expected ${length} bytes, got ${size}`);
    const ends = await blockEnds(file, length);
    yield* checkBlocks(file, ends, smallest);
  } finally {
    await file.close();
  }
}

/** The ends of the blocks, with their trailers, in ascending order. Together with the footer the blocks must fill the file. */
async function blockEnds(file: FileHandle, length: number): Promise<number[]> {
  const footer = await readAt(file, Math.max(0, length - FOOTER_LENGTH), Math.min(length, FOOTER_LENGTH));
  if (length < FOOTER_LENGTH || footer.readBigUInt64LE(FOOTER_LENGTH - 8) !== MAGIC) throw new LevelFormatError('its footer is damaged');
  const reader = new LevelReader(footer.subarray(0, FOOTER_LENGTH - 8));
  const [metaindex, index] = [readHandle(reader), readHandle(reader)];
  const contents = [...(await handlesIn(file, index, length)), ...(await handlesIn(file, metaindex, length)), metaindex, index];
  const ends: number[] = [];
  let end = 0;
  for (const handle of contents) {
    if (handle.offset !== end) throw new LevelFormatError(`expected a block at byte ${end}, got one at ${handle.offset}`);
    end += handle.length + TRAILER_LENGTH;
    ends.push(end);
  }
  if (end + FOOTER_LENGTH !== length)
    throw new LevelFormatError(`expected blocks up to byte ${length - FOOTER_LENGTH}, got them up to ${end}`);
  return ends;
}

/** The handles that a block holds as the values of its entries. */
async function handlesIn(file: FileHandle, { offset, length }: BlockHandle, fileLength: number): Promise<BlockHandle[]> {
  if (offset + length + TRAILER_LENGTH + FOOTER_LENGTH > fileLength) throw new LevelFormatError('its footer is damaged');
  const bytes = await readAt(file, offset, length + TRAILER_LENGTH);
  checkBlock(bytes, 0, bytes.length, offset);
  if (bytes[length] !== PLAIN)
    throw new LevelFormatError(`expected a plain block at byte ${offset}, got one of type ${bytes[length] ?? 'none'}`);
  const block = bytes.subarray(0, length);
  const reader = new LevelReader(block.subarray(0, entriesEnd(block)));
  const handles: BlockHandle[] = [];
  // An entry: length shared with the previous key, length of the rest of the key, length of the value; then these two.
  while (!reader.atEnd) {
    reader.integer();
    const [keyLength, valueLength] = [reader.integer(), reader.integer()];
    reader.take(keyLength);
    const valueEnd = reader.offset + valueLength;
    handles.push(readHandle(reader));
    reader.take(valueEnd - reader.offset);
  }
  return handles;
}

/** Where the entries of a block end: after them come the restart points, 4 bytes each, and their number, 4. */
function entriesEnd(block: Buffer): number {
  const end = block.length < 4 ? -1 : block.length - 4 - block.readUInt32LE(block.length - 4) * 4;
  if (end < 0) throw new LevelFormatError(`expected a block with restart points, got ${block.length} bytes`);
  return end;
}

function readHandle(reader: LevelReader): BlockHandle {
  return { offset: reader.integer(), length: reader.integer() };
}

async function* checkBlocks(file: FileHandle, ends: readonly number[], smallest: Buffer): AsyncGenerator<number, void> {
  let buffer = Buffer.allocUnsafeSlow(0);
  let start = 0;
  for (let next = 0; next < ends.length;) {
    const count = sliceLength(ends, next, start);
    if (count > buffer.length) buffer = Buffer.allocUnsafeSlow(Math.max(count, Math.min(SLICE_BYTES, ends.at(-1) ?? 0)));
    const bytes = await readAt(file, start, count, buffer);
    for (let at = 0; at < count; next++) {
      const end = (ends[next] as number) - start; // a slice is whole blocks
      checkBlock(bytes, at, end, start + at);
      at = end;
    }
    if (start === 0) checkFirstKey(bytes, smallest);
    start += count;
    yield count;
  }
}

/** Another table is as sound, and may be as long, but begins with another key: each has the number of its write. @throws LevelFormatError */
function checkFirstKey(block: Buffer, smallest: Buffer): void {
  const reader = new LevelReader(block);
  reader.integer();
  const length = reader.integer();
  reader.integer();
  const first = reader.take(length);
  if (!first.equals(smallest))
    throw new LevelFormatError(`expected a table that begins with ${smallest.toString('hex')}, got one with ${first.toString('hex')}`);
}

/** Bytes of a slice: as many whole blocks as fit, at least one. The first has index `next` and begins at `start`. */
function sliceLength(ends: readonly number[], next: number, start: number): number {
  let last = next;
  while (last + 1 < ends.length && (ends[last + 1] as number) - start <= SLICE_BYTES) last++;
  return (ends[last] as number) - start; // next is below their number
}

/** Checks a block with its trailer; `offset`: where it is in the file. @throws LevelFormatError */
function checkBlock(bytes: Buffer, start: number, end: number, offset: number): void {
  const checksumAt = end - 4;
  if (levelChecksum(bytes.subarray(start, checksumAt)) !== bytes.readUInt32LE(checksumAt))
    throw new LevelFormatError(`the block at byte ${offset} is damaged`);
}

async function readAt(file: FileHandle, position: number, length: number, buffer = Buffer.allocUnsafeSlow(length)): Promise<Buffer> {
  for (let read = 0; read < length;) {
    const { bytesRead } = await file.read(buffer, read, length - read, position + read);
    if (bytesRead === 0) throw new LevelFormatError(`expected ${length} bytes at byte ${position}, got ${read}`);
    read += bytesRead;
  }
  return buffer.subarray(0, length);
}
