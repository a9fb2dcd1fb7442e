// LevelDB's log format (doc/log_format.md of LevelDB), in which it stores its writes and its
// manifest. LevelDB skips damaged parts of a log and continues after them, unless paranoid_checks is
// set, which classic-level cannot do: batches in the middle would be missing without any error. So
// logs are read before LevelDB opens them.

import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { LevelFormatError, levelChecksum } from './cursor';

const BLOCK_LENGTH = 32_768;
/** Checksum 4, length 2, type 1; little endian. */
const HEADER_LENGTH = 7;
/** An entry is one FULL record, or a FIRST, any number of MIDDLE, and a LAST one. */
const FULL = 1;
const FIRST = 2;
const LAST = 4;

/** More than LevelDB ever writes to a log or a manifest. A larger file is damaged, and might not fit into memory. */
export const MOST_LOG_BYTES = 2 ** 30;

/** An entry begins with sequence number 8 and count 4 of its batch, little endian. The writes of all batches are numbered one by one. */
const BATCH_HEAD_LENGTH = 12;

/**
 * The damage to logs (oldest first) that loses writes; undefined: there is none. The last log may be cut off, since everything
 * before the cut is whole. An earlier one must be complete: a crash may leave the last log on the disk, but not the end of the
 * one before.
 */
export async function findLostWrites(folder: string, logs: readonly string[]): Promise<string | undefined> {
  /** Number that the next write must have. */
  let next: bigint | undefined;
  /** The previous log, until the first write after it is found. */
  let before: string | undefined;
  for (const name of logs) {
    const bytes = await readWhole(join(folder, name), MOST_LOG_BYTES);
    const { entries, soundLength: end } = logEntries(bytes, BATCH_HEAD_LENGTH);
    const batches = entries.filter(({ length }) => length === BATCH_HEAD_LENGTH);
    for (const batch of batches) {
      const first = batch.readBigUInt64LE();
      // It may be later than expected: a write that failed has its number, too.
      if (next !== undefined && first < next)
        return `${name} is damaged: it has write ${first} in the place of write ${next} or a later one`;
      if (before !== undefined && first !== next)
        return `${before} is damaged: it ends before write ${first}, with which ${name} continues`;
      [next, before] = [first + BigInt(batch.readUInt32LE(8)), undefined];
    }
    if (startsWrite(bytes, nextBlock(end))) return `${name} is damaged at byte ${end}, and writes follow`;
    before = name;
  }
  return undefined;
}

/** The bytes of a file. @throws LevelFormatError for more than `most` */
export async function readWhole(path: string, most: number): Promise<Buffer> {
  const { size } = await stat(path);
  if (size > most) throw new LevelFormatError(`expected at most ${most} bytes, got ${size}`);
  return readFile(path);
}

export interface LogEntries {
  /** Each up to the requested length. */
  readonly entries: readonly Buffer[];
  /** Offset of the first record that is not whole, or the end. */
  readonly soundLength: number;
}

/** The entries of a log up to the first record that is not whole; of each, at most `most` bytes. */
export function logEntries(bytes: Buffer, most = Infinity): LogEntries {
  const entries: Buffer[] = [];
  let parts: Buffer[] = [];
  let length = 0;
  let at = 0;
  while (at < bytes.length) {
    const left = BLOCK_LENGTH - (at % BLOCK_LENGTH);
    if (left < HEADER_LENGTH) {
      at += left;
      continue;
    }
    const end = endOfRecord(bytes, at);
    if (end === undefined) return { entries, soundLength: at };
    const type = bytes[at + 6];
    if (type === FULL || type === FIRST) [parts, length] = [[], 0];
    const part = bytes.subarray(at + HEADER_LENGTH, Math.min(end, at + HEADER_LENGTH + most - length));
    parts.push(part);
    length += part.length;
    if (type === FULL || type === LAST) entries.push(Buffer.concat(parts));
    at = end;
  }
  return { entries, soundLength: bytes.length };
}

/** Whether the bytes from `from` to the end are a record that was cut off: too short, or space that was never written. */
export function isCutOff(bytes: Buffer, from: number): boolean {
  const left = bytes.subarray(from);
  return left.length < HEADER_LENGTH || HEADER_LENGTH + left.readUInt16LE(4) > left.length || isZero(left);
}

/** Whether all bytes are 0: the first one is, and each is as the one before. */
const isZero = (bytes: Buffer): boolean => bytes[0] === 0 && bytes.subarray(1).equals(bytes.subarray(0, -1));

/** Whether a write begins in the block that starts at `from`, or in a later block. */
function startsWrite(bytes: Buffer, from: number): boolean {
  for (let block = from; block < bytes.length; block += BLOCK_LENGTH) {
    for (let at = block, end: number | undefined; at <= block + BLOCK_LENGTH - HEADER_LENGTH; at = end) {
      end = endOfRecord(bytes, at);
      if (end === undefined) break;
      const type = bytes[at + 6];
      if (type === FULL || type === FIRST) return true;
    }
  }
  return false;
}

const nextBlock = (at: number): number => (Math.floor(at / BLOCK_LENGTH) + 1) * BLOCK_LENGTH;

/** Where the record at `at` ends; undefined: it is cut off, its checksum is wrong, or the space was never written. */
function endOfRecord(bytes: Buffer, at: number): number | undefined {
  if (at + HEADER_LENGTH > bytes.length) return undefined;
  const end = at + HEADER_LENGTH + bytes.readUInt16LE(at + 4);
  return end <= bytes.length && levelChecksum(bytes.subarray(at + 6, end)) === bytes.readUInt32LE(at) ? end : undefined;
}
