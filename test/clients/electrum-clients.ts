// The npm packages that speak the Electrum protocol, as they are published: the parts of them that wallets use, behind one interface.

import { createRequire } from 'node:module';
import { ElectrumExplorer } from '@bitcoinerlab/explorer';
import { coreRegtestPrefixes } from '../support/chain/chain-a';
import { scriptAt } from '../support/chain/faucet';
import { scriptHash } from '../support/pool/walk';
import { until } from '../support/expectations/until';
import type { EventEmitter } from 'node:events';
import type { HistoryItem, Totals } from './esplora-clients';

/** Bitcoin Core's regtest in the format of bitcoinjs-lib, which @bitcoinerlab's packages take. */
export const REGTEST = {
  messagePrefix: '\x18Bitcoin Signed Message:\n',
  bip32: { public: 0x043587cf, private: 0x04358394 },
  wif: 0xef,
  bech32: coreRegtestPrefixes.bech32,
  pubKeyHash: coreRegtestPrefixes.pubkeyhash,
  scriptHash: coreRegtestPrefixes.scripthash
};

/** The transport to the node; WebSocket goes through a bridge. */
export interface Way {
  readonly protocol: 'tcp' | 'ssl';
  readonly port: number;
}

export interface ElectrumClient {
  totals(address: string): Promise<Totals>;
  /** Transactions of the chain in its order, then those of the pool. */
  history(address: string): Promise<HistoryItem[]>;
  /** In hex. */
  transaction(txid: string): Promise<string>;
  /** @returns the txid @throws the client's form of an error */
  send(hex: string): Promise<string>;
  /** The statuses of an address that it gets, the present one first; undefined for clients without subscriptions. */
  readonly watch: ((address: string) => Promise<(string | null)[]>) | undefined;
  /** To be called before the node is stopped. */
  leaves(): void;
  /** Waits until it is connected to the restarted node. */
  reconnected(): Promise<void>;
  close(): void;
}

export const ELECTRUM_CLIENTS: readonly { readonly name: string; readonly connect: (way: Way) => Promise<ElectrumClient> }[] = [
  { name: '@mempool/electrum-client 1.1.9', connect: (way) => PersistentClient.connect(mempoolClient, way) },
  { name: '@samouraiwallet/electrum-client 1.5.2', connect: (way) => PersistentClient.connect(samouraiClient, way) },
  { name: 'electrum-client 0.0.6', connect: async (way) => new FirstClient(await firstClient(way), way) },
  { name: '@bitcoinerlab/explorer 1.0.0', connect: (way) => ExplorerClient.connect(way) }
];

/** The common part of three packages: methods of the protocol, and events by the name of their method. */
export interface ElectrumCalls {
  readonly subscribe: EventEmitter;
  close(): void;
  [method: string]: unknown;
}

const HOST = '127.0.0.1';
const ASKED = { client: 'wallet', version: '1.4' };
/** It keeps trying to reconnect. */
const PERSISTENCE = { retryPeriod: 100, maxRetry: 10_000, pingPeriod: 120_000, callback: null };

const callbacksOf = (connected: () => void = () => undefined): { onConnect(): void; onLog(): void } => ({
  onConnect: connected,
  onLog: () => undefined
});

interface AskingCalls extends ElectrumCalls {
  /** Connects, and agrees upon the protocol's version. */
  initElectrum(asked: object, persistence: object): Promise<unknown>;
}

type SamouraiClass = new (port: number, host: string, protocol: string, callbacks: object) => AskingCalls;
type MempoolClass = new (port: number, host: string, protocol: string, options: undefined, callbacks: object) => AskingCalls;

/** `connected`: called whenever the client is connected again. */
export async function mempoolClient({ port, protocol }: Way, connected?: () => void): Promise<ElectrumCalls> {
  const Client = createRequire(__filename)('@mempool/electrum-client') as MempoolClass;
  const client = new Client(port, HOST, protocol, undefined, callbacksOf(connected));
  await client.initElectrum(ASKED, { ...PERSISTENCE });
  return client;
}

/** `connected`: called whenever the client is connected again. */
export async function samouraiClient({ port, protocol }: Way, connected?: () => void): Promise<ElectrumCalls> {
  // Its own types lack the ends of file names.
  const name: string = '@samouraiwallet/electrum-client';
  const { ElectrumClient: Client } = (await import(name)) as { readonly ElectrumClient: SamouraiClass };
  const client = new Client(port, HOST, protocol, callbacksOf(connected));
  await client.initElectrum(ASKED, PERSISTENCE);
  return client;
}

/** The package from which the others were derived. */
export async function firstClient({ port, protocol }: Way): Promise<ElectrumCalls> {
  const Client = createRequire(__filename)('electrum-client') as new (port: number, host: string, protocol: string) => ElectrumCalls;
  const client = new Client(port, HOST, protocol);
  await call(client, 'connect');
  await call(client, 'server_version', ASKED.client, ASKED.version);
  return client;
}

/** @throws the client's form of an error */
export function call(client: ElectrumCalls, method: string, ...args: readonly unknown[]): Promise<unknown> {
  return (client[method] as (...args: unknown[]) => Promise<unknown>).apply(client, [...args]);
}

/** A script's hash as it is written in the protocol. */
export const scriptHashOf = (address: string): string => scriptHash(scriptAt(address)).reverse().toString('hex');

const itemOf = ({ tx_hash, height }: { readonly tx_hash: string; readonly height: number }): HistoryItem => ({
  txid: tx_hash,
  height: height > 0 ? height : undefined
});

abstract class CallingClient implements ElectrumClient {
  constructor(protected calls: ElectrumCalls) {}

  abstract reconnected(): Promise<void>;

  /** Does nothing: this client needs no notice. */
  leaves(): void {
    return;
  }

  async totals(address: string): Promise<Totals> {
    const { confirmed, unconfirmed } = await this.#ask<{ confirmed: number; unconfirmed: number }>(
      'blockchainScripthash_getBalance',
      scriptHashOf(address)
    );
    return { confirmed, pooled: unconfirmed };
  }

  async history(address: string): Promise<HistoryItem[]> {
    const items = await this.#ask<Parameters<typeof itemOf>[0][]>('blockchainScripthash_getHistory', scriptHashOf(address));
    return items.map(itemOf);
  }

  transaction(txid: string): Promise<string> {
    return this.#ask('blockchainTransaction_get', txid);
  }

  send(hex: string): Promise<string> {
    return this.#ask('blockchainTransaction_broadcast', hex);
  }

  readonly watch = async (address: string): Promise<(string | null)[]> => {
    const statuses: (string | null)[] = [];
    const hash = scriptHashOf(address);
    this.calls.subscribe.on('blockchain.scripthash.subscribe', ([told, status]: [string, string | null]) => {
      if (told === hash) statuses.push(status);
    });
    statuses.push(resultOf(await this.#ask('blockchainScripthash_subscribe', hash)) as string | null);
    return statuses;
  };

  close(): void {
    this.calls.close();
  }

  async #ask<T>(method: string, ...args: readonly unknown[]): Promise<T> {
    return (await call(this.calls, method, ...args)) as T;
  }
}

/** Connects again by itself. */
class PersistentClient extends CallingClient {
  readonly #connections: () => number;
  #seen = 1;

  private constructor(calls: ElectrumCalls, connections: () => number) {
    super(calls);
    this.#connections = connections;
  }

  static async connect(open: (way: Way, connected: () => void) => Promise<ElectrumCalls>, way: Way): Promise<PersistentClient> {
    let connections = 0;
    const calls = await open(way, () => connections++);
    return new PersistentClient(calls, () => connections);
  }

  async reconnected(): Promise<void> {
    await until(() => this.#connections() > this.#seen);
    this.#seen = this.#connections();
  }
}

/** Does not reconnect: a new client replaces it. */
class FirstClient extends CallingClient {
  readonly #way: Way;

  constructor(calls: ElectrumCalls, way: Way) {
    super(calls);
    this.#way = way;
  }

  async reconnected(): Promise<void> {
    this.close();
    this.calls = await firstClient(this.#way);
  }
}

/** Two of the clients return the whole reply if its result is empty. */
export function resultOf(answer: unknown): unknown {
  return typeof answer === 'object' && answer !== null && 'jsonrpc' in answer ? (answer as { result?: unknown }).result : answer;
}

export async function connectExplorer({ port, protocol }: Way): Promise<ElectrumExplorer> {
  const explorer = new ElectrumExplorer({ host: HOST, port, protocol, network: REGTEST });
  await explorer.connect();
  return explorer;
}

class ExplorerClient implements ElectrumClient {
  readonly #explorer: ElectrumExplorer;
  readonly watch = undefined;

  private constructor(explorer: ElectrumExplorer) {
    this.#explorer = explorer;
  }

  static async connect(way: Way): Promise<ExplorerClient> {
    return new ExplorerClient(await connectExplorer(way));
  }

  async totals(address: string): Promise<Totals> {
    const { balance, unconfirmedBalance } = await this.#explorer.fetchAddress(address);
    return { confirmed: balance, pooled: unconfirmedBalance };
  }

  async history(address: string): Promise<HistoryItem[]> {
    const items = await this.#explorer.fetchTxHistory({ address });
    return items.map(({ txId, blockHeight }) => ({ txid: txId, height: blockHeight === 0 ? undefined : blockHeight }));
  }

  transaction(txid: string): Promise<string> {
    return this.#explorer.fetchTx(txid);
  }

  send(hex: string): Promise<string> {
    return this.#explorer.push(hex);
  }

  /** A second after the end of a connection it tries once to connect again, and does not catch the error if the node is away. */
  leaves(): void {
    this.#explorer.close();
  }

  reconnected(): Promise<void> {
    return this.#explorer.connect();
  }

  close(): void {
    this.#explorer.close();
  }
}
