// Methods by script: what transactions did with it, its coins, and notifications about it.

import { scriptHashOf, toDisplayHex } from '../../bitcoin/hash';
import { anyOf, described, listOf, named, nullable, object, type Schema } from '../../describe/schema';
import { ASKED_HASH, ASKED_HEX, COUNT, FLAG, HEIGHT, INTEGER, SATOSHI_CHANGE, SATOSHIS, TXID } from '../../describe/values';
import { badRequest, readCount, readScript, readScriptHash } from './arguments';
import { CoinsTexts } from './coins-texts';
import { HistoryTexts } from './history-texts';
import { COUNT_POINTS, MOST_COUNT_POINTS, ROW_POINTS } from './points';
import type { ScriptHistory } from '../../answers/status/history';
import type { ScriptTotals } from '../../scripts/types';
import type { ElectrumClient, Method, MethodContext, Result, ScriptStatus } from '../method';

type ScriptAnswer = (history: ScriptHistory, client: ElectrumClient) => Result | Promise<Result>;

export function scriptMethods(context: MethodContext): Readonly<Record<string, Method>> {
  const { scripts, histories, coins, cache, maxHistory } = context;
  const texts = new HistoryTexts(cache, maxHistory);
  const coinsTexts = new CoinsTexts(cache, coins, maxHistory);
  const balanceOf = balances(context);
  return Object.fromEntries(
    NAMINGS.flatMap((naming) => {
      const { kind, parameter, schema, read, historyIn, coinsIn } = naming;
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
          coinsIn.wrap(coinsTexts.of(found, client))
        ),
        ...subscriptionMethods(naming)
      };
      return Object.entries(methods).map(([name, method]) => [`blockchain.${kind}.${name}`, method]);
    })
  );
}

/** Methods that begin and end the notifications about a script. */
function subscriptionMethods({ kind, parameter, schema, read }: Naming): Readonly<Record<string, Method>> {
  return {
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
}

/** The balance follows from totals: no coin is looked up. */
function balances({ totals }: MethodContext): ScriptAnswer {
  const balance = (chain: ScriptTotals, pool: ScriptTotals, client: ElectrumClient): string => {
    client.charge(Math.min(chain.transactions * COUNT_POINTS, MOST_COUNT_POINTS));
    const confirmed = chain.funded.value - chain.spent.value;
    return `{"confirmed":${confirmed},"unconfirmed":${pool.funded.value - pool.spent.value}}`;
  };
  const withoutPool = ({ script, snapshot }: ScriptHistory, client: ElectrumClient): string | Promise<string> => {
    const counted = totals.of(script, snapshot, client);
    return counted instanceof Promise ? counted.then((chain) => balance(chain, NOTHING, client)) : balance(counted, NOTHING, client);
  };
  const withPool = async ({ script, snapshot, pooled }: ScriptHistory, client: ElectrumClient): Promise<string> => {
    const pool = await pooled.totals(client);
    return balance(await totals.of(script, snapshot, client), pool, client);
  };
  return (history, client) => (history.pooled.isEmpty ? withoutPool(history, client) : withPool(history, client));
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
