// What migrations share: keys, checksums, integers, batches. It does not change with the layout.

import { crc32 } from 'node:zlib';
import { StoreError } from '../lib/store/errors';
import type { Store, StoreRange, StoreWrite } from '../lib/store/store';

const WRITES_PER_BATCH = 5_000;
/** An undo record can have megabytes. */
const BYTES_PER_BATCH = 4 * 1024 * 1024;

/** All keys that begin with a letter. */
export function lettered(letter: string): StoreRange {
  return { gte: Buffer.from(letter), lt: Buffer.from([letter.charCodeAt(0) + 1]) };
}

export function keyOf(letter: string, ...parts: readonly Buffer[]): Buffer {
  return Buffer.concat([Buffer.from(letter), ...parts]);
}

export function u16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}

export function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** Seven bits to a byte, the lowest first. */
export function variableInteger(value: number): Buffer {
  const bytes: number[] = [];
  let left = value;
  for (; left >= 0x80; left = Math.floor(left / 0x80)) bytes.push(left % 0x80 | 0x80);
  return Buffer.from([...bytes, left]);
}

export function put(key: Buffer, record: Buffer): StoreWrite {
  return { type: 'put', key, value: Buffer.concat([record, u32(crc32(record, crc32(key)))]) };
}

export function del(key: Buffer): StoreWrite {
  return { type: 'del', key };
}

/** The record in a value. @throws StoreError when its checksum is wrong. */
export function recordIn(key: Buffer, value: Buffer): Buffer {
  const record = value.subarray(0, -4);
  if (value.length < 4 || crc32(record, crc32(key)) !== value.readUInt32BE(record.length))
    throw unreadable(`the record under ${key.toString('hex')} is damaged`);
  return record;
}

/** Damage: the index is to be built anew from the node's blocks. */
export function unreadable(why: string): StoreError {
  return new StoreError('corrupt', `the index cannot be migrated: ${why}`);
}

/** Collects writes that belong together, group after group, and hands them over now and then. */
export class Writer {
  #writes: StoreWrite[] = [];
  #bytes = 0;

  constructor(private readonly store: Store) {}

  /** A group is never torn. */
  async add(group: readonly StoreWrite[]): Promise<void> {
    for (const write of group) {
      this.#writes.push(write);
      if (write.type === 'put') this.#bytes += write.value.length;
    }
    if (this.#writes.length >= WRITES_PER_BATCH || this.#bytes >= BYTES_PER_BATCH) await this.flush();
  }

  async flush(): Promise<void> {
    const writes = this.#writes;
    this.#writes = [];
    this.#bytes = 0;
    await this.store.batch(writes, { durable: false });
  }
}
