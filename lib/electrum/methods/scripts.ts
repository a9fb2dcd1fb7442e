// What transactions did with a script, and its coins.

import { RowCache } from '../../answers/scripts/row-cache';
import { compareDisplayed } from '../../bitcoin/hash';
import { TooManyCoinsError } from '../../scripts/errors';
import { ownCopy } from '../../server/cache/answer-cache';
import { runInSlices } from '../../turns/slices';
import { sorted } from '../../turns/sorted';
import { anyOf, described, listOf, named, nullable, object, type Schema } from '../../describe/schema';
import { ASKED_HASH, COUNT, FLAG, HEIGHT, SATOSHI_CHANGE, SATOSHIS, TXID } from '../../describe/values';
import { JsonWriter } from '../../views/json-writer';
import { readScriptHash } from './arguments';
import { beginItem, HistoryTexts, ITEM_LENGTH, ITEMS_PER_SLICE } from './history-texts';
import { COIN_POINTS, COUNT_POINTS, MOST_COUNT_POINTS, ROW_POINTS } from './points';
import type { ScriptHistory } from '../../answers/status/history';
import type { ScriptCoin, ScriptTotals } from '../../scripts/types';
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

  const asking = (summary: string, result: Schema, answer: ScriptAnswer): Method => ({
    about: { summary, parameters: [SCRIPT_HASH], result },
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

  const countedBalance = ({ script, snapshot }: ScriptHistory, client: ElectrumClient): string | Promise<string> => {
    const counted = totals.of(script, snapshot, client);
    return counted instanceof Promise ? counted.then((chain) => balance(chain, NOTHING, client)) : balance(counted, NOTHING, client);
  };

  const balanceWithPool = async ({ script, snapshot, pooled }: ScriptHistory, client: ElectrumClient): Promise<string> => {
    const pool = await pooled.totals(client);
    return balance(await totals.of(script, snapshot, client), pool, client);
  };

  const coinsOfChain = ({ script, snapshot }: ScriptHistory, client: ElectrumClient): Buffer | Promise<Buffer> => {
    const written = (unspent: readonly ScriptCoin[]): Buffer | Promise<Buffer> => {
      client.charge(unspent.length * COIN_POINTS);
      const keep = (text: Buffer): Buffer => {
        coinsTexts.setIfAskedBefore(script, snapshot.stamp, () => ({ coins: unspent.length, text: ownCopy(text) }));
        return text;
      };
      if (unspent.length > ITEMS_PER_SLICE) return runInSlices(coinsText(unspent), client).then(keep);
      const writer = beginCoins(unspent.length);
      for (const coin of unspent) writeCoin(writer, coin);
      return keep(endCoins(writer));
    };
    const found = coins.of(script, maxHistory, snapshot, client);
    return found instanceof Promise ? found.then(written) : written(found);
  };

  const coinsWithPool = async ({ script, snapshot, pooled }: ScriptHistory, client: ElectrumClient): Promise<Buffer> => {
    const ofPool = await pooled.outputs(client);
    const ofChain = await coins.of(script, maxHistory + ofPool.spentOfChain, snapshot, client);
    client.charge((ofChain.length + ofPool.coins.length) * COIN_POINTS);
    const unspent = ofChain.filter(({ txid, index }) => !ofPool.spends(txid, index));
    const made = ofPool.coins.map(({ txid, index, value }) => ({ txid, index, value, height: 0 }));
    if (unspent.length + made.length > maxHistory) throw new TooManyCoinsError(`more than ${maxHistory} coins are the script's`);
    return runInSlices(coinsText([...unspent, ...(await runInSlices(sorted(made, byOutpoint), client))]), client);
  };

  return {
    'blockchain.scripthash.get_balance': asking('The balance of a script.', BALANCE, (history, client) =>
      history.pooled.isEmpty ? countedBalance(history, client) : balanceWithPool(history, client)
    ),
    'blockchain.scripthash.get_history': asking('The transactions of a script.', HISTORY, (history, client) => texts.of(history, client)),
    'blockchain.scripthash.get_mempool': asking('The transactions of a script in the pool.', POOL_HISTORY, (history, client) =>
      texts.ofPool(history, client)
    ),
    'blockchain.scripthash.listunspent': asking(
      'The unspent outputs of a script, those of the chain first.',
      UNSPENT,
      (history, client) => {
        if (!history.pooled.isEmpty) return coinsWithPool(history, client);
        const known = coinsTexts.get(history.script, history.snapshot);
        if (known === undefined) return coinsOfChain(history, client);
        client.charge(known.coins * COIN_POINTS);
        return known.text;
      }
    ),
    'blockchain.scripthash.subscribe': {
      about: {
        summary: 'The status of a script, of whose changes the client is notified from now on.',
        parameters: [SCRIPT_HASH],
        result: SCRIPT_STATUS,
        notification: { scripthash: SCRIPT_HASH, status: SCRIPT_STATUS }
      },
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
      about: {
        summary: 'Ends the notifications about a script.',
        parameters: [SCRIPT_HASH],
        result: { ...FLAG, description: 'Whether the client was subscribed to it.' }
      },
      parameters: ['scripthash'],
      required: 1,
      since: '1.4.2',
      answer: (values, { subscriptions }) => JSON.stringify(subscriptions.removeScript(readScriptHash(values[0]).script))
    }
  };
}

export const SCRIPT_HASH: Schema = { ...ASKED_HASH, description: 'The SHA-256 of a script in hex, in reverse order.' };

const BALANCE = named(
  'Balance',
  object({ confirmed: SATOSHIS, unconfirmed: described('What the pool changes, in satoshis; may be negative.', SATOSHI_CHANGE) })
);

const POOLED = named(
  'PooledTransaction',
  object({
    tx_hash: TXID,
    height: { enum: [0, -1], description: '-1 while it spends an output that is not confirmed.' },
    fee: SATOSHIS
  })
);

const HISTORY = described(
  'Of the chain upwards, then of the pool.',
  listOf(anyOf(named('ConfirmedTransaction', object({ tx_hash: TXID, height: { ...HEIGHT, minimum: 1 } })), POOLED))
);

const POOL_HISTORY = listOf(POOLED);

const UNSPENT = listOf(
  named(
    'Unspent',
    object({
      tx_hash: TXID,
      height: described('0 in the pool.', HEIGHT),
      tx_pos: { ...COUNT, description: 'The index of the output.' },
      value: SATOSHIS
    })
  )
);

const SCRIPT_STATUS = nullable({
  type: 'string',
  pattern: '^[0-9a-f]{64}$',
  description: "The SHA-256 of the script's history, in hex; null: it has no transactions."
});

const statusText = (status: ScriptStatus): string => (status === undefined ? 'null' : `"${status.toString('hex')}"`);

const NOTHING: ScriptTotals = { transactions: 0, funded: { count: 0, value: 0 }, spent: { count: 0, value: 0 } };

type WrittenCoin = Omit<ScriptCoin, 'coinbase'>;

const byOutpoint = (a: WrittenCoin, b: WrittenCoin): number => compareDisplayed(a.txid, b.txid) || a.index - b.index;

function* coinsText(coins: readonly WrittenCoin[]): Generator<void, Buffer> {
  const writer = beginCoins(coins.length);
  for (const [i, coin] of coins.entries()) {
    writeCoin(writer, coin);
    if (i % ITEMS_PER_SLICE === ITEMS_PER_SLICE - 1) yield;
  }
  return endCoins(writer);
}

function beginCoins(count: number): JsonWriter {
  const writer = new JsonWriter(count * ITEM_LENGTH + 2);
  writer.ascii('[');
  return writer;
}

function writeCoin(writer: JsonWriter, { txid, index, height, value }: WrittenCoin): void {
  beginItem(writer, txid, height);
  writer.integerField(',"tx_pos":', index);
  writer.integerField(',"value":', value);
  writer.ascii('}');
}

function endCoins(writer: JsonWriter): Buffer {
  writer.ascii(']');
  return writer.toBuffer();
}
