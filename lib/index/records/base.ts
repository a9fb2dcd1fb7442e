// The base of an index that was not built from blocks: the block at which the node's coins were
// copied. Coins up to its height keep their own key space (base-coin.ts). Everything else about
// the blocks up to the base is backfilled, the newest block first
// (lib/index/bootstrap/backfill.ts). An index built from blocks has no base.
//
//   'B'    height 4, hash 32, lowest height with known positions 4, bytes 8, ended 1
//
// Headers up to the base are there from the start. What only the blocks tell, their numbers of
// transactions and of bytes, is 0 until backfilled. Since it is not known at first how many bytes
// the chain has at the base, headers count the chain's bytes up and down from BASE_BYTES at the base.

import { BASE_KEY, putRecord, recordOf, type Records } from './layout';
import type { StoredHeader } from './chain';
import type { BlockPoint } from '../../node/types/chain';
import type { StorePut } from '../../store/store';

/** More bytes than any chain has. */
export const BASE_BYTES = 2 ** 50;

const BASE_LENGTH = 49;

export interface Base extends BlockPoint {
  /** From this height up the positions of transactions are known; at first, the height above the base. */
  readonly positionsFrom: number;
  /** Serialized size of the blocks from `positionsFrom` to the one where the coins were copied. */
  readonly bytes: number;
  /** The node has pruned the blocks below `positionsFrom`: they stay unknown. */
  readonly ended: boolean;
}

/** Whether there are positions to backfill. */
export function isBackfilling(base: Base): boolean {
  return base.positionsFrom > 0 && !base.ended;
}

/** The write that says where the base is and how far below it positions are backfilled: 49 bytes, integers big endian. */
export function putBase({ height, hash, positionsFrom, bytes, ended }: Base): StorePut {
  const record = Buffer.alloc(BASE_LENGTH);
  record.writeUInt32BE(height);
  hash.copy(record, 4);
  record.writeUInt32BE(positionsFrom, 36);
  record.writeBigUInt64BE(BigInt(bytes), 40);
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
    bytes: Number(record.readBigUInt64BE(40)),
    ended: record[48] === 1
  };
}

/**
 * The stored header with the count of the chain's bytes that readers get: those of the known blocks; 0 in a block that is not
 * backfilled.
 */
export function withKnownBytes(base: Base, header: StoredHeader): StoredHeader {
  // A block that is known has transactions.
  return { ...header, chainBytes: header.transactionCount === 0 ? 0 : header.chainBytes - BASE_BYTES + base.bytes };
}
