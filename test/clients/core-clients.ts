// The npm packages that speak to Bitcoin Core, as they are published: the parts of them that the
// tests use, behind one interface.

import { createRequire } from 'node:module';
import { RESTClient, RPCClient } from 'rpc-bitcoin';

export type Format = 'bin' | 'hex' | 'json';

export interface Outpoint {
  /** As displayed. */
  readonly txid: string;
  readonly vout: number;
}

export interface CoreClient {
  /** REST. `bin` and `hex` give the body of the reply, `json` its parsed content. */
  transaction(txid: string, format: Format): Promise<unknown>;
  block(hash: string, format: Format): Promise<unknown>;
  /** A block with txids instead of transactions. */
  blockSummary(hash: string): Promise<unknown>;
  headers(hash: string, count: number, format: Format): Promise<unknown>;
  chainInfo(): Promise<unknown>;
  poolInfo(): Promise<unknown>;
  poolContents(): Promise<unknown>;
  /** Takes the pool into account. */
  coins(outpoints: readonly Outpoint[], format: Format): Promise<unknown>;

  /** JSON-RPC. @throws the client's form of an error; `refusalOf` reads it */
  call(method: string, ...params: readonly unknown[]): Promise<unknown>;
  callByName(method: string, params: Readonly<Record<string, unknown>>): Promise<unknown>;
  /** Calls in one request; errors are among the results. */
  callAll(calls: readonly { readonly method: string; readonly params: readonly unknown[] }[]): Promise<unknown[]>;
}

export interface Account {
  readonly port: number;
  readonly user: string;
  readonly password: string;
}

/** An error of any of the clients, in one shape. `code`: Bitcoin Core's code, or the status of the reply if there is no code. */
export interface Refusal {
  readonly code: number;
  readonly message: string;
}

export const CORE_CLIENTS: readonly { readonly name: string; readonly connect: (account: Account) => CoreClient }[] = [
  {
    name: 'bitcoin-core 5.0.0',
    connect: ({ port, ...login }) => bitcoinCore('bitcoin-core', { host: `http://127.0.0.1:${port}`, ...login })
  },
  { name: 'bitcoin-core 4.2.0', connect: ({ port, ...login }) => bitcoinCore('bitcoin-core-4', { host: '127.0.0.1', port, ...login }) },
  { name: 'bitcoin-core 3.0.0', connect: ({ port, ...login }) => bitcoinCore('bitcoin-core-3', { host: '127.0.0.1', port, ...login }) },
  { name: 'rpc-bitcoin 2.0.0', connect: rpcBitcoin }
];

/** The instance of bitcoin-core's class. */
interface BitcoinCore {
  getTransactionByHash(txid: string, options: { readonly extension: Format }): Promise<unknown>;
  getBlockByHash(hash: string, options: { readonly extension: Format; readonly summary?: boolean }): Promise<unknown>;
  getBlockHeadersByHash(hash: string, count: number, options: { readonly extension: Format }): Promise<unknown>;
  getBlockchainInformation(): Promise<unknown>;
  getMemoryPoolInformation(): Promise<unknown>;
  getMemoryPoolContent(): Promise<unknown>;
  getUnspentTransactionOutputs(
    outpoints: readonly { readonly id: string; readonly index: number }[],
    options: { readonly extension: Format }
  ): Promise<unknown>;
  command(method: string, ...params: readonly unknown[]): Promise<unknown>;
  command(batch: readonly { readonly method: string; readonly parameters: readonly unknown[] }[]): Promise<unknown[]>;
}

/** Given a version, it sends parameters by name instead of position, but only for methods that it knows. */
const VERSION_WITH_NAMES = '25.0.0';

const load = createRequire(__filename);

function bitcoinCore(
  packageName: string,
  { user, ...options }: { readonly host: string; readonly port?: number; readonly user: string; readonly password: string }
): CoreClient {
  const Client = load(packageName) as new (options: object) => BitcoinCore;
  const client = new Client({ ...options, username: user });
  const withNames = new Client({ ...options, username: user, version: VERSION_WITH_NAMES });
  return {
    transaction: (txid, extension) => client.getTransactionByHash(txid, { extension }),
    block: (hash, extension) => client.getBlockByHash(hash, { extension }),
    blockSummary: (hash) => client.getBlockByHash(hash, { extension: 'json', summary: true }),
    headers: (hash, count, extension) => client.getBlockHeadersByHash(hash, count, { extension }),
    chainInfo: () => client.getBlockchainInformation(),
    poolInfo: () => client.getMemoryPoolInformation(),
    poolContents: () => client.getMemoryPoolContent(),
    coins: (outpoints, extension) =>
      client.getUnspentTransactionOutputs(
        outpoints.map(({ txid, vout }) => ({ id: txid, index: vout })),
        { extension }
      ),
    call: (method, ...params) => client.command(method, ...params),
    callByName: (method, params) => withNames.command(method, params),
    callAll: (calls) => client.command(calls.map(({ method, params }) => ({ method, parameters: params })))
  };
}

interface Reply {
  readonly result: unknown;
  readonly error?: unknown;
}

function rpcBitcoin({ port, user, password }: Account): CoreClient {
  const options = { url: 'http://127.0.0.1', port };
  const text = new RESTClient(options);
  // The client turns bodies into text unless it is told that they are bytes.
  const bytes = new RESTClient({ ...options, encoding: null });
  const rest = (format: Format): RESTClient => (format === 'bin' ? bytes : text);
  const client = new RPCClient({ ...options, user, pass: password });
  return {
    transaction: (txid, format) => rest(format).getTx({ txid, format }),
    block: (hash, format) => rest(format).getBlock({ hash, format }),
    blockSummary: (hash) => text.getBlockNoTxDetails({ hash }),
    headers: (hash, count, format) => rest(format).getHeaders({ hash, count, format }),
    chainInfo: () => text.getChainInfo(),
    poolInfo: () => text.getMemPoolInfo(),
    poolContents: () => text.getMemPoolContents(),
    coins: (outpoints, format) => rest(format).getUtxos({ outpoints: outpoints.map(({ txid, vout }) => ({ txid, n: vout })), format }),
    call: (method, ...params) => client.rpc(method, params),
    callByName: (method, params) => client.rpc(method, params),
    callAll: async (calls) => {
      const replies = (await client.batch(calls.map((call, id) => ({ ...call, id })))) as readonly Reply[];
      return replies.map(({ result, error }) => error ?? result);
    }
  };
}

/** @throws Error when the client threw something else */
export function refusalOf(thrown: unknown): Refusal {
  const { code, statusCode, message, error } = thrown as Readonly<Record<string, unknown>>;
  // rpc-bitcoin throws the error object of the reply, or the status with the body as text or bytes.
  if (typeof statusCode === 'number') return { code: statusCode, message: String(error).trim() };
  if (typeof code !== 'number' || typeof message !== 'string') throw thrown;
  return { code, message };
}
