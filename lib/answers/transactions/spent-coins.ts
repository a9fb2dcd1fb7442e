// The coins that a transaction spends on its way into the pool.

import { LIMITS } from '../../policy/limits';
import { nextTurn, Slice } from '../../turns/slices';
import type { ScannedTransaction } from '../../bitcoin/transaction';
import type { IndexReader, IndexSnapshot } from '../../index/types';
import type { PoolSource } from '../../node/types/pool';
import type { NodeSource } from '../../node/types/source';
import type { SpentCoin } from '../../policy/transaction';

/** What a transaction spends. */
export interface Spent {
  /** One for each input. */
  readonly coins: readonly SpentCoin[];
  readonly fee: number;
  /** Of the next block. */
  readonly height: number;
}

/**
 * What a transaction spends, of index and pool. Undefined when a spent output is in neither, and for a weight that no standard pool takes: the
 * pool itself then holds to the limit of the fee rate. A transaction may spend thousands of outputs; one with few is looked at in one go, so
 * that a child does not overtake its parent.
 */
export async function spentBy(
  { weight, inputs, outputs }: ScannedTransaction,
  { reader, node: { pool } }: { readonly reader: IndexReader; readonly node: Pick<NodeSource, 'pool'> }
): Promise<Spent | undefined> {
  if (weight > LIMITS.mostWeight) return undefined;
  return reader.read(async (snapshot) => {
    const slice = new Slice();
    const coins: SpentCoin[] = [];
    let fee = 0;
    for (const { txid, index } of inputs) {
      const coin = spentCoin(txid, index, snapshot, pool);
      if (coin === undefined) return undefined;
      coins.push(coin);
      fee += coin.value;
      if (slice.isOverAfterStep()) await nextTurn();
    }
    for (const { value } of outputs) fee -= value;
    return { coins, fee, height: snapshot.tip.height + 1 };
  });
}

function spentCoin(txid: Buffer, index: number, snapshot: IndexSnapshot, pool: PoolSource): SpentCoin | undefined {
  const coin = snapshot.coin(txid, index);
  if (coin !== undefined) return { ...coin, isCoinbase: coin.coinbase };
  const pooled = pool.coin(txid, index);
  return pooled && { ...pooled, height: undefined, isCoinbase: false };
}
