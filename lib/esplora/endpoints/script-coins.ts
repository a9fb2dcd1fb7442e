// The coins of a script: those of the chain that the pool does not spend, then those that the pool makes.

import { MadeOnce } from '../../rest/cache/answers';
import { keyOf } from '../../rest/cache/blocks';
import { runInSlices } from '../../rest/server/slices';
import { JsonWriter } from '../../views/json-writer';
import { writeEsploraCoin, type EsploraCoin } from '../../views/esplora/coins';
import { tooManyCoins } from '../errors';
import { jsonReply } from '../reply';
import { confirmationAt, type Confirmation } from '../transactions';
import type { IndexSnapshot } from '../../index/types';
import type { ScriptCoin } from '../../scripts/types';
import type { EsploraContext } from '../endpoint';
import type { ScriptAnswer } from './script-answer';

const COIN_TEXT_LENGTH = 320;
const COINS_PER_SLICE = 64;

export function scriptCoins({ maxUnspent }: EsploraContext): ScriptAnswer {
  const reading = new MadeOnce<ScriptCoin[]>();
  return async ({ hash, snapshot, pooled }, request) => {
    const { index } = snapshot;
    const ofPool = await pooled.outputs(request);
    // What the pool spends of the chain's is no part of the reply.
    const most = maxUnspent + ofPool.spentOfChain;
    const key = `${keyOf(index.tip.hash)}${keyOf(hash)}${most}`;
    const ofChain = await reading.get(key, request, () => snapshot.coins(hash, most));
    const left = ofChain.filter((coin) => !ofPool.spends(coin.txid, coin.index));
    if (left.length + ofPool.coins.length > maxUnspent) throw tooManyCoins();
    return jsonReply(await runInSlices(coinsText([...withStatus(left, index), ...ofPool.coins]), request));
  };
}

function withStatus(coins: readonly ScriptCoin[], index: IndexSnapshot): EsploraCoin[] {
  const known = new Map<number, Confirmation>();
  return coins.map((coin) => {
    const { height } = coin;
    const status = known.get(height) ?? confirmationAt(height, index);
    known.set(height, status);
    return { ...coin, status };
  });
}

function* coinsText(coins: readonly EsploraCoin[]): Generator<void, Buffer> {
  const writer = new JsonWriter(coins.length * COIN_TEXT_LENGTH + 2);
  writer.ascii('[');
  for (const [i, coin] of coins.entries()) {
    if (i > 0) writer.ascii(',');
    writeEsploraCoin(writer, coin);
    if (i % COINS_PER_SLICE === COINS_PER_SLICE - 1) yield;
  }
  writer.ascii(']');
  return writer.toBuffer();
}
