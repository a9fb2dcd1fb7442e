// The npm packages that use Esplora's API, as they are published: the parts of them that wallets use, behind one interface.

import { createRequire } from 'node:module';
import { EsploraExplorer } from '@bitcoinerlab/explorer';
import { AddressApi, BlockApi, Configuration, TxApi } from '@interlay/esplora-btc-api';
import type { WebSocket } from 'ws';

/** Satoshis of an address: in the chain, and with the pool. */
export interface Totals {
  readonly confirmed: number;
  readonly pooled: number;
}

export interface HistoryItem {
  readonly txid: string;
  /** undefined: the transaction is in the pool. */
  readonly height: number | undefined;
}

export interface EsploraClient {
  tipHeight(): Promise<number>;
  blockHash(height: number): Promise<string | undefined>;
  totals(address: string): Promise<Totals>;
  /** Newest first. */
  history(address: string): Promise<HistoryItem[]>;
  /** In hex. */
  transaction(txid: string): Promise<string>;
  /** @returns the txid @throws the client's form of an error; `refusalOf` reads it */
  send(hex: string): Promise<string>;
}

export const ESPLORA_CLIENTS: readonly { readonly name: string; readonly connect: (port: number) => EsploraClient }[] = [
  { name: 'mempool.js 3.0.0', connect: (port) => new MempoolJsClient(mempoolJs(port)) },
  { name: 'esplora-btc-api 1.3.0', connect: (port) => new EsploraBtcApiClient(port) },
  { name: '@bitcoinerlab/explorer 1.0.0', connect: (port) => new ExplorerClient(port) }
];

/** The service's reply to a client that threw. */
export function refusalOf(error: unknown): { readonly status: number; readonly message: string } {
  if (!(error instanceof Error)) throw new Error('expected an error');
  if ('response' in error) {
    const { status, data } = error.response as { readonly status: number; readonly data: unknown };
    return { status, message: String(data) };
  }
  const [, message = '', status = ''] = /^Failed request: (.*)\. Status code: (\d+)/.exec(error.message) ?? [];
  return { status: Number(status), message };
}

interface Stats {
  readonly funded_txo_sum: number;
  readonly spent_txo_sum: number;
}

interface AddressAnswer {
  readonly chain_stats: Stats;
  readonly mempool_stats: Stats;
}

interface TransactionAnswer {
  readonly txid: string;
  readonly status: { readonly confirmed: boolean; readonly block_height?: number };
}

const saldo = ({ funded_txo_sum: funded, spent_txo_sum: spent }: Stats): number => funded - spent;

const totalsOf = ({ chain_stats: chain, mempool_stats: pool }: AddressAnswer): Totals => ({
  confirmed: saldo(chain),
  pooled: saldo(pool)
});

const historyOf = (answer: readonly TransactionAnswer[]): HistoryItem[] =>
  answer.map(({ txid, status }) => ({ txid, height: status.block_height }));

/** Calls by name, each with its parameters by name. */
type Calls<Name extends string, Parameters = unknown> = Readonly<Record<Name, (parameters: Parameters) => Promise<unknown>>>;

/** Its part of Esplora's API. Its own types need those of another package. */
export interface MempoolJs {
  readonly addresses: Calls<
    'getAddress' | 'getAddressTxs' | 'getAddressTxsChain' | 'getAddressTxsMempool' | 'getAddressTxsUtxo',
    { readonly address: string; readonly after_txid?: string }
  >;
  readonly blocks: Calls<
    | 'getBlock'
    | 'getBlockHeader'
    | 'getBlockHeight'
    | 'getBlockStatus'
    | 'getBlockTxid'
    | 'getBlockTxids'
    | 'getBlockTxs'
    | 'getBlocks'
    | 'getBlockRaw'
    | 'getBlocksTipHash'
    | 'getBlocksTipHeight',
    {
      readonly hash?: string;
      readonly height?: number;
      readonly index?: number;
      readonly start_index?: number;
      readonly start_height?: number;
    }
  >;
  readonly difficulty: Calls<'getDifficultyAdjustment', undefined> & Calls<'getHashrate', { readonly interval: string }>;
  readonly fees: Calls<'getFeesRecommended' | 'getFeesMempoolBlocks', undefined> & Calls<'getCPFP', { readonly txid: string }>;
  readonly mempool: Calls<'getMempool' | 'getMempoolRecent' | 'getMempoolTxids', undefined>;
  readonly transactions: Calls<
    'getTx' | 'getTxHex' | 'getTxMerkleBlockProof' | 'getTxMerkleProof' | 'getTxOutspend' | 'getTxOutspends' | 'getTxStatus',
    { readonly txid: string; readonly vout?: number }
  > &
    Calls<'postTx', { readonly txhex: string }>;
  readonly websocket: { readonly wsInit: () => WebSocket } & Readonly<
    Record<'wsTrackAddress' | 'wsTrackTransaction', (socket: WebSocket, name: string) => void> &
      Record<'wsTrackAddresses' | 'wsWantData', (socket: WebSocket, names: readonly string[]) => void> &
      Record<
        | 'wsStopData'
        | 'wsStopTrackingAddress'
        | 'wsStopTrackingAddresses'
        | 'wsStopTrackingMempoolBlock'
        | 'wsStopTrackingRbf'
        | 'wsStopTrackingTransaction'
        | 'wsTrackRbfSummary',
        (socket: WebSocket) => void
      > &
      Record<'wsTrackMempoolBlock', (socket: WebSocket, index: number) => void>
  >;
}

/** `config`: of axios. */
export function mempoolJs(port: number, config: object = {}): MempoolJs {
  const load = createRequire(__filename)('@mempool/mempool.js') as (options: object) => { readonly bitcoin: MempoolJs };
  return load({ hostname: `127.0.0.1:${port}`, protocol: 'http', config }).bitcoin;
}

class MempoolJsClient implements EsploraClient {
  readonly #calls: MempoolJs;

  constructor(calls: MempoolJs) {
    this.#calls = calls;
  }

  async tipHeight(): Promise<number> {
    return (await this.#calls.blocks.getBlocksTipHeight({})) as number;
  }

  async blockHash(height: number): Promise<string> {
    return (await this.#calls.blocks.getBlockHeight({ height })) as string;
  }

  async totals(address: string): Promise<Totals> {
    return totalsOf((await this.#calls.addresses.getAddress({ address })) as AddressAnswer);
  }

  async history(address: string): Promise<HistoryItem[]> {
    return historyOf((await this.#calls.addresses.getAddressTxs({ address })) as TransactionAnswer[]);
  }

  async transaction(txid: string): Promise<string> {
    return (await this.#calls.transactions.getTxHex({ txid })) as string;
  }

  async send(hex: string): Promise<string> {
    return (await this.#calls.transactions.postTx({ txhex: hex })) as string;
  }
}

class EsploraBtcApiClient implements EsploraClient {
  readonly #addresses: AddressApi;
  readonly #blocks: BlockApi;
  readonly #transactions: TxApi;

  constructor(port: number) {
    const configuration = new Configuration({ basePath: `http://127.0.0.1:${port}/api` });
    this.#addresses = new AddressApi(configuration);
    this.#blocks = new BlockApi(configuration);
    this.#transactions = new TxApi(configuration);
  }

  async tipHeight(): Promise<number> {
    return (await this.#blocks.getLastBlockHeight()).data;
  }

  async blockHash(height: number): Promise<string> {
    return (await this.#blocks.getBlockAtHeight(height)).data;
  }

  async totals(address: string): Promise<Totals> {
    return totalsOf((await this.#addresses.getAddress(address)).data as unknown as AddressAnswer);
  }

  async history(address: string): Promise<HistoryItem[]> {
    return historyOf((await this.#addresses.getAddressTxHistory(address)).data as unknown as TransactionAnswer[]);
  }

  async transaction(txid: string): Promise<string> {
    return (await this.#transactions.getTxHex(txid)).data;
  }

  async send(hex: string): Promise<string> {
    return (await this.#transactions.postTx(hex)).data;
  }
}

class ExplorerClient implements EsploraClient {
  readonly #explorer: EsploraExplorer;

  constructor(port: number) {
    this.#explorer = new EsploraExplorer({ url: `http://127.0.0.1:${port}/api` });
  }

  tipHeight(): Promise<number> {
    return this.#explorer.fetchBlockHeight();
  }

  async blockHash(height: number): Promise<string | undefined> {
    return (await this.#explorer.fetchBlockStatus(height))?.blockHash;
  }

  async totals(address: string): Promise<Totals> {
    const { balance, unconfirmedBalance } = await this.#explorer.fetchAddress(address);
    return { confirmed: balance, pooled: unconfirmedBalance };
  }

  async history(address: string): Promise<HistoryItem[]> {
    const items = await this.#explorer.fetchTxHistory({ address });
    return items.map(({ txId, blockHeight }) => ({ txid: txId, height: blockHeight === 0 ? undefined : blockHeight })).reverse();
  }

  transaction(txid: string): Promise<string> {
    return this.#explorer.fetchTx(txid);
  }

  send(hex: string): Promise<string> {
    return this.#explorer.push(hex);
  }
}
