// The chain of the index: headers by height, heights by block hash, and the tip, which is the block that the index is at.
//
//   'h' height 4         hash 32, header 80, chainwork 32, median time past 4, transactions 4,
//                        transactions of the chain 8, bytes of the chain 8
//   'b' block hash 32    height 4
//   'T'                  height 4, hash 32

import { nextHeader } from '../../bitcoin/header';
import { BASE_KEY, BLOCK_RECORDS, damaged, keyOfHeight, putRecord, recordOf, type Records } from './layout';
import type { BlockPoint } from '../../node/types/chain';
import type { Store, StorePut } from '../../store/store';
import type { HeaderDetails, HeaderRecord } from '../types';

const HEADER_RECORD_LENGTH = 168;

/** Offsets of the parts of a header record. Details: chainwork, median time past, transactions. */
export const HEADER_RECORD = {
  hash: { start: 0, end: 32 },
  header: { start: 32, end: 112 },
  details: { start: 112, end: 152 }
} as const;

export const DETAILS_LENGTH = HEADER_RECORD.details.end - HEADER_RECORD.details.start;

/** The details that begin at `at`. */
export function detailsIn(bytes: Buffer, at: number): HeaderDetails {
  return {
    chainwork: bytes.subarray(at, at + 32),
    medianTime: bytes.readUInt32BE(at + 32),
    transactionCount: bytes.readUInt32BE(at + 36)
  };
}

/** A header record as stored, with a count that readers do not get. */
export interface StoredHeader extends HeaderRecord {
  /** Transactions of all blocks up to and including this one. */
  readonly chainTransactions: number;
}

export const headerKey = keyOfHeight('h');

/** The key of a block's height. `hash`: 32 bytes in wire order. */
export const blockHashKey = (hash: Buffer): Buffer => Buffer.concat([Buffer.from('b'), hash]);

/** The record under 'h', 168 bytes, without checksum. The height is not in it: it is in the key. */
export function encodeHeader(header: StoredHeader): Buffer {
  const record = Buffer.allocUnsafe(HEADER_RECORD_LENGTH);
  header.hash.copy(record, 0);
  header.header.copy(record, 32);
  record.write(header.chainwork.toString(16).padStart(64, '0'), 112, 'hex');
  record.writeUInt32BE(header.medianTime, 144);
  record.writeUInt32BE(header.transactionCount, 148);
  record.writeBigUInt64BE(BigInt(header.chainTransactions), 152);
  record.writeBigUInt64BE(BigInt(header.chainBytes), 160);
  return record;
}

/** Hash and header are views. @throws DamagedIndexError */
export function decodeHeader(key: Buffer, value: Buffer | undefined): StoredHeader {
  const record = headerRecordOf(key, value);
  const { chainwork, ...details } = detailsIn(record, HEADER_RECORD.details.start);
  return {
    ...details,
    height: key.readUInt32BE(1),
    hash: record.subarray(0, 32),
    header: record.subarray(32, 112),
    chainwork: BigInt(`0x${chainwork.toString('hex')}`),
    chainTransactions: Number(record.readBigUInt64BE(152)),
    chainBytes: Number(record.readBigUInt64BE(160))
  };
}

/** The header record in a value that was read, a view. @throws DamagedIndexError */
export function headerRecordOf(key: Buffer, value: Buffer | undefined): Buffer {
  if (value === undefined) throw damaged(key, 'a header', 'none');
  return recordOf(key, value, HEADER_RECORD_LENGTH);
}

/** The header at a height that the index has. @throws DamagedIndexError */
export function headerAt(records: Records, height: number): StoredHeader {
  const key = headerKey(height);
  return decodeHeader(key, records.get(key));
}

/** The write that puts a block's height, 4 bytes, big endian, under its hash, 32 bytes in wire order. */
export function putHeight(hash: Buffer, height: number): StorePut {
  const record = Buffer.allocUnsafe(4);
  record.writeUInt32BE(height);
  return putRecord(blockHashKey(hash), record);
}

/** undefined: the index has no such block. @throws DamagedIndexError */
export function heightOf(records: Records, hash: Buffer): number | undefined {
  const key = blockHashKey(hash);
  const value = records.get(key);
  return value && recordOf(key, value, 4).readUInt32BE();
}

export const TIP_KEY = Buffer.from('T');

/** The write that moves the tip. What readers need of its block is in the same batch, or in an earlier one. */
export function putTip({ height, hash }: BlockPoint): StorePut {
  const record = Buffer.alloc(36);
  record.writeUInt32BE(height);
  hash.copy(record, 4);
  return putRecord(TIP_KEY, record);
}

/** @throws DamagedIndexError */
export function decodeTip(value: Buffer): BlockPoint {
  const record = recordOf(TIP_KEY, value, 36);
  return { height: record.readUInt32BE(), hash: record.subarray(4) };
}

/**
 * undefined: there is no block in the index, or only a part of the coins that it starts from (bootstrap/copy-coins.ts).
 * @throws DamagedIndexError when there are records of blocks, but no tip.
 */
export async function findTip(store: Pick<Store, 'get' | 'range'>): Promise<BlockPoint | undefined> {
  const value = store.get(TIP_KEY);
  if (value !== undefined) return decodeTip(value);
  if (store.get(BASE_KEY) !== undefined) return undefined;
  for await (const [key] of store.range({ ...BLOCK_RECORDS, limit: 1 }))
    throw damaged(TIP_KEY, `a tip beside the record under ${key.toString('hex')}`, 'none');
  return undefined;
}

/** The end of a chain of headers: what the next header builds on. */
export interface HeaderChain {
  /** undefined: the genesis block is next. */
  readonly tip: StoredHeader | undefined;
  /** Times of the last blocks, MEDIAN_TIME_SPAN at most, the tip's last. */
  readonly times: readonly number[];
}

export const NO_HEADERS: HeaderChain = { tip: undefined, times: [] };

/** The chain with one more header. `counted`: its number of transactions, and the counts of the chain up to and including it. */
export function extendHeaders(
  { tip, times }: HeaderChain,
  hash: Buffer,
  header: Buffer,
  counted: Pick<StoredHeader, 'transactionCount' | 'chainTransactions' | 'chainBytes'>
): HeaderChain & { readonly tip: StoredHeader } {
  const next = nextHeader(tip && { chainwork: tip.chainwork, times }, header);
  const { chainwork, medianTime } = next;
  return { tip: { height: tip === undefined ? 0 : tip.height + 1, hash, header, chainwork, medianTime, ...counted }, times: next.times };
}
