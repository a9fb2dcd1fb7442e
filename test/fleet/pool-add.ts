import { plainTransaction } from '../support/chain/made-blocks';
import type { PoolAdd } from '../../lib/fleet/messages/records';
import type { NodeSource } from '../../lib/node/types/source';

/** What the log says of a transaction of a node's pool. */
export async function poolAddOf({ pool }: Pick<NodeSource, 'pool'>, txid: Buffer): Promise<PoolAdd> {
  const [entry, transaction] = [pool.entry(txid), await pool.withCoins(txid)];
  if (entry === undefined || transaction === undefined) throw new Error('expected the transaction in the pool');
  const { size, adjustedWeight, time, height, fee, modifiedFee, isUnbroadcast } = entry;
  const { raw, coins } = transaction;
  return { type: 'add', raw, coins, size, adjustedWeight, time, height, fee, modifiedFee, isUnbroadcast };
}

/** What cannot be applied. */
export const UNREADABLE: PoolAdd = {
  ...{ type: 'add', raw: Buffer.of(0), coins: [], size: 1, adjustedWeight: 4 },
  ...{ time: 1, height: 1, fee: 1, modifiedFee: 1, isUnbroadcast: false }
};

/** What can. */
export const POOLED: PoolAdd = {
  ...UNREADABLE,
  raw: plainTransaction([Buffer.alloc(32, 1)], 1),
  coins: [{ value: 2, script: Buffer.of(0x51) }]
};
