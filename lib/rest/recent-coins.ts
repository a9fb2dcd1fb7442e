// Coins of the index that were asked for lately: a wallet asks for the same ones again and
// again. What is kept is of one state of the index and is never given for another.

import type { Coin, HeaderRecord, IndexSnapshot } from '../index/types';
import type { AnswerCache, Kept, Shelf } from './answer-cache';

interface KeptCoin extends Kept {
  /** The state's own: no two states share one. */
  readonly tip: HeaderRecord;
  /** undefined: there is none. */
  readonly coin: Coin | undefined;
}

const NO_BYTES = Buffer.alloc(0);

export class RecentCoins {
  private readonly shelf: Shelf<KeptCoin>;

  constructor(cache: AnswerCache) {
    this.shelf = cache.shelf('coin');
  }

  /** As the snapshot's own. */
  coin(txid: Buffer, index: number, snapshot: IndexSnapshot): Coin | undefined {
    const { tip } = snapshot;
    const key = `${txid.toString('latin1')}${index}`;
    const kept = this.shelf.get(key);
    if (kept?.tip === tip) return kept.coin;
    const coin = withOwnScript(snapshot.coin(txid, index));
    this.shelf.set(key, { tip, coin, byteLength: coin?.script.length ?? 0 });
    return coin;
  }
}

/** A script that stands in a larger buffer would keep all of it. */
function withOwnScript(coin: Coin | undefined): Coin | undefined {
  if (coin === undefined) return undefined;
  const script = coin.script.length === 0 ? NO_BYTES : Buffer.allocUnsafeSlow(coin.script.length);
  coin.script.copy(script);
  return { ...coin, script };
}
