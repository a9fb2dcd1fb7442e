// Every key of the index. The records are described in the files named here. Integers are big endian, so that ranges of
// keys ascend; hashes are in wire order. Sizes are in bytes. A position is a transaction's place in the chain: height 4,
// index in its block 2.
//
//   key                      record
//   00                       the version of the layout (lib/store/migrate.ts)
//   'B'                      base, in an index that began with the node's coins (base.ts)
//   'F'                      how far filters are (filter.ts)
//   'G'                      hash of the network's genesis block 32
//   'S'                      secret of the hashes of txids 32 (txid-hash.ts)
//   'T'                      tip (chain.ts)
//   'b' block hash 32        height (chain.ts)
//   'c' txid 32, index 4     coin of the base (base-coin.ts)
//   'd' height 4             undo record (undo-record.ts)
//   'e' block hash 32        filter of a block that was disconnected (filter.ts)
//   'f' height 4             filter of the block (filter.ts)
//   'g' height 4             hash of the filter, and filter header (filter.ts)
//   'h' height 4             header (chain.ts)
//   'i' block hash 32        hash over the coins that the block spends (spent-hash.ts)
//   'l' height 4, group 1    lengths of 256 transactions of the block (lengths.ts)
//   'o' position 6, group 2  coins of a transaction (coin-record.ts)
//   'p' hash of txid 12      position of a transaction (position.ts)
//   's' height 4             coins of the base that the block spent (base-coin.ts)
//
// After each record comes the CRC-32 of key and record, 4: LevelDB has checksums, but
// classic-level does not have it verify them.

import { crc32 } from 'node:zlib';
import { DamagedIndexError } from '../../follow/errors';
import type { StorePut, StoreRange, StoreSnapshot, StoreWrite } from '../../store/store';

export const LAYOUT_VERSION = 1;

const CHECKSUM_LENGTH = 4;

/** Bytes of a usual write in a WriteBuffer. Longer views are rare and not cached. */
const USUAL_LENGTH = 1 << 12;

export const GENESIS_KEY = Buffer.from('G');
/** Of the base (base.ts). Without a tip, its coins were not all copied. */
export const BASE_KEY = Buffer.from('B');

/** All records that come from blocks. */
export const BLOCK_RECORDS: StoreRange = { gte: Buffer.from('b'), lt: Buffer.from('t') };

/** Where records are read from: a store, or a snapshot of one. */
export type Records = Pick<StoreSnapshot, 'get'>;

/** The write that puts a record under a key, checksum added. */
export function putRecord(key: Buffer, record: Buffer): StorePut {
  const value = Buffer.allocUnsafe(record.length + CHECKSUM_LENGTH);
  record.copy(value);
  value.writeUInt32BE(crc32(record, crc32(key)), record.length);
  return { type: 'put', key, value };
}

/**
 * The record in a value that was read, a view.
 * @throws DamagedIndexError when the checksum is not that of key and record, or the record has another length than expected.
 */
export function recordOf(key: Buffer, value: Buffer, expectedLength?: number): Buffer {
  const length = value.length - CHECKSUM_LENGTH;
  if (length < 0) throw damaged(key, `a checksum of ${CHECKSUM_LENGTH} bytes`, `${value.length} bytes`);
  const record = value.subarray(0, length);
  const [expected, came] = [crc32(record, crc32(key)), value.readUInt32BE(length)];
  if (expected !== came) throw damaged(key, `checksum ${expected.toString(16)}`, came.toString(16));
  if (length !== (expectedLength ?? length)) throw damaged(key, `${expectedLength ?? 0} bytes`, `${length}`);
  return record;
}

/** The error for the record under a key, for the caller to throw. `expected`, `came`: words that end the message. */
export function damaged(key: Buffer, expected: string, came: string): DamagedIndexError {
  return new DamagedIndexError(`the record under ${key.toString('hex')} is damaged: expected ${expected}, got ${came}`);
}

/** Makes the keys of a kind of record that every height has one of. */
export function keyOfHeight(letter: string): (height: number) => Buffer {
  return (height) => {
    const key = Buffer.allocUnsafe(5);
    key.write(letter, 'latin1');
    key.writeUInt32BE(height, 1);
    return key;
  };
}

/**
 * A buffer in which writes are made, one at a time: key, record and checksum side by side. A write is valid until the next one; a
 * store has copied it by then (store.ts). Views of the usual lengths are cached, so that hundreds of thousands of writes a second
 * leave no garbage.
 */
export class WriteBuffer {
  #bytes = Buffer.allocUnsafeSlow(USUAL_LENGTH * 2);
  /** Views by where they begin and how long they are. */
  #views: Buffer[][] = [];

  /** The buffer, with space for `length` bytes of key and record. Its former content may be gone. */
  reserve(length: number): Buffer {
    if (length + CHECKSUM_LENGTH > this.#bytes.length) {
      this.#bytes = Buffer.allocUnsafeSlow((length + CHECKSUM_LENGTH) * 2);
      this.#views = [];
    }
    return this.#bytes;
  }

  /** The write of a key and a record that were written to the bytes; the checksum is added. */
  put(keyLength: number, recordLength: number): StoreWrite {
    const end = keyLength + recordLength;
    this.#bytes.writeUInt32BE(crc32(this.#view(0, end)), end);
    return { type: 'put', key: this.#view(0, keyLength), value: this.#view(keyLength, recordLength + CHECKSUM_LENGTH) };
  }

  /** The deletion of a key that was written to the bytes. */
  del(keyLength: number): StoreWrite {
    return { type: 'del', key: this.#view(0, keyLength) };
  }

  #view(from: number, length: number): Buffer {
    if (length > USUAL_LENGTH) return this.#bytes.subarray(from, from + length);
    const views = (this.#views[from] ??= []);
    return (views[length] ??= this.#bytes.subarray(from, from + length));
  }
}
