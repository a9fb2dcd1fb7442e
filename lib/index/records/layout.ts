// Every key and record of the index. Integers are big endian, in keys so that ranges ascend;
// hashes are in wire order. Sizes in bytes. A place is where a transaction stands in the
// chain: height 4, position in its block 2. For a txid stands its hash 12 (txid-hash.ts), but for coins of the base.
//
//   key                      record
//   00                       the layout's version (lib/store/migrate.ts)
//   'G'                      hash of the network's genesis block 32
//   'S'                      secret of the hashes of txids 32
//   'T'                      tip: height 4, hash 32
//   'B'                      only in an index begun with the node's coins: its base (base.ts)
//   'b' block hash 32        height 4
//   'c' txid 32, index 4     coin of the base (base-coins.ts)
//   'd' height 4             undo (undo-record.ts)
//   'h' height 4             hash 32, header 80, chainwork 32, median time past 4, transactions 4,
//                            transactions of the chain 8, bytes of the chain 8
//   'l' height 4             lengths of the block's transactions, in order (variable-integer.ts)
//   'o' place 6, group 2     unspent ones of 32 outputs of a transaction (coin-record.ts);
//                            the group is the output's index / 32, left out when it is 0
//   'p' txid's hash 12       place of a transaction 6
//   's' height 4             coins of the base that the block spent (base-coins.ts)
//
// After each record comes the CRC-32 of key and record, 4: LevelDB has checksums, but
// classic-level does not have it verify them.

import { crc32 } from 'node:zlib';
import { DamagedIndexError } from '../errors';
import type { StorePut, StoreRange } from '../../store/store';
import type { BlockPoint } from '../../node/types';
import type { HeaderRecord } from '../types';

export const LAYOUT_VERSION = 1;

export const CHECKSUM_LENGTH = 4;
const HASH_LENGTH = 32;
export const TXID_HASH_LENGTH = 12;
const HEADER_RECORD_LENGTH = 168;
const POSITION_LENGTH = 6;
const OUTPUT_PREFIX = 0x6f;
const POSITION_PREFIX = 0x70;
const TWO_TO_32 = 0x1_0000_0000;

export const GENESIS_KEY = Buffer.from('G');
export const SECRET_KEY = Buffer.from('S');
export const TIP_KEY = Buffer.from('T');

/** All records that blocks put there. */
export const BLOCK_RECORDS: StoreRange = { gte: Buffer.from('b'), lt: Buffer.from('t') };

/** A header with what the index counts beside it. */
export interface StoredHeader extends HeaderRecord {
  /** Transactions of all blocks up to and with this one. */
  readonly chainTransactions: number;
}

/** Where a transaction stands in the chain. The coinbase is at position 0. */
export interface Position {
  readonly height: number;
  readonly index: number;
}

/** Positions in keys have two bytes: a block of the largest size has room for 16,666 transactions. */
export const MAX_TRANSACTIONS = 0x1_0000;

/** The write that puts a record under a key, checksum added. */
export function putRecord(key: Buffer, record: Buffer): StorePut {
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

function heightKey(prefix: string, height: number): Buffer {
  const key = Buffer.allocUnsafe(5);
  key.write(prefix, 'latin1');
  key.writeUInt32BE(height, 1);
  return key;
}

// 'b': heights by block hash

export const blockHashKey = (hash: Buffer): Buffer => Buffer.concat([Buffer.from('b'), hash]);

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

// 'h': headers by height

export const headerKey = (height: number): Buffer => heightKey('h', height);

/** Where the parts of a header record lie. Details: chainwork, median time past, transactions. */
export const HEADER_RECORD = {
  hash: { start: 0, end: 32 },
  header: { start: 32, end: 112 },
  details: { start: 112, end: 152 }
} as const;

/** The header record in a value read, a view. @throws DamagedIndexError */
export function headerRecordOf(key: Buffer, value: Buffer): Buffer {
  const record = recordOf(key, value);
  checkLength(key, record, HEADER_RECORD_LENGTH);
  return record;
}

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
  const record = headerRecordOf(key, value);
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

// 'l': lengths of transactions by height

export const lengthsKey = (height: number): Buffer => heightKey('l', height);

// 'o': coins by place

/** Bytes of a coin key. */
export function coinKeyLength(group: number): number {
  return 1 + POSITION_LENGTH + (group === 0 ? 0 : 2);
}

/** Writes a coin key to the start of `bytes`. */
export function writeCoinKey(bytes: Buffer, height: number, position: number, group: number): void {
  bytes[0] = OUTPUT_PREFIX;
  writePosition(bytes, 1, height, position);
  if (group !== 0) bytes.writeUInt16BE(group, 7);
}

/** The key of outputs `group * 32` and up of the transaction at a place. */
export function coinKey({ height, index: position }: Position, group: number): Buffer {
  const key = Buffer.allocUnsafe(coinKeyLength(group));
  writeCoinKey(key, height, position, group);
  return key;
}

/** All coins that the block at `height` left. */
export function coinsOfBlock(height: number): StoreRange {
  return { gte: heightKey('o', height), lt: heightKey('o', height + 1) };
}

// 'd': undo records by height

export const undoKey = (height: number): Buffer => heightKey('d', height);

// 'T': the tip

export function encodeTip({ height, hash }: BlockPoint): Buffer {
  return Buffer.concat([encodeHeight(height), hash]);
}

export function decodeTip(value: Buffer): BlockPoint {
  const record = recordOf(TIP_KEY, value);
  checkLength(TIP_KEY, record, 4 + HASH_LENGTH);
  return { height: record.readUInt32BE(), hash: record.subarray(4) };
}

// 'p': places of transactions

/** `hash`: of the txid. */
export function positionKey(hash: Buffer): Buffer {
  const key = Buffer.allocUnsafe(POSITION_KEY_LENGTH);
  key[0] = POSITION_PREFIX;
  hash.copy(key, 1, 0, TXID_HASH_LENGTH);
  return key;
}

/** The places of all txids whose hashes begin with these bytes. */
export function positionsOfHashes(start: Buffer): StoreRange {
  const gte = Buffer.concat([Buffer.of(POSITION_PREFIX), start]);
  // What comes next in order: the last byte that is not 255 goes up, and those behind it are left out.
  let length = gte.length;
  while (gte[length - 1] === 0xff) length--;
  const lt = Buffer.from(gte.subarray(0, length));
  lt.writeUInt8(lt.readUInt8(length - 1) + 1, length - 1);
  return { gte, lt };
}

export function encodePosition({ height, index: position }: Position): Buffer {
  const record = Buffer.allocUnsafe(POSITION_LENGTH);
  writePosition(record, 0, height, position);
  return record;
}

export function decodePosition(key: Buffer, value: Buffer): Position {
  const record = recordOf(key, value);
  checkLength(key, record, POSITION_LENGTH);
  return { height: record.readUInt32BE(), index: record.readUInt16BE(4) };
}

export const POSITION_KEY_LENGTH = 1 + TXID_HASH_LENGTH;

/** Writes key and record of the transaction whose txid's hash stands at `at` to the start of `bytes`, and returns the record's length. */
export function writePositionRecord(bytes: Buffer, hashes: Uint8Array, at: number, height: number, position: number): number {
  bytes[0] = POSITION_PREFIX;
  for (let i = 0; i < TXID_HASH_LENGTH; i++) bytes[1 + i] = hashes[at + i] as number; // there are 12
  writePosition(bytes, POSITION_KEY_LENGTH, height, position);
  return POSITION_LENGTH;
}

function writePosition(bytes: Buffer, at: number, height: number, position: number): void {
  bytes.writeUInt32BE(height, at);
  bytes.writeUInt16BE(position, at + 4);
}
