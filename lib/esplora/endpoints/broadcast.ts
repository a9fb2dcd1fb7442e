// Transactions for the pool. Their refusals are shown as errors of Bitcoin Core's calls, with the name of the call.

import { CallError } from '../../answers/errors';
import { amountOf, feeRateOf } from '../../answers/transactions/amounts';
import { decodeTransaction, decodeTransactions, DEFAULT_SENDING_LIMITS, requireNotBurnt } from '../../answers/transactions/sending';
import { toDisplayHex } from '../../bitcoin/hash';
import { packageJson, trialsJson } from '../../views/sending';
import {
  badTransactionHex,
  badTransactionSize,
  callRefused,
  invalidParameter,
  missingTransaction,
  noBroadcast,
  noMining,
  noTransactionList,
  tooManyTransactions
} from '../errors';
import { jsonReply, textReply, type EsploraReply } from '../reply';
import type { Endpoint, EsploraContext, EsploraRequest, Route } from '../endpoint';

const MOST_TRANSACTIONS = 25;

/** Hex digits of a transaction. */
const FEWEST_DIGITS = 120;
const MOST_DIGITS = 799_999;

/** Numbers as Rust parses them, without infinity and NaN. */
const DECIMAL = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,2})?$/;

export function broadcastRoutes({ sending, broadcast }: EsploraContext): Route[] {
  /** @throws HttpError 400 */
  const send = (hex: string): Promise<EsploraReply> =>
    asCall('sendrawtransaction', async () => {
      const transaction = decodeTransaction(hex);
      requireNotBurnt(transaction, DEFAULT_SENDING_LIMITS.mostBurnt);
      await sending.send(transaction, DEFAULT_SENDING_LIMITS.mostRate);
      return textReply(toDisplayHex(transaction.txid));
    });
  const ifAllowed = (endpoint: Endpoint): Endpoint => (broadcast ? endpoint : refuse(noBroadcast));
  return [
    { method: 'POST', path: '/tx', endpoint: ifAllowed(({ body }) => send(body.toString('latin1'))) },
    {
      method: 'GET',
      path: '/broadcast',
      endpoint: ifAllowed(async (request) => {
        const hex = request.query('tx');
        if (hex === undefined) throw missingTransaction();
        return send(hex);
      })
    },
    {
      method: 'POST',
      path: '/txs/package',
      endpoint: ifAllowed(async (request) => {
        const list = readList(request.body);
        const [rate, burnt] = [readAmount('maxfeerate', request), readAmount('maxburnamount', request)];
        list.forEach(requireTransaction);
        return asCall('submitpackage', async () => {
          const limits = { mostRate: feeRateOf(rate, DEFAULT_SENDING_LIMITS.mostRate), mostBurnt: amountOf(burnt, 0) };
          const sent = await sending.sendPackage(decodeTransactions(list, String), limits);
          return jsonReply(packageJson(sent.message, sent.list, sent.replaced));
        });
      }),
      isHeavy: true
    },
    {
      method: 'POST',
      path: '/txs/test',
      endpoint: async (request) => {
        const list = readList(request.body);
        const rate = readAmount('maxfeerate', request);
        list.forEach(requireTransaction);
        return asCall('testmempoolaccept', async () => {
          const mostRate = feeRateOf(rate, DEFAULT_SENDING_LIMITS.mostRate);
          const trials = await sending.test(decodeTransactions(list, String), mostRate);
          return jsonReply(trialsJson(trials.list, trials.fault));
        });
      },
      isHeavy: true
    },
    { method: 'GET', path: '/block-template', endpoint: refuse(noMining) }
  ];
}

const refuse =
  (error: () => Error): Endpoint =>
  () =>
    Promise.reject(error());

/** The reply, which is for one request only. @throws HttpError 400 with the error that Bitcoin Core's call would have */
async function asCall(method: string, answer: () => Promise<EsploraReply>): Promise<EsploraReply> {
  try {
    return { ...(await answer()), maxAge: 0 };
  } catch (error) {
    throw error instanceof CallError ? callRefused(method, error) : error;
  }
}

/** The number in a query parameter; null if there is none. @throws HttpError 400 */
function readAmount(name: string, request: EsploraRequest): number | null {
  const text = request.query(name);
  if (text === undefined) return null;
  if (!DECIMAL.test(text)) throw invalidParameter(name);
  return Number(text);
}

/** @throws HttpError 400 */
function readList(body: Buffer): string[] {
  const list = parsed(body);
  if (!Array.isArray(list) || !list.every((item) => typeof item === 'string')) throw noTransactionList();
  if (list.length > MOST_TRANSACTIONS) throw tooManyTransactions(MOST_TRANSACTIONS);
  return list;
}

/** @throws HttpError 400 */
function requireTransaction(hex: string, index: number): void {
  if (hex.length < FEWEST_DIGITS || hex.length > MOST_DIGITS) throw badTransactionSize(index);
  if (!/^([0-9a-fA-F]{2})+$/.test(hex)) throw badTransactionHex(index);
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}
