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
