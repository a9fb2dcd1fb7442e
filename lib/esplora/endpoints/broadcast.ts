// Transactions for the pool. Their refusals are shown as errors of Bitcoin Core's calls, with the name of the call.

import { CallError } from '../../answers/errors';
import { amountOf, feeRateOf } from '../../answers/transactions/amounts';
import { decodeTransaction, decodeTransactions, requireNotBurnt, requirePackageSize } from '../../answers/transactions/decoding';
import { DEFAULT_SENDING_LIMITS, seenFrom } from '../../answers/transactions/sending';
import { toDisplayHex } from '../../bitcoin/hash';
import { inQuery, json, refused, text } from '../../describe/open-api';
import { listOf } from '../../describe/schema';
import { ASKED_HEX, NUMBER } from '../../describe/values';
import { LIMITS } from '../../policy/limits';
import { PACKAGE, packageJson, TRIALS, trialsJson } from '../../views/sending';
import {
  badTransactionHex,
  badTransactionSize,
  callRefused,
  invalidParameter,
  missingTransaction,
  noBroadcast,
  noTransactionList,
  tooManyTransactions
} from '../errors';
import { TXID_TEXT } from '../operations';
import { jsonReply, textReply, type EsploraReply } from '../reply';
import { stringsIn, type ListErrors } from './string-list';
import type { EsploraContext, EsploraRequest, Route } from '../endpoint';

/** Hex digits of a transaction. */
const FEWEST_DIGITS = 120;
const MOST_DIGITS = 799_999;

/** Numbers as Rust parses them, without infinity and NaN. */
const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,2})?$/;

const NOT_TAKEN =
  "The transaction cannot be read, or the pool does not take it: the text has the code and the words of Bitcoin Core's call.";

const BODY_ERRORS = { 408: 'The body did not come in time.', 413: 'The body is too large.', 415: 'The body has a Content-Encoding.' };

const MOST_RATE = inQuery('maxfeerate', 'The most BTC for each 1,000 virtual bytes that a transaction may pay; 0: any.', NUMBER);

const TRANSACTIONS = json('The serialized transactions in hex, parents first.', { ...listOf(ASKED_HEX), maxItems: LIMITS.mostInPackage });

const LIST_ERRORS: ListErrors = { none: noTransactionList, tooMany: tooManyTransactions };

/** Where packages are taken. mempool's front end sends them to mempool's interface, since some versions of electrs do not take them. */
const PACKAGE_PLACES = [
  { path: '/txs/package', id: 'postPackage' },
  { path: '/v1/txs/package', id: 'postPackageOfMempool' }
] as const;

/** What the endpoints answer from. */
type BroadcastContext = Pick<EsploraContext, 'node' | 'sending' | 'broadcast'>;

export function broadcastRoutes(context: BroadcastContext): Route[] {
  const broadcasting = [sendRoute(context), sendInQueryRoute(context), ...PACKAGE_PLACES.map((place) => packageRoute(place, context))];
  return [...(context.broadcast ? broadcasting : broadcasting.map(refusing)), testRoute(context)];
}

function sendRoute(context: BroadcastContext): Route {
  return {
    method: 'POST',
    path: '/tx',
    endpoint: ({ body }) => send(body.toString('latin1'), context),
    operation: {
      id: 'postTransaction',
      summary: 'Broadcasts a transaction.',
      body: text('The serialized transaction in hex.', ASKED_HEX),
      answer: text('Its txid.', TXID_TEXT),
      errors: { 400: NOT_TAKEN, ...BODY_ERRORS }
    }
  };
}

function sendInQueryRoute(context: BroadcastContext): Route {
  return {
    method: 'GET',
    path: '/broadcast',
    endpoint: async (request) => {
      const hex = request.query('tx');
      if (hex === undefined) throw missingTransaction();
      return send(hex, context);
    },
    operation: {
      id: 'broadcastTransaction',
      summary: 'Broadcasts a transaction that stands in the query.',
      parameters: [{ ...inQuery('tx', 'The serialized transaction in hex.', ASKED_HEX), isRequired: true }],
      answer: text('Its txid.', TXID_TEXT),
      errors: { 400: NOT_TAKEN }
    }
  };
}

function packageRoute({ path, id }: (typeof PACKAGE_PLACES)[number], { node, sending }: BroadcastContext): Route {
  return {
    method: 'POST',
    path,
    endpoint: async (request) => {
      const list = stringsIn(request.body, LIMITS.mostInPackage, LIST_ERRORS);
      const [rate, burnt] = [readAmount('maxfeerate', request), readAmount('maxburnamount', request)];
      list.forEach(requireTransaction);
      return asCall('submitpackage', async () => {
        requirePackageSize(list);
        const limits = { mostRate: feeRateOf(rate, DEFAULT_SENDING_LIMITS.mostRate), mostBurnt: amountOf(burnt, 0) };
        const sent = await sending.sendPackage(await decodeTransactions(list, String), limits);
        const transactions = sent.list.map(({ transaction }) => transaction);
        return { ...jsonReply(packageJson(sent.message, sent.list, sent.replaced)), change: seenFrom(transactions, node) };
      });
    },
    isHeavy: true,
    operation: {
      id,
      summary: 'Broadcasts transactions that depend on each other.',
      parameters: [MOST_RATE, inQuery('maxburnamount', 'The most BTC in an output that can never be spent; 0 by default.', NUMBER)],
      body: TRANSACTIONS,
      answer: json('What became of each.', PACKAGE),
      errors: { 400: 'The transactions cannot be read, or do not form a package.', ...BODY_ERRORS }
    }
  };
}

function testRoute({ sending }: BroadcastContext): Route {
  return {
    method: 'POST',
    path: '/txs/test',
    endpoint: async (request) => {
      const list = stringsIn(request.body, LIMITS.mostInPackage, LIST_ERRORS);
      const rate = readAmount('maxfeerate', request);
      list.forEach(requireTransaction);
      return asCall('testmempoolaccept', async () => {
        requirePackageSize(list);
        const mostRate = feeRateOf(rate, DEFAULT_SENDING_LIMITS.mostRate);
        const trials = await sending.test(await decodeTransactions(list, String), mostRate);
        return jsonReply(trialsJson(trials.list, trials.fault));
      });
    },
    isHeavy: true,
    operation: {
      id: 'testTransactions',
      summary: 'Whether the pool would take transactions, without sending them.',
      parameters: [MOST_RATE],
      body: TRANSACTIONS,
      answer: json('A result for each.', TRIALS),
      errors: { 400: 'The transactions cannot be read.', ...BODY_ERRORS }
    }
  };
}

/** The route where broadcasting is switched off. */
function refusing(route: Route): Route {
  return {
    ...route,
    endpoint: () => Promise.reject(noBroadcast()),
    operation: refused(route.operation, 400, 'This server does not broadcast transactions.')
  };
}

/** Broadcasts one transaction. @throws HttpError 400 */
function send(hex: string, { node, sending }: BroadcastContext): Promise<EsploraReply> {
  return asCall('sendrawtransaction', async () => {
    const transaction = decodeTransaction(hex);
    requireNotBurnt(transaction, DEFAULT_SENDING_LIMITS.mostBurnt);
    await sending.send(transaction, DEFAULT_SENDING_LIMITS.mostRate);
    return { ...textReply(toDisplayHex(transaction.txid)), change: seenFrom([transaction], node) };
  });
}

/** The reply, which is for one request only. @throws HttpError 400 with the error that Bitcoin Core's call would have */
async function asCall(method: string, answer: () => Promise<EsploraReply>): Promise<EsploraReply> {
  try {
    return { ...(await answer()), maxAge: 0 };
  } catch (error) {
    throw error instanceof CallError ? callRefused(method, error) : error;
  }
}

/** The amount in a query parameter, rounded to satoshis, as electrs gives it to its node; null if there is none. @throws HttpError 400 */
function readAmount(name: string, request: EsploraRequest): string | null {
  const text = request.query(name);
  if (text === undefined) return null;
  if (!DECIMAL.test(text)) throw invalidParameter(name);
  return Number(text).toFixed(8);
}

/** @throws HttpError 400 */
function requireTransaction(hex: string, index: number): void {
  if (hex.length < FEWEST_DIGITS || hex.length > MOST_DIGITS) throw badTransactionSize(index);
  if (!/^([0-9a-fA-F]{2})+$/.test(hex)) throw badTransactionHex(index);
}
