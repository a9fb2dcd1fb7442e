// The txids of each block, in the order of its transactions.
//
//   'i' height 4, chunk 2    64 txids, 32 each; the last chunk of a block may have fewer

import { damaged, putRecord, recordOf } from '../../index/records/layout';
import type { Position } from '../../index/types';
import type { StorePut, StoreRange } from '../../store/store';

const LETTER = 'i'.charCodeAt(0);
export const TXID_LENGTH = 32;
/** Txids in a chunk. */
export const CHUNK_TXIDS = 64;
const CHUNK_BYTES = CHUNK_TXIDS * TXID_LENGTH;

/** The key of the chunk that has the txid with an index. */
export function txidsKey(height: number, index: number): Buffer {
  const key = Buffer.allocUnsafe(7);
  key[0] = LETTER;
  key.writeUInt32BE(height, 1);
  key.writeUInt16BE(Math.floor(index / CHUNK_TXIDS), 5);
  return key;
}

/** Whether the txids of two transactions are in the same chunk. */
export function isSameChunk(position: Position, other: Position): boolean {
  return position.height === other.height && Math.floor(position.index / CHUNK_TXIDS) === Math.floor(other.index / CHUNK_TXIDS);
}

/** All chunks of a block. */
export function txidsOfBlock(height: number): StoreRange {
  return { gte: txidsKey(height, 0), lt: txidsKey(height + 1, 0) };
}

/** The keys of a block with this number of transactions. */
export function txidsKeys(height: number, transactions: number): Buffer[] {
  return Array.from({ length: Math.ceil(transactions / CHUNK_TXIDS) }, (_, chunk) => txidsKey(height, chunk * CHUNK_TXIDS));
}

/** The records of a block. `txids`: concatenated. */
export function putTxids(height: number, txids: Buffer): StorePut[] {
  return txidsKeys(height, txids.length / TXID_LENGTH).map((key, chunk) =>
    putRecord(key, txids.subarray(chunk * CHUNK_BYTES, (chunk + 1) * CHUNK_BYTES))
  );
}

/** The concatenated txids of a chunk, a view. @throws DamagedIndexError */
export function txidsIn(key: Buffer, value: Buffer): Buffer {
  const record = recordOf(key, value);
  if (record.length === 0 || record.length > CHUNK_BYTES || record.length % TXID_LENGTH !== 0)
    throw damaged(key, `1 to ${CHUNK_TXIDS} txids`, `${record.length} bytes`);
  return record;
}
