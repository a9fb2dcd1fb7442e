// What transactions did with a script, and its coins.

import { compareDisplayed } from '../../bitcoin/hash';
import { HistoryTooLongError, TooManyCoinsError } from '../../scripts/errors';
import { runInSlices } from '../../turns/slices';
import { sorted } from '../../turns/sorted';
import { JsonWriter } from '../../views/json-writer';
import { readScriptHash } from './arguments';
import { COIN_POINTS, COUNT_POINTS, MOST_COUNT_POINTS, ROW_POINTS } from './points';
import type { ChainCoin } from '../../answers/scripts/coins';
import type { PooledEntry } from '../../answers/scripts/pooled-script';
import type { ScriptHistory } from '../../answers/status/history';
import type { ScriptRow } from '../../scripts/types';
import type { ElectrumClient, Method, MethodContext } from '../method';

const ITEMS_PER_SLICE = 64;
const COIN_TEXT_LENGTH = 140;

type ScriptAnswer = (history: ScriptHistory, client: ElectrumClient) => Promise<string | Buffer>;

export function scriptMethods(context: MethodContext): Readonly<Record<string, Method>> {
  const { scripts, histories, maxHistory } = context;

  const asking = (answer: ScriptAnswer): Method => ({
    parameters: ['scripthash'],
    required: 1,
    isHeavy: true,
    answer: async (values, client) => {
      const { script } = readScriptHash(values[0]);
      return scripts.read((snapshot) => answer(histories.at(script, snapshot), client));
    }
  });

  return {
    'blockchain.scripthash.get_balance': asking(async ({ script, snapshot, pooled, totals }, client) => {
      const [chain, pool] = await Promise.all([totals.of(script, snapshot, client), pooled.totals(client)]);
      client.charge(Math.min(chain.transactions * COUNT_POINTS, MOST_COUNT_POINTS));
      const confirmed = chain.funded.value - chain.spent.value;
      return `{"confirmed":${confirmed},"unconfirmed":${pool.funded.value - pool.spent.value}}`;
    }),
    'blockchain.scripthash.get_history': asking(async (history, client) => {
      const entries = await history.unconfirmed(client);
      client.charge(entries.length * ROW_POINTS);
      const writer = new JsonWriter();
      writer.ascii('[');
      const most = maxHistory - entries.length;
      if (most < 0) throw new HistoryTooLongError(`more than ${maxHistory} transactions have to do with the script`);
      for await (const rows of history.confirmed(most, client)) {
        client.charge(rows.length * ROW_POINTS);
        writeRows(writer, rows);
      }
      await runInSlices(writeEntries(writer, entries), client);
      writer.ascii(']');
      return writer.toBuffer();
    }),
    'blockchain.scripthash.get_mempool': asking(async (history, client) => {
      const entries = await history.unconfirmed(client);
      client.charge(entries.length * ROW_POINTS);
      if (entries.length > maxHistory) throw new HistoryTooLongError(`more than ${maxHistory} transactions have to do with the script`);
      const writer = new JsonWriter(entries.length * COIN_TEXT_LENGTH + 2);
      writer.ascii('[');
      await runInSlices(writeEntries(writer, entries), client);
      writer.ascii(']');
      return writer.toBuffer();
    }),
    'blockchain.scripthash.listunspent': asking(async ({ script, snapshot, pooled }, client) => {
      const ofPool = await pooled.outputs(client);
      const coins = await context.coins.of(script, maxHistory + ofPool.spentOfChain, snapshot, client);
      client.charge((coins.length + ofPool.coins.length) * COIN_POINTS);
      const unspent = coins.filter(({ txid, index }) => !ofPool.spends(txid, index));
      const made = ofPool.coins.map(({ txid, index, value }) => ({ txid, index, value, height: 0 }));
      if (unspent.length + made.length > maxHistory) throw new TooManyCoinsError(`more than ${maxHistory} coins are the script's`);
      return runInSlices(coinsText(unspent, made), client);
    }),
    'blockchain.scripthash.subscribe': {
      parameters: ['scripthash'],
      required: 1,
      isHeavy: true,
      answer: async (values, client) => {
        const { script, name } = readScriptHash(values[0]);
        const status = await client.subscriptions.addScript(script, name, (transactions) => {
          client.charge(transactions * ROW_POINTS);
        });
        return status === undefined ? 'null' : `"${status.toString('hex')}"`;
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

const byOutpoint = (a: ChainCoin, b: ChainCoin): number => compareDisplayed(a.txid, b.txid) || a.index - b.index;

/** Begins an item of a list, after a comma unless it is the first. */
function beginItem(writer: JsonWriter, txid: Buffer, height: number): void {
  writer.hashField(writer.length > 1 ? ',{"tx_hash":' : '{"tx_hash":', txid);
  writer.integerField(',"height":', height);
}

function writeRows(writer: JsonWriter, rows: readonly ScriptRow[]): void {
  for (const { txid, position } of rows) {
    beginItem(writer, txid, position.height);
    writer.ascii('}');
  }
}

function* writeEntries(writer: JsonWriter, entries: readonly PooledEntry[]): Generator<void, void> {
  for (const [i, { transaction, height }] of entries.entries()) {
    beginItem(writer, transaction.txid, height);
    writer.integerField(',"fee":', transaction.fee);
    writer.ascii('}');
    if (i % ITEMS_PER_SLICE === ITEMS_PER_SLICE - 1) yield;
  }
}

/** Coins of the chain in its order, then coins of the pool by txid and output. */
function* coinsText(ofChain: readonly ChainCoin[], ofPool: readonly ChainCoin[]): Generator<void, Buffer> {
  const coins = [...ofChain, ...(yield* sorted(ofPool, byOutpoint))];
  const writer = new JsonWriter(coins.length * COIN_TEXT_LENGTH + 2);
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
