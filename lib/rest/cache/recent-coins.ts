// Coins of the index that were asked for lately, alone or among others.

import { StateShelf, withOwnMemory } from './replies';
import type { Coin, IndexSnapshot } from '../../index/types';
import type { AnswerCache } from './answers';

export class RecentCoins {
  /** undefined: there is none. */
  private readonly coins: StateShelf<Coin | undefined>;

  constructor(cache: AnswerCache) {
    this.coins = new StateShelf(cache, 'coin');
  }

  /** As the snapshot's own. */
  coin(txid: Buffer, index: number, snapshot: IndexSnapshot): Coin | undefined {
    const key = `${txid.toString('latin1')}${index}`;
    const kept = this.coins.get(key, snapshot);
    if (kept !== undefined) return kept.value;
    const found = snapshot.coin(txid, index);
    const coin = found && { ...found, script: withOwnMemory(found.script) };
    this.coins.set(key, snapshot, coin, coin?.script.length ?? 0);
    return coin;
  }
}
