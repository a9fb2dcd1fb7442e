// The base of an index that was not built from blocks: the block at whose state the node's
// coins were copied. Coins up to its height have a key space of their own for ever
// (base-coin.ts), and what blocks up to it say beside coins is backfilled, the
// newest first (lib/index/bootstrap/backfill.ts). An index built from blocks has no base.
//
//   'B'    height 4, hash 32, lowest height with known positions 4, bytes 8, ended 1
//
// Headers up to the base are there from the start, without what only the blocks tell:
// transactions 0 and bytes 0 until backfilled. Since nobody knows at first how many bytes the
// chain had at the base, all headers count from BASE_BYTES there, up and down.

import { putRecord, readU64, recordOf, writeU64, type Records } from './layout';
import type { StoredHeader } from './header';
import type { BlockPoint } from '../../node/types';
import type { StorePut } from '../../store/store';

export const BASE_KEY = Buffer.from('B');

/** More than any chain has bytes. */
export const BASE_BYTES = 2 ** 50;

const BASE_LENGTH = 49;

export interface Base extends BlockPoint {
  /** From this height up it is known where transactions are; above the base at first. */
  readonly positionsFrom: number;
  /** Bytes of the blocks from `positionsFrom` to where the coins were copied. */
  readonly bytes: number;
  /** The node has thrown away what lies below `positionsFrom`. */
  readonly ended: boolean;
}

/** Whether there are positions to backfill. */
export function isBackfilling(base: Base): boolean {
  return base.positionsFrom > 0 && !base.ended;
}

export function putBase({ height, hash, positionsFrom, bytes, ended }: Base): StorePut {
  const record = Buffer.alloc(BASE_LENGTH);
  record.writeUInt32BE(height);
  hash.copy(record, 4);
  record.writeUInt32BE(positionsFrom, 36);
  writeU64(record, bytes, 40);
  record.writeUInt8(ended ? 1 : 0, 48);
  return putRecord(BASE_KEY, record);
}

/** undefined: the index was built from blocks. @throws DamagedIndexError */
export function findBase(records: Records): Base | undefined {
  const value = records.get(BASE_KEY);
  if (value === undefined) return undefined;
  const record = recordOf(BASE_KEY, value, BASE_LENGTH);
  return {
    height: record.readUInt32BE(),
    hash: record.subarray(4, 36),
    positionsFrom: record.readUInt32BE(36),
    bytes: readU64(record, 40),
    ended: record[48] === 1
  };
}

/** The header as it is told: with the bytes of the chain as far as they are known, 0 for a block that is not. */
export function headerOver(base: Base, header: StoredHeader): StoredHeader {
  // No block is without transactions.
  return { ...header, chainBytes: header.transactionCount === 0 ? 0 : header.chainBytes - BASE_BYTES + base.bytes };
}
