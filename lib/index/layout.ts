// Every key and record of the index. Integers are big endian, in keys so that ranges ascend;
// hashes are in wire order. Sizes in bytes.
//
//   key                      record
//   00                       the layout's version (lib/store/migrate.ts)
//   'G'                      hash of the network's genesis block 32
//   'T'                      tip: height 4, hash 32
//   'b' block hash 32        height 4
//   'c' txid 32, index 4     coin: height * 2 + coinbase 4, value 8, script
//   'h' height 4             hash 32, header 80, chainwork 32, median time past 4, transactions 4,
//                            transactions of the chain 8, bytes of the chain 8
//   'u' height 4             undo (undo-record.ts)
//   'x' txid 32              location of a transaction: height 4, offset 4, length 4
//
// After each record but the version comes the CRC-32 of key and record, 4: LevelDB has
// checksums, but classic-level does not have it verify them.

import { crc32 } from 'node:zlib';
import { DamagedIndexError } from './errors';
import type { StoreRange, StoreWrite } from '../store/store';
import type { BlockPoint } from '../node/types';
import type { Coin, HeaderRecord } from './types';

export const LAYOUT_VERSION = 1;

const CHECKSUM_LENGTH = 4;
const HASH_LENGTH = 32;
const HEADER_RECORD_LENGTH = 168;
const TWO_TO_32 = 0x1_0000_0000;

export const GENESIS_KEY = Buffer.from('G');
export const TIP_KEY = Buffer.from('T');

/** All records that blocks put there. */
export const BLOCK_RECORDS: StoreRange = { gte: Buffer.from('b'), lt: Buffer.from('y') };

/** A header with what the index counts beside it. */
export interface StoredHeader extends HeaderRecord {
  /** Transactions of all blocks up to and with this one. */
  readonly chainTransactions: number;
}

/** A location without the block's hash, which the header has. */
export interface StoredLocation {
  readonly height: number;
  readonly offset: number;
  readonly length: number;
}

/** The write that puts a record under a key, checksum added. */
export function putRecord(key: Buffer, record: Buffer): StoreWrite {
  const value = Buffer.allocUnsafe(record.length + CHECKSUM_LENGTH);
  record.copy(value);
  value.writeUInt32BE(crc32(record, crc32(key)), record.length);
  return { type: 'put', key, value };
}

/** The record in a value read, a view. @throws DamagedIndexError when the checksum is not that of key and record. */
export function recordOf(key: Buffer, value: Buffer): Buffer {
  const length = value.length - CHECKSUM_LENGTH;
  if (length < 0)
    throw damaged(key, `a checksum of ${CHECKSUM_LENGTH} bytes`, `${value.length} bytes`);
  const record = value.subarray(0, length);
  const [expected, came] = [crc32(record, crc32(key)), value.readUInt32BE(length)];
  if (expected !== came)
    throw damaged(key, `checksum ${expected.toString(16)}`, came.toString(16));
  return record;
}

export function damaged(key: Buffer, expected: string, came: string): DamagedIndexError {
  return new DamagedIndexError(`the record under ${key.toString('hex')} is damaged: expected ${expected}, got ${came}`);
}

function checkLength(key: Buffer, record: Buffer, length: number): void {
  if (record.length !== length)
    throw damaged(key, `${length} bytes`, `${record.length}`);
}

export function writeU64(bytes: Buffer, value: number, offset: number): void {
  bytes.writeUInt32BE(Math.floor(value / TWO_TO_32), offset);
  bytes.writeUInt32BE(value % TWO_TO_32, offset + 4);
}

export function readU64(bytes: Buffer, offset: number): number {
  return bytes.readUInt32BE(offset) * TWO_TO_32 + bytes.readUInt32BE(offset + 4);
}

function hashKey(prefix: string, hash: Buffer, length = 1 + HASH_LENGTH): Buffer {
  const key = Buffer.allocUnsafe(length);
  key.write(prefix, 'latin1');
  hash.copy(key, 1, 0, HASH_LENGTH);
  return key;
}

function heightKey(prefix: string, height: number): Buffer {
  const key = Buffer.allocUnsafe(5);
  key.write(prefix, 'latin1');
  key.writeUInt32BE(height, 1);
  return key;
}

// 'b': heights by block hash

export const blockHashKey = (hash: Buffer): Buffer => hashKey('b', hash);

export function encodeHeight(height: number): Buffer {
  const record = Buffer.allocUnsafe(4);
  record.writeUInt32BE(height);
  return record;
}

export function decodeHeight(key: Buffer, value: Buffer): number {
  const record = recordOf(key, value);
  checkLength(key, record, 4);
  return record.readUInt32BE();
}

// 'c': coins

export function coinKey(txid: Buffer, index: number): Buffer {
  const key = hashKey('c', txid, 37);
  key.writeUInt32BE(index, 33);
  return key;
}

export function encodeCoin({ height, coinbase, value, script }: Coin): Buffer {
  const record = Buffer.allocUnsafe(12 + script.length);
  record.writeUInt32BE(height * 2 + (coinbase ? 1 : 0));
  writeU64(record, value, 4);
  script.copy(record, 12);
  return record;
}

/** The script is a view. */
export function decodeCoin(key: Buffer, value: Buffer): Coin {
  const record = recordOf(key, value);
  if (record.length < 12)
    throw damaged(key, 'at least 12 bytes', `${record.length}`);
  const heightAndCoinbase = record.readUInt32BE();
  return { height: heightAndCoinbase >>> 1, coinbase: (heightAndCoinbase & 1) === 1, value: readU64(record, 4), script: record.subarray(12) };
}

// 'h': headers by height

export const headerKey = (height: number): Buffer => heightKey('h', height);

export function encodeHeader(header: StoredHeader): Buffer {
  const record = Buffer.allocUnsafe(HEADER_RECORD_LENGTH);
  header.hash.copy(record, 0);
  header.header.copy(record, 32);
  record.write(header.chainwork.toString(16).padStart(64, '0'), 112, 'hex');
  record.writeUInt32BE(header.medianTime, 144);
  record.writeUInt32BE(header.transactionCount, 148);
  writeU64(record, header.chainTransactions, 152);
  writeU64(record, header.chainBytes, 160);
  return record;
}

/** Hash and header are views. */
export function decodeHeader(key: Buffer, value: Buffer): StoredHeader {
  const record = recordOf(key, value);
  checkLength(key, record, HEADER_RECORD_LENGTH);
  return {
    height: key.readUInt32BE(1),
    hash: record.subarray(0, 32),
    header: record.subarray(32, 112),
    chainwork: BigInt(`0x${record.toString('hex', 112, 144)}`),
    medianTime: record.readUInt32BE(144),
    transactionCount: record.readUInt32BE(148),
    chainTransactions: readU64(record, 152),
    chainBytes: readU64(record, 160)
  };
}

// 'T': the tip

export function encodeTip({ height, hash }: BlockPoint): Buffer {
  return Buffer.concat([encodeHeight(height), hash]);
}

export function decodeTip(value: Buffer): BlockPoint {
  const record = recordOf(TIP_KEY, value);
  checkLength(TIP_KEY, record, 4 + HASH_LENGTH);
  return { height: record.readUInt32BE(), hash: record.subarray(4) };
}

// 'u': undo records by height

export const undoKey = (height: number): Buffer => heightKey('u', height);

// 'x': transactions

export const locationKey = (txid: Buffer): Buffer => hashKey('x', txid);

export function encodeLocation({ height, offset, length }: StoredLocation): Buffer {
  const record = Buffer.allocUnsafe(12);
  record.writeUInt32BE(height);
  record.writeUInt32BE(offset, 4);
  record.writeUInt32BE(length, 8);
  return record;
}

export function decodeLocation(key: Buffer, value: Buffer): StoredLocation {
  const record = recordOf(key, value);
  checkLength(key, record, 12);
  return { height: record.readUInt32BE(), offset: record.readUInt32BE(4), length: record.readUInt32BE(8) };
}
