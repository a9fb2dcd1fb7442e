// Positions of transactions in the chain, by the hashes of their txids.
//
//   'p' hash of txid 12    height 4, index in the block 2

import { recordOf, type Records, type WriteBuffer } from './layout';
import { TXID_HASH_LENGTH, type TxidHasher } from './txid-hash';
import type { StoreRange, StoreWrite } from '../../store/store';
import type { Position } from '../types';

const LETTER = 'p'.charCodeAt(0);
const KEY_LENGTH = 1 + TXID_HASH_LENGTH;
export const POSITION_LENGTH = 6;

/** Two bytes are enough for the index: a block of the largest size has space for 16,666 transactions. */
export const MAX_TRANSACTIONS = 0x1_0000;

/** `hash`: the hash of the txid, or its first bytes. */
export function positionKey(hash: Buffer): Buffer {
  return Buffer.concat([Buffer.of(LETTER), hash]);
}

/** undefined: the transaction is in no block whose transactions the index knows. @throws DamagedIndexError */
export function positionOf(records: Records, hasher: TxidHasher, txid: Uint8Array): Position | undefined {
  const key = Buffer.allocUnsafe(KEY_LENGTH);
  key[0] = LETTER;
  hasher.writeHash(txid, key, 1);
  const value = records.get(key);
  return value && decodePosition(key, value);
}

/** @throws DamagedIndexError */
export function decodePosition(key: Buffer, value: Buffer): Position {
  const record = recordOf(key, value, POSITION_LENGTH);
  return { height: record.readUInt32BE(), index: record.readUInt16BE(4) };
}

/** 6 bytes, big endian: height 4, index 2. @throws RangeError for an index from MAX_TRANSACTIONS up */
export function encodePosition({ height, index }: Position): Buffer {
  const record = Buffer.allocUnsafe(POSITION_LENGTH);
  writePosition(record, 0, height, index);
  return record;
}

/** Returns the end of the position. */
export function writePosition(bytes: Buffer, at: number, height: number, index: number): number {
  return bytes.writeUInt16BE(index, bytes.writeUInt32BE(height, at));
}

/** The write for the transaction whose hash is in `hashes` at `at`, made in a buffer. */
export function putPosition(buffer: WriteBuffer, hashes: Uint8Array, at: number, height: number, index: number): StoreWrite {
  const bytes = buffer.reserve(KEY_LENGTH + POSITION_LENGTH);
  bytes[0] = LETTER;
  for (let i = 0; i < TXID_HASH_LENGTH; i++) bytes[1 + i] = hashes[at + i] as number; // a hash has 12 bytes
  writePosition(bytes, KEY_LENGTH, height, index);
  return buffer.put(KEY_LENGTH, POSITION_LENGTH);
}

/** The positions of all txids whose hashes begin with these bytes. */
export function positionsOfHashes(start: Buffer): StoreRange {
  const gte = positionKey(start);
  // The next key in order: the last byte that is not 255 is incremented, and the bytes after it are dropped.
  let length = gte.length;
  while (gte[length - 1] === 0xff) length--;
  const lt = Buffer.from(gte.subarray(0, length));
  lt.writeUInt8(lt.readUInt8(length - 1) + 1, length - 1);
  return { gte, lt };
}
