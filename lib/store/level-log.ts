// Looks for lost writes in LevelDB's logs (doc/log_format.md of LevelDB) before it reads them.
// It skips what is damaged and goes on behind it, unless it is told to be paranoid, which
// classic-level cannot: batches in the middle would be missing, and nobody would say so.

import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

const BLOCK_LENGTH = 32_768;
/** Checksum 4, length 2, type 1; little endian. */
const HEADER_LENGTH = 7;
/** A write is one FULL record, or FIRST, MIDDLE and LAST ones. */
const FULL = 1;
const FIRST = 2;
const MASK_DELTA = 0xa282ead8;

/** What is wrong, or undefined. A log that only breaks off is not: what comes first is whole. */
export async function findLostWrites(folder: string): Promise<string | undefined> {
  let damage: string | undefined;
  for (const name of await logsOf(folder)) {
    const bytes = await readFile(join(folder, name));
    const end = damage === undefined ? soundLength(bytes) : 0;
    if (damage !== undefined ? startsWrite(bytes, 0) : startsWrite(bytes, nextBlock(end)))
      return damage ?? `${name} is damaged at byte ${end}, and writes follow`;
    if (end < bytes.length) damage = `${name} is damaged at byte ${end}, and another log follows`;
  }
  return undefined;
}

/** Oldest first. None when the folder is not there, is no folder or must not be read: opening it says so. */
async function logsOf(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  return names.filter((name) => /^\d+\.log$/.test(name)).sort((a, b) => parseInt(a, 10) - parseInt(b, 10));
}

/** Bytes up to the first record that is not whole. */
function soundLength(bytes: Buffer): number {
  let at = 0;
  while (at < bytes.length) {
    const left = BLOCK_LENGTH - at % BLOCK_LENGTH;
    if (left < HEADER_LENGTH) {
      at += left;
      continue;
    }
    const end = endOfRecord(bytes, at);
    if (end === undefined) return at;
    at = end;
  }
  return bytes.length;
}

/** Whether a write begins at `from`, the start of a block, or in a block behind it. */
function startsWrite(bytes: Buffer, from: number): boolean {
  for (let block = from; block < bytes.length; block += BLOCK_LENGTH) {
    for (let at = block, end: number | undefined; at < block + BLOCK_LENGTH - HEADER_LENGTH; at = end) {
      end = endOfRecord(bytes, at);
      if (end === undefined) break;
      const type = bytes[at + 6];
      if (type === FULL || type === FIRST) return true;
    }
  }
  return false;
}

const nextBlock = (at: number): number => (Math.floor(at / BLOCK_LENGTH) + 1) * BLOCK_LENGTH;

/** undefined: the record at `at` breaks off, or its checksum is not that of its bytes. Room that was never written is none. */
function endOfRecord(bytes: Buffer, at: number): number | undefined {
  if (at + HEADER_LENGTH > bytes.length) return undefined;
  const end = at + HEADER_LENGTH + bytes.readUInt16LE(at + 4);
  if (end > bytes.length || end > nextBlock(at) || bytes[at + 6] === 0) return undefined;
  return masked(crc32c(bytes, at + 6, end)) === bytes.readUInt32LE(at) ? end : undefined;
}

/** LevelDB keeps checksums so, since data with checksums in it is checksummed again. */
function masked(crc: number): number {
  return ((crc >>> 15 | crc << 17) + MASK_DELTA) >>> 0;
}

const CRC32C_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? crc >>> 1 ^ 0x82f63b78 : crc >>> 1;
  return crc;
});

/** CRC-32C (Castagnoli); node:zlib has only the other one. */
function crc32c(bytes: Buffer, from: number, to: number): number {
  let crc = 0xffff_ffff;
  for (let at = from; at < to; at++)
    crc = crc >>> 8 ^ (CRC32C_TABLE[(crc ^ (bytes[at] ?? 0)) & 0xff] ?? 0);
  return ~crc >>> 0;
}
