// The coins of a script: those of the chain that the pool does not spend, then those that the pool makes.

import { hash } from 'node:crypto';
import { isUnspendable } from '../../bitcoin/script';
import { scanTransaction } from '../../bitcoin/transaction';
import { MadeOnce, type Cached, type Shelf } from '../../rest/cache/answers';
import { keyOf } from '../../rest/cache/blocks';
import { runInSlices } from '../../rest/server/slices';
import { JsonWriter } from '../../views/json-writer';
import { writeEsploraCoin, type EsploraCoin } from '../../views/esplora/coins';
import { tooManyCoins } from '../errors';
import { jsonReply } from '../reply';
import { confirmationAt, type Confirmation } from '../transactions';
import type { IndexSnapshot } from '../../index/types';
import type { ScriptCoin, ScriptRow, ScriptSnapshot } from '../../scripts/types';
import type { EsploraContext, EsploraRequest } from '../endpoint';
import type { ChainTotals } from '../../script-answers/chain-totals';
import type { ScriptAnswer } from './script-answer';

const COIN_TEXT_LENGTH = 320;
const COINS_PER_SLICE = 64;

/** An output of the chain that nothing has spent. */
type ChainCoin = Pick<ScriptCoin, 'txid' | 'index' | 'value' | 'height'>;

interface CachedCoins extends Cached {
  readonly coins: readonly ChainCoin[];
}

/** The object, its txid and that one's memory. */
const BYTES_PER_COIN = 256;

const sha256 = (script: Buffer): Buffer => hash('sha256', script, 'buffer');

export function scriptCoins(context: EsploraContext, totals: ChainTotals): ScriptAnswer {
  const { maxUnspent } = context;
  /** By the block at the tip: wallets ask for the same coins until the next one. */
  const cached: Shelf<CachedCoins> = context.rest.cache.shelf('script-coins');
  const reading = new MadeOnce<readonly ChainCoin[]>();
  /** Outputs of a script that is too long to be run are no coins, and are not spent. Esplora shows them all the same. */
  const deadCoins = async (script: Buffer, snapshot: ScriptSnapshot, client: EsploraRequest): Promise<ChainCoin[]> => {
    const { funded, spent, transactions } = await totals.of(script, snapshot, client);
    if (funded.count === spent.count) return [];
    if (funded.count > maxUnspent) throw tooManyCoins();
    const rows = await snapshot.history(script, { limit: transactions, ascending: true });
    const found = await Promise.all(rows.map((row) => outputsOf(row, script, snapshot.index, client)));
    return found.flat();
  };
  const outputsOf = async (row: ScriptRow, script: Buffer, index: IndexSnapshot, client: EsploraRequest): Promise<ChainCoin[]> => {
    const { outputs } = scanTransaction(await context.transactions.bytes(row, index, client));
    return outputs.flatMap((output, n) =>
      isUnspendable(output.script) && sha256(output.script).equals(script)
        ? [{ txid: row.txid, index: n, value: output.value, height: row.position.height }]
        : []
    );
  };
  const read = async (script: Buffer, snapshot: ScriptSnapshot, most: number, client: EsploraRequest): Promise<readonly ChainCoin[]> => {
    const coins = await snapshot.coins(script, most);
    if (coins.length === 0) return deadCoins(script, snapshot, client);
    return coins.map(({ txid, index, value, height }) => ({ txid, index, value, height }));
  };
  return async ({ hash: script, snapshot, pooled }, request) => {
    const { index } = snapshot;
    const ofPool = await pooled.outputs(request);
    // What the pool spends of the chain's is no part of the reply.
    const most = maxUnspent + ofPool.spentOfChain;
    const key = `${keyOf(index.tip.hash)}${keyOf(script)}${most}`;
    const known = cached.get(key)?.coins;
    const ofChain = known ?? (await reading.get(key, request, () => read(script, snapshot, most, request)));
    if (known === undefined) cached.offer(key, () => ({ coins: ofChain, byteLength: ofChain.length * BYTES_PER_COIN }));
    const left = ofChain.filter((coin) => !ofPool.spends(coin.txid, coin.index));
    if (left.length + ofPool.coins.length > maxUnspent) throw tooManyCoins();
    return jsonReply(await runInSlices(coinsText([...withStatus(left, index), ...ofPool.coins]), request));
  };
}

function withStatus(coins: readonly ChainCoin[], index: IndexSnapshot): EsploraCoin[] {
  const known = new Map<number, Confirmation>();
  return coins.map((coin) => {
    const { height } = coin;
    const status = known.get(height) ?? confirmationAt(height, index);
    known.set(height, status);
    return { txid: coin.txid, index: coin.index, value: coin.value, status };
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
