// Transactions for the pool. They are sent by the calls of JSON-RPC, whose errors are shown with the name of the call.

import { sendingCalls, type SendingContext } from '../../rpc/calls/sending';
import { RpcError } from '../../rpc/errors';
import { Parameters, usageOf, type Parameter } from '../../rpc/parameters';
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
import { jsonReply, textReply } from '../reply';
import type { Answer } from '../../rpc/call';
import type { Endpoint, EsploraContext, EsploraRequest, Route } from '../endpoint';

const MOST_TRANSACTIONS = 25;

/** Hex digits of a transaction. */
const FEWEST_DIGITS = 120;
const MOST_DIGITS = 799_999;

/** Numbers as Rust parses them, without infinity and NaN. */
const DECIMAL = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,2})?$/;

/** These replies are for one request only. */
const NOT_CACHED = { maxAge: 0 };

/** The parts of a call definition that are used here. */
interface Call {
  readonly parameters: readonly Parameter[];
  readonly answer: (parameters: Parameters, context: SendingContext) => Promise<Answer>;
}

export function broadcastRoutes(context: EsploraContext): Route[] {
  const sending = (endpoint: Endpoint): Endpoint => (context.broadcast ? endpoint : refuse(noBroadcast));
  return [
    { method: 'POST', path: '/tx', endpoint: sending(({ body }) => send(body.toString('latin1'), context)) },
    {
      method: 'GET',
      path: '/broadcast',
      endpoint: sending(async (request) => {
        const hex = request.query('tx');
        if (hex === undefined) throw missingTransaction();
        return send(hex, context);
      })
    },
    {
      method: 'POST',
      path: '/txs/package',
      endpoint: sending((request) =>
        sendList('submitpackage', sendingCalls.submitpackage, ['maxfeerate', 'maxburnamount'], request, context)
      ),
      isHeavy: true
    },
    {
      method: 'POST',
      path: '/txs/test',
      endpoint: (request) => sendList('testmempoolaccept', sendingCalls.testmempoolaccept, ['maxfeerate'], request, context),
      isHeavy: true
    },
    { method: 'GET', path: '/block-template', endpoint: refuse(noMining) }
  ];
}

const refuse =
  (error: () => Error): Endpoint =>
  () =>
    Promise.reject(error());

/** @throws HttpError 400 */
async function send(hex: string, context: EsploraContext): ReturnType<Endpoint> {
  const txid = await call('sendrawtransaction', sendingCalls.sendrawtransaction, [hex], context);
  return { ...textReply(JSON.parse(txid.toString()) as string), ...NOT_CACHED };
}

/** `options`: query parameters that become the call's parameters after the list. @throws HttpError 400 */
async function sendList(
  method: string,
  definition: Call,
  options: readonly string[],
  request: EsploraRequest,
  context: EsploraContext
): ReturnType<Endpoint> {
  const list = readList(request.body);
  const amounts = options.map((name) => readAmount(name, request));
  list.forEach(requireTransaction);
  const params = [list, ...amounts];
  return { ...jsonReply(await call(method, definition, params, context)), ...NOT_CACHED };
}

/** @throws HttpError 400 with the error of the call */
async function call(method: string, { parameters, answer }: Call, params: readonly unknown[], context: EsploraContext): Promise<Buffer> {
  try {
    const { parts } = await answer(new Parameters(parameters, params, usageOf(method, parameters)), context);
    return Buffer.concat(parts);
  } catch (error) {
    throw error instanceof RpcError ? callRefused(method, error) : error;
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
