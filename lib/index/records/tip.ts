// The block that the index is at.
//
//   'T'    height 4, hash 32

import { BLOCK_RECORDS, damaged, putRecord, recordOf } from './layout';
import type { BlockPoint } from '../../node/types';
import type { Store, StorePut } from '../../store/store';

export const TIP_KEY = Buffer.from('T');

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

/** undefined: there is no block in the index. @throws DamagedIndexError when there are records of blocks, but no tip. */
export async function findTip(store: Pick<Store, 'get' | 'range'>): Promise<BlockPoint | undefined> {
  const value = store.get(TIP_KEY);
  if (value !== undefined) return decodeTip(value);
  for await (const [key] of store.range({ ...BLOCK_RECORDS, limit: 1 }))
    throw damaged(TIP_KEY, `a tip beside the record under ${key.toString('hex')}`, 'none');
  return undefined;
}
