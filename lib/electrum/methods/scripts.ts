// What transactions did with a script, and its coins.

import { RowCache } from '../../answers/scripts/row-cache';
import { compareDisplayed } from '../../bitcoin/hash';
import { TooManyCoinsError } from '../../scripts/errors';
import { ownCopy } from '../../server/cache/answer-cache';
import { runInSlices } from '../../turns/slices';
import { sorted } from '../../turns/sorted';
import { JsonWriter } from '../../views/json-writer';
import { readScriptHash } from './arguments';
import { beginItem, HistoryTexts, ITEM_LENGTH, ITEMS_PER_SLICE } from './history-texts';
import { COIN_POINTS, COUNT_POINTS, MOST_COUNT_POINTS, ROW_POINTS } from './points';
import type { ChainCoin } from '../../answers/scripts/coins';
import type { ScriptHistory } from '../../answers/status/history';
import type { ScriptTotals } from '../../scripts/types';
import type { ElectrumClient, Method, MethodContext, Result, ScriptStatus } from '../method';

/** The coins of the chain as a list, with its brackets. */
interface CoinsText {
  readonly coins: number;
  readonly text: Buffer;
}

type ScriptAnswer = (history: ScriptHistory, client: ElectrumClient) => Result | Promise<Result>;

export function scriptMethods(context: MethodContext): Readonly<Record<string, Method>> {
  const { scripts, histories, totals, coins, cache, maxHistory } = context;
  const texts = new HistoryTexts(cache, maxHistory);
  /** Texts of coins of which the pool spends none. */
  const coinsTexts = new RowCache<CoinsText>(cache, 'coins-text', ({ text }) => text.length);

  const asking = (answer: ScriptAnswer): Method => ({
    parameters: ['scripthash'],
    required: 1,
    isHeavy: true,
    answer: (values, client) => {
      const { script } = readScriptHash(values[0]);
      return scripts.read((snapshot) => answer(histories.at(script, snapshot), client));
    }
  });

  const balance = (chain: ScriptTotals, pool: ScriptTotals, client: ElectrumClient): string => {
    client.charge(Math.min(chain.transactions * COUNT_POINTS, MOST_COUNT_POINTS));
    const confirmed = chain.funded.value - chain.spent.value;
    return `{"confirmed":${confirmed},"unconfirmed":${pool.funded.value - pool.spent.value}}`;
  };

  const countedBalance = async ({ script, snapshot, pooled }: ScriptHistory, client: ElectrumClient): Promise<string> => {
    const pool = pooled.isEmpty ? NOTHING : await pooled.totals(client);
    return balance(await totals.of(script, snapshot, client), pool, client);
  };

  const searchedCoins = async ({ script, snapshot, pooled }: ScriptHistory, client: ElectrumClient): Promise<Buffer> => {
    const ofPool = await pooled.outputs(client);
    const ofChain = await coins.of(script, maxHistory + ofPool.spentOfChain, snapshot, client);
    client.charge((ofChain.length + ofPool.coins.length) * COIN_POINTS);
    const unspent = ofChain.filter(({ txid, index }) => !ofPool.spends(txid, index));
    const made = ofPool.coins.map(({ txid, index, value }) => ({ txid, index, value, height: 0 }));
    if (unspent.length + made.length > maxHistory) throw new TooManyCoinsError(`more than ${maxHistory} coins are the script's`);
    const text = await runInSlices(coinsText(unspent, made), client);
    if (pooled.isEmpty) coinsTexts.setIfAskedBefore(script, snapshot.stamp, () => ({ coins: unspent.length, text: ownCopy(text) }));
    return text;
  };

  return {
    'blockchain.scripthash.get_balance': asking((history, client) => {
      const known = history.pooled.isEmpty ? totals.known(history.script, history.snapshot) : undefined;
      return known === undefined ? countedBalance(history, client) : balance(known, NOTHING, client);
    }),
    'blockchain.scripthash.get_history': asking((history, client) => texts.of(history, client)),
    'blockchain.scripthash.get_mempool': asking((history, client) => texts.ofPool(history, client)),
    'blockchain.scripthash.listunspent': asking((history, client) => {
      const known = history.pooled.isEmpty ? coinsTexts.get(history.script, history.snapshot) : undefined;
      if (known === undefined) return searchedCoins(history, client);
      client.charge(known.coins * COIN_POINTS);
      return known.text;
    }),
    'blockchain.scripthash.subscribe': {
      parameters: ['scripthash'],
      required: 1,
      isHeavy: true,
      answer: (values, client) => {
        const { script, name } = readScriptHash(values[0]);
        const status = client.subscriptions.addScript(script, name, (transactions) => {
          client.charge(transactions * ROW_POINTS);
        });
        return status instanceof Promise ? status.then(statusText) : statusText(status);
      }
    },
    'blockchain.scripthash.unsubscribe': {
      parameters: ['scripthash'],
      required: 1,
      since: '1.4.2',
      answer: (values, { subscriptions }) => JSON.stringify(subscriptions.removeScript(readScriptHash(values[0]).script))
    }
  };
}

const statusText = (status: ScriptStatus): string => (status === undefined ? 'null' : `"${status.toString('hex')}"`);

const NOTHING: ScriptTotals = { transactions: 0, funded: { count: 0, value: 0 }, spent: { count: 0, value: 0 } };

const byOutpoint = (a: ChainCoin, b: ChainCoin): number => compareDisplayed(a.txid, b.txid) || a.index - b.index;

/** Coins of the chain in its order, then coins of the pool by txid and output. */
function* coinsText(ofChain: readonly ChainCoin[], ofPool: readonly ChainCoin[]): Generator<void, Buffer> {
  const coins = [...ofChain, ...(yield* sorted(ofPool, byOutpoint))];
  const writer = new JsonWriter(coins.length * ITEM_LENGTH + 2);
  writer.ascii('[');
  for (const [i, { txid, index, height, value }] of coins.entries()) {
    beginItem(writer, txid, height);
    writer.integerField(',"tx_pos":', index);
    writer.integerField(',"value":', value);
    writer.ascii('}');
    if (i % ITEMS_PER_SLICE === ITEMS_PER_SLICE - 1) yield;
  }
  writer.ascii(']');
  return writer.toBuffer();
}
