// The filter of a block on its way into the index: made of the scripts of its outputs, which were hashed with its rows, and of
// the scripts of the coins that it spends. Coins that the block itself made may be left out: their scripts are those of outputs.

import { setImmediate } from 'node:timers/promises';
import { basicFilter, ScriptHashes } from '../../bitcoin/block-filter';
import { runAhead, Slice } from '../../turns/slices';
import { OUTPOINT_WORDS } from '../records/cache-entry';
import { BASE_COIN_AT } from '../records/base-coin';
import { CoinScript } from '../records/coin-record';
import { spentCoinStart } from '../records/undo-record';
import type { SpentNodeCoin } from '../../node/types/coins';
import type { BlockRows } from '../scan/rows';

/**
 * The coins that a block spends, in the form in which they are at hand: the bytes of a SpentCoinList, and for coins of the base
 * those of BaseSpends.takeUndo.
 */
export interface SpentCoinBytes {
  readonly coins: Uint8Array;
  readonly ofBase: Uint8Array;
}

/** The serialized filter of a block. */
export async function filterOfRows({ hash, inputs, scriptHashes }: BlockRows, { coins, ofBase }: SpentCoinBytes): Promise<Buffer> {
  const hashes = new ScriptHashes(hash, new Uint32Array((inputs.length / OUTPOINT_WORDS) * 2));
  const script = new CoinScript();
  const slice = new Slice();
  const hashAll = async (bytes: Uint8Array, startOfCoin: (bytes: Uint8Array, at: number) => number): Promise<void> => {
    for (let at = 0; at < bytes.length;) {
      at = script.read(bytes, startOfCoin(bytes, at));
      hashes.addSpent(script.bytes, script.start, script.end);
      if (slice.isOverAfterStep()) await setImmediate();
    }
  };
  await hashAll(coins, spentCoinStart);
  await hashAll(ofBase, (_, at) => at + BASE_COIN_AT);
  return runAhead(basicFilter(scriptHashes, hashes.words));
}

/** The serialized filter of a block, from the coins as the node has them. */
export async function filterOverNodeCoins({ hash, scriptHashes }: BlockRows, coins: readonly SpentNodeCoin[]): Promise<Buffer> {
  const hashes = new ScriptHashes(hash, new Uint32Array(coins.length * 2));
  const slice = new Slice();
  for (const { script } of coins) {
    hashes.addSpent(script, 0, script.length);
    if (slice.isOverAfterStep()) await setImmediate();
  }
  return runAhead(basicFilter(scriptHashes, hashes.words));
}
