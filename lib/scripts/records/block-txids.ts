// What the store says of the txids of blocks, which are in its pages (lib/scripts/txids).
//
//   'n' height 4    for up to 256 blocks from this height, a multiple of 256: transactions of all blocks below 6; then for each block the number
//                   of its transactions, less one, 2, and the CRC-32 of its txids 4
//   'P'             the txids of the last page, which is not full, 32 each
//   'M'             number of blocks, from the genesis block up, whose txids are on the disk itself 4

import { crc32 } from 'node:zlib';
import { TXID_LENGTH } from '../../bitcoin/transaction';
import { damaged, keyOfHeight, putRecord, recordOf, type Records } from '../../index/records/layout';
import type { StorePut } from '../../store/store';

/** Blocks in a record. */
export const GROUP_BLOCKS = 256;

const HEAD_LENGTH = 6;
const BLOCK_LENGTH = 6;

const LAST_PAGE_KEY = Buffer.from('P');
const SYNCED_KEY = Buffer.from('M');

const keyOf = keyOfHeight('n');

/** The key of the record that has the block at a height. */
export const groupKey = (height: number): Buffer => keyOf(height - (height % GROUP_BLOCKS));

/** Blocks whose records stand together. Records are immutable. */
export class BlockGroup {
  /** The record. */
  readonly bytes: Buffer;

  private constructor(bytes: Buffer) {
    this.bytes = bytes;
  }

  /** A group without blocks. `below`: number of the transactions of all blocks below. */
  static after(below: number): BlockGroup {
    const bytes = Buffer.alloc(HEAD_LENGTH);
    bytes.writeUIntBE(below, 0, HEAD_LENGTH);
    return new BlockGroup(bytes);
  }

  /** `value`: that of a key from `groupKey`. @throws DamagedIndexError */
  static of(key: Buffer, value: Buffer): BlockGroup {
    const bytes = recordOf(key, value);
    const blocks = (bytes.length - HEAD_LENGTH) / BLOCK_LENGTH;
    if (!Number.isInteger(blocks) || blocks < 1 || blocks > GROUP_BLOCKS)
      throw damaged(key, `1 to ${GROUP_BLOCKS} blocks`, `${bytes.length} bytes`);
    return new BlockGroup(bytes);
  }

  get blocks(): number {
    return (this.bytes.length - HEAD_LENGTH) / BLOCK_LENGTH;
  }

  /** Transactions of all blocks below the group. */
  get below(): number {
    return this.bytes.readUIntBE(0, HEAD_LENGTH);
  }

  /** Number of transactions of a block. `block`: its number in the group. */
  transactions(block: number): number {
    return this.bytes.readUInt16BE(HEAD_LENGTH + block * BLOCK_LENGTH) + 1;
  }

  /** Whether these are the txids of a block. */
  has(block: number, txids: Buffer): boolean {
    const at = HEAD_LENGTH + block * BLOCK_LENGTH;
    return this.transactions(block) * TXID_LENGTH === txids.length && this.bytes.readUInt32BE(at + 2) === crc32(txids);
  }

  /** The group with one more block. `txids`: of the block, concatenated; at least one. */
  plus(txids: Buffer): BlockGroup {
    const bytes = Buffer.allocUnsafe(this.bytes.length + BLOCK_LENGTH);
    const at = this.bytes.copy(bytes);
    bytes.writeUInt32BE(crc32(txids), bytes.writeUInt16BE(txids.length / TXID_LENGTH - 1, at));
    return new BlockGroup(bytes);
  }

  /** The group without its last block. */
  withoutLast(): BlockGroup {
    return new BlockGroup(this.bytes.subarray(0, -BLOCK_LENGTH));
  }
}

/** `height`: of any block of the group. */
export const putGroup = (height: number, { bytes }: BlockGroup): StorePut => putRecord(groupKey(height), bytes);

/** `txids`: concatenated. */
export const putLastPage = (txids: Buffer): StorePut => putRecord(LAST_PAGE_KEY, txids);

/** None if there is no record. @throws DamagedIndexError */
export function lastPageIn(store: Records): Buffer {
  const value = store.get(LAST_PAGE_KEY);
  return value === undefined ? Buffer.alloc(0) : recordOf(LAST_PAGE_KEY, value);
}

/** `blocks`: how many, from the genesis block up, have their txids on the disk itself. */
export function putSynced(blocks: number): StorePut {
  const record = Buffer.allocUnsafe(4);
  record.writeUInt32BE(blocks);
  return putRecord(SYNCED_KEY, record);
}

/** 0 if there is no record. @throws DamagedIndexError */
export function syncedIn(store: Records): number {
  const value = store.get(SYNCED_KEY);
  return value === undefined ? 0 : recordOf(SYNCED_KEY, value, 4).readUInt32BE();
}
