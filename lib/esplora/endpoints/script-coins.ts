// The coins of a script: those of the chain that the pool does not spend, then those that the pool creates.

import { confirmationAt, type Confirmation } from '../../answers/transactions/transactions';
import { json } from '../../describe/open-api';
import { listOf } from '../../describe/schema';
import { runInSlices } from '../../turns/slices';
import { COIN, writeEsploraCoin, type EsploraCoin } from '../../views/esplora/coins';
import { JsonWriter } from '../../views/json-writer';
import { tooManyCoins } from '../errors';
import { jsonReply, replyFrom } from '../reply';
import type { ScriptCoins } from '../../scripts/script-coins';
import type { IndexSnapshot } from '../../index/types';
import type { EsploraContext } from '../endpoint';
import type { ScriptAnswer, ScriptOperation } from './script-answer';

const COIN_TEXT_LENGTH = 320;
const COINS_PER_SLICE = 64;

export const COINS: ScriptOperation = {
  id: 'Coins',
  summary: 'The unspent outputs of a script.',
  answer: json('Those of the chain that the pool does not spend, then those of the pool.', listOf(COIN))
};

export function scriptCoins({ maxUnspent, coins: coinsOf }: EsploraContext): ScriptAnswer {
  return async ({ hash: script, snapshot, pooled, bases }, request) => {
    const { index } = snapshot;
    const ofPool = await pooled.outputs(request);
    // Coins of the chain that the pool spends are not in the reply, and do not count.
    const ofChain = await coinsOf.of(script, maxUnspent + ofPool.totals.spent.count, snapshot, request);
    const left = ofChain.without(ofPool.spends);
    if (left.count + ofPool.coins.length > maxUnspent) throw tooManyCoins();
    const text = await runInSlices(coinsText([...withStatus(left, index), ...ofPool.coins]), request);
    return replyFrom(jsonReply(text), bases.ofScript(script));
  };
}

function withStatus(coins: ScriptCoins, index: IndexSnapshot): EsploraCoin[] {
  const known = new Map<number, Confirmation>();
  return Array.from(coins, ({ txid, index: n, value, height }) => {
    const status = known.get(height) ?? confirmationAt(height, index);
    known.set(height, status);
    return { txid, index: n, value, status };
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
