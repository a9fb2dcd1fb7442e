// Requests as text: calls of the Electrum protocol, one by one and in batches, and of Esplora's API.

import type { Request } from './ask-client';

export interface Call {
  readonly method: string;
  readonly params: readonly unknown[];
}

const callOf =
  (method: string) =>
  (...params: readonly unknown[]): Call => ({ method, params });

export const CALLS = {
  ping: callOf('server.ping'),
  history: callOf('blockchain.scripthash.get_history'),
  balance: callOf('blockchain.scripthash.get_balance'),
  unspent: callOf('blockchain.scripthash.listunspent'),
  subscribe: callOf('blockchain.scripthash.subscribe'),
  newHeaders: callOf('blockchain.headers.subscribe'),
  merkle: callOf('blockchain.transaction.get_merkle'),
  transaction: callOf('blockchain.transaction.get'),
  header: callOf('blockchain.block.header'),
  headers: callOf('blockchain.block.headers'),
  fee: callOf('blockchain.estimatefee'),
  feeHistogram: callOf('mempool.get_fee_histogram')
};

const textOf = ({ method, params }: Call, id: number): string => JSON.stringify({ jsonrpc: '2.0', id, method, params });

export const lineOf = (call: Call, id = 0): Request => ({ text: `${textOf(call, id)}\n`, replies: 1 });

/** What a client begins with. */
export const GREETING = lineOf({ method: 'server.version', params: ['bench', '1.4'] });

/** Has one reply. */
export const batchOf = (calls: readonly Call[]): Request => ({ text: `[${calls.map(textOf).join(',')}]\n`, replies: 1 });

/** Lines that are sent at once. */
export const linesOf = (calls: readonly Call[]): Request => ({
  text: calls.map((call, id) => lineOf(call, id).text).join(''),
  replies: calls.length
});

export const getOf = (path: string): Request => ({ text: `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`, replies: 1 });
