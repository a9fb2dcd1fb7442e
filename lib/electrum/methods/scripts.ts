// What transactions did with a script, and its coins.

import { RowCache } from '../../answers/scripts/row-cache';
import { compareDisplayed, scriptHashOf, toDisplayHex } from '../../bitcoin/hash';
import { TXID_LENGTH } from '../../bitcoin/transaction';
import { TooManyCoinsError } from '../../scripts/errors';
import { heightIn } from '../../scripts/records/positions';
import { ownCopy } from '../../system/own-copy';
import { runInSlices } from '../../turns/slices';
import { sorted } from '../../turns/sorted';
import { anyOf, described, listOf, named, nullable, object, type Schema } from '../../describe/schema';
import { ASKED_HASH, ASKED_HEX, COUNT, FLAG, HEIGHT, INTEGER, SATOSHI_CHANGE, SATOSHIS, TXID } from '../../describe/values';
import { JsonWriter } from '../../views/json-writer';
import { badRequest, readCount, readScript, readScriptHash } from './arguments';
import { beginItem, HistoryTexts, ITEM_LENGTH, ITEMS_PER_SLICE } from './history-texts';
import { COIN_POINTS, COUNT_POINTS, MOST_COUNT_POINTS, ROW_POINTS } from './points';
import type { PooledOutputs } from '../../answers/scripts/pooled-script';
import type { ScriptHistory } from '../../answers/status/history';
import type { ScriptCoins } from '../../scripts/script-coins';
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
    const written = (unspent: ScriptCoins): Buffer | Promise<Buffer> => {
      client.charge(unspent.count * COIN_POINTS);
      const keep = (text: Buffer): Buffer => {
        coinsTexts.setIfAskedBefore(script, snapshot.stamp, () => ({ coins: unspent.count, text: ownCopy(text) }));
        return text;
      };
      if (unspent.count > ITEMS_PER_SLICE) return runInSlices(coinsText(unspent), client).then(keep);
      const writer = beginCoins(unspent.count);
      writeCoins(writer, unspent, 0, unspent.count);
      return keep(endCoins(writer));
    };
    const found = coins.of(script, maxHistory, snapshot, client);
    return found instanceof Promise ? found.then(written) : written(found);
  };

  const coinsWithPool = async ({ script, snapshot, pooled }: ScriptHistory, client: ElectrumClient): Promise<Buffer> => {
    const ofPool = await pooled.outputs(client);
    const ofChain = await coins.of(script, maxHistory + ofPool.totals.spent.count, snapshot, client);
    client.charge((ofChain.count + ofPool.coins.length) * COIN_POINTS);
    const unspent = ofChain.without(ofPool.spends);
    if (unspent.count + ofPool.coins.length > maxHistory) throw new TooManyCoinsError(maxHistory);
    return runInSlices(coinsText(unspent, await runInSlices(sorted(ofPool.coins, byOutpoint), client)), client);
  };

  const balanceOf: ScriptAnswer = (history, client) =>
    history.pooled.isEmpty ? countedBalance(history, client) : balanceWithPool(history, client);

  const coinsOf: ScriptAnswer = (history, client) => {
    if (!history.pooled.isEmpty) return coinsWithPool(history, client);
    const known = coinsTexts.get(history.script, history.snapshot);
    if (known === undefined) return coinsOfChain(history, client);
    client.charge(known.coins * COIN_POINTS);
    return known.text;
  };

  return Object.fromEntries(
    NAMINGS.flatMap(({ kind, parameter, schema, read, historyIn, coinsIn }) => {
      const asking = (summary: string, result: Schema, answer: ScriptAnswer): Method => ({
        about: { summary, parameters: [schema], result },
        parameters: [parameter],
        required: 1,
        isHeavy: true,
        answer: (values, client) => {
          const { script } = read(values[0]);
          return scripts.read((snapshot) => answer(histories.at(script, snapshot), client));
        }
      });
      const history = asking('The transactions of a script.', historyIn.schema(HISTORY), (found, client) =>
        historyIn.wrap(texts.of(found, client))
      );
      const methods: Readonly<Record<string, Method>> = {
        get_balance: asking('The balance of a script.', BALANCE, balanceOf),
        get_history: kind === 'scriptpubkey' ? history : withHeights(history, context, texts),
        get_mempool: asking('The transactions of a script in the pool.', historyIn.schema(POOL_HISTORY), (found, client) =>
          historyIn.wrap(texts.ofPool(found, client))
        ),
        listunspent: asking('The unspent outputs of a script, those of the chain first.', coinsIn.schema(UNSPENT), (found, client) =>
          coinsIn.wrap(coinsOf(found, client))
        ),
        subscribe: {
          about: {
            summary: 'The status of a script, of whose changes the client is notified from now on.',
            parameters: [schema],
            result: SCRIPT_STATUS,
            notification: { scripthash: SCRIPT_HASH, status: SCRIPT_STATUS }
          },
          parameters: [parameter],
          required: 1,
          isHeavy: true,
          answer: (values, client) => {
            const { script, name } = read(values[0]);
            const status = client.subscriptions.addScript(script, name, chargingRows(client), `blockchain.${kind}.subscribe`);
            return status instanceof Promise ? status.then(statusText) : statusText(status);
          }
        },
        unsubscribe: {
          about: {
            summary: 'Ends the notifications about a script.',
            parameters: [schema],
            result: { ...FLAG, description: 'Whether the client was subscribed to it.' }
          },
          parameters: [parameter],
          required: 1,
          // In the lane of `subscribe`, so that both begin in the order in which the client sent them.
          isHeavy: true,
          frees: true,
          ...(kind === 'scripthash' && { since: '1.4.2' as const }),
          answer: (values, { subscriptions }) => JSON.stringify(subscriptions.removeScript(read(values[0]).script))
        }
      };
      return Object.entries(methods).map(([name, method]) => [`blockchain.${kind}.${name}`, method]);
    })
  );
}

/** Heights between which Fulcrum lists the transactions of a script. */
function withHeights(whole: Method, { scripts, histories }: MethodContext, texts: HistoryTexts): Method {
  return {
    ...whole,
    about: {
      ...whole.about,
      parameters: [
        ...whole.about.parameters,
        { ...HEIGHT, default: 0, description: 'The lowest height of transactions of the chain.' },
        {
          ...INTEGER,
          minimum: -1,
          default: -1,
          description: 'The height below which transactions of the chain are listed, and none of the pool; -1: there is no such height.'
        }
      ]
    },
    parameters: [...whole.parameters, 'from_height', 'to_height'],
    answer: (values, client) => {
      const [name, first = 0, end = -1] = values;
      const from = readCount(first);
      const to = end === -1 ? undefined : readCount(end);
      if (to !== undefined && from > to) throw badRequest('to_height must not be below from_height');
      if (from === 0 && to === undefined) return whole.answer([name], client);
      const { script } = readScriptHash(name);
      return scripts.read((snapshot) => texts.between(histories.at(script, snapshot), { from, to }, client));
    }
  };
}

/** A part of an answer's JSON, and its schema. */
interface Wrapping {
  readonly schema: (schema: Schema) => Schema;
  readonly wrap: (result: Result | Promise<Result>) => Result | Promise<Result>;
}

const BARE: Wrapping = { schema: (schema) => schema, wrap: (result) => result };

/** In an object with one field. */
const inField = (field: string): Wrapping => {
  const around = (result: Result): Buffer => Buffer.concat([`{"${field}":`, result, '}'].map((part) => Buffer.from(part)));
  return {
    schema: (schema) => object({ [field]: schema }),
    wrap: (result) => (result instanceof Promise ? result.then(around) : around(result))
  };
};

/** How methods name scripts: by their hashes, or as in drafts of version 1.7 whole. */
interface Naming {
  readonly kind: 'scripthash' | 'scriptpubkey';
  readonly parameter: string;
  readonly schema: Schema;
  /** `name`: of the script in notifications, which are about its hash in both cases. */
  readonly read: (value: unknown) => { readonly script: Buffer; readonly name: string };
  readonly historyIn: Wrapping;
  readonly coinsIn: Wrapping;
}

export const SCRIPT_HASH: Schema = { ...ASKED_HASH, description: 'The SHA-256 of a script in hex, in reverse order.' };

export const SCRIPT: Schema = { ...ASKED_HEX, description: 'The script of an output in hex (scriptPubKey).' };

const NAMINGS: readonly Naming[] = [
  { kind: 'scripthash', parameter: 'scripthash', schema: SCRIPT_HASH, read: readScriptHash, historyIn: BARE, coinsIn: BARE },
  {
    kind: 'scriptpubkey',
    parameter: 'spk',
    schema: SCRIPT,
    read: (value) => {
      const script = scriptHashOf(readScript(value));
      return { script, name: toDisplayHex(script) };
    },
    historyIn: inField('history'),
    coinsIn: inField('utxos')
  }
];

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

export const SCRIPT_STATUS = nullable({
  type: 'string',
  pattern: '^[0-9a-f]{64}$',
  description: "The SHA-256 of the script's history, in hex; null: it has no transactions."
});

/** Charges for transactions that were read. */
export const chargingRows = (client: ElectrumClient): ((transactions: number) => void) => {
  return (transactions) => {
    client.charge(transactions * ROW_POINTS);
  };
};

export const statusText = (status: ScriptStatus): string => (status === undefined ? 'null' : `"${status.toString('hex')}"`);

const NOTHING: ScriptTotals = { transactions: 0, funded: { count: 0, value: 0 }, spent: { count: 0, value: 0 } };

type MadeCoin = PooledOutputs['coins'][number];

const byOutpoint = (a: MadeCoin, b: MadeCoin): number => compareDisplayed(a.txid, b.txid) || a.index - b.index;

/** `made`: in the pool. */
function* coinsText(ofChain: ScriptCoins, made: readonly MadeCoin[] = []): Generator<void, Buffer> {
  const writer = beginCoins(ofChain.count + made.length);
  for (let from = 0; from < ofChain.count; from += ITEMS_PER_SLICE) {
    writeCoins(writer, ofChain, from, Math.min(from + ITEMS_PER_SLICE, ofChain.count));
    yield;
  }
  for (const [i, { txid, index, value }] of made.entries()) {
    beginItem(writer, txid, 0);
    endCoin(writer, index, value);
    if (i % ITEMS_PER_SLICE === ITEMS_PER_SLICE - 1) yield;
  }
  return endCoins(writer);
}

function beginCoins(count: number): JsonWriter {
  const writer = new JsonWriter(count * ITEM_LENGTH + 2);
  writer.ascii('[');
  return writer;
}

function writeCoins(writer: JsonWriter, { positions, txids, indexes, values }: ScriptCoins, from: number, to: number): void {
  for (let i = from; i < to; i++) {
    beginItem(writer, txids, heightIn(positions[i] as number), i * TXID_LENGTH); // within the columns
    endCoin(writer, indexes[i] as number, values[i] as number);
  }
}

function endCoin(writer: JsonWriter, index: number, value: number): void {
  writer.integerField(',"tx_pos":', index);
  writer.integerField(',"value":', value);
  writer.ascii('}');
}

function endCoins(writer: JsonWriter): Buffer {
  writer.ascii(']');
  return writer.toBuffer();
}
