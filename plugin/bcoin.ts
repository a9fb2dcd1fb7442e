// Loads bcoin for the programs here that create a node themselves: `npm start` and the tools for a stopped node. The plugin itself
// is given the running node and does not use this. BCOIN_PATH selects another checkout.

import './leveldown-6';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import type { HostBlock, HostChain, ReadableConfig, HostHash, HostMempool, HostNode, HostTransaction } from '../lib/node/host';

export interface HostFullBlock extends HostBlock {
  hash(): HostHash;
  readonly txs: readonly HostTransaction[];
}

type HostBlockStore = NonNullable<HostNode['blocks']> & {
  open(): Promise<void>;
  close(): Promise<void>;
};

/** The configuration, as bcoin's own programs read it. */
export interface HostSettings extends ReadableConfig {
  /** The node's folder, including the network's folder. */
  readonly prefix: string;
  bool(key: string, fallback?: boolean): boolean | null;
}

export interface HostFullNode extends HostNode {
  readonly logger: HostNode['logger'] & {
    /** The logger of all parts. */
    readonly logger: {
      /** Writes a line to the terminal; says whether it did. */
      writeConsole(level: number, module: string, args: readonly unknown[]): boolean;
    };
  };
  readonly opened: boolean;
  readonly config: HostSettings;
  readonly http: HostNode['http'] & { readonly options: { readonly port: number } };
  readonly chain: HostChain & {
    readonly height: number;
    add(block: HostBlock): Promise<unknown>;
    getBlock(height: number): Promise<HostFullBlock | null>;
    open(): Promise<void>;
    close(): Promise<void>;
  };
  readonly blocks?: HostBlockStore;
  readonly mempool: HostMempool;
  readonly miner: HostNode['miner'] & { readonly cpu: { mineBlock(tip: null, address: unknown): Promise<HostFullBlock | null> } };
  has(plugin: string): boolean;
  get(plugin: string): unknown;
  use(plugin: unknown): unknown;
  ensure(): Promise<void>;
  open(): Promise<void>;
  connect(): Promise<void>;
  startSync(): void;
  close(): Promise<void>;
}

export interface HostKeyRing {
  witness: boolean;
  nested: boolean;
  script: unknown;
  getAddress(): unknown;
  getPublicKey(): Buffer;
}

export interface HostMutableTransaction {
  addTX(transaction: HostTransaction, index: number): unknown;
  addOutput(target: unknown, value: number): unknown;
  sign(rings: readonly HostKeyRing[]): number;
  toTX(): HostTransaction;
}

export interface Bcoin {
  /** The base class of full nodes: its constructor reads the configuration and opens nothing. */
  readonly Node: new (
    module: string,
    configFile: string,
    logFile: string,
    options: Readonly<Record<string, unknown>>
  ) => { readonly config: HostSettings };
  readonly FullNode: new (options: Readonly<Record<string, unknown>>) => HostFullNode;
  readonly MTX: new () => HostMutableTransaction;
  readonly KeyRing: { fromPrivate(key: Buffer, compressed: boolean): HostKeyRing };
  /** In the node's own form. */
  readonly Address: { fromString(address: string, network: HostNode['network']): unknown };
  readonly Script: {
    fromMultisig(m: number, n: number, keys: readonly Buffer[]): unknown;
    fromPubkey(key: Buffer): unknown;
    fromNulldata(data: Buffer): unknown;
    fromProgram(version: number, data: Buffer): unknown;
  };
  readonly wallet: { readonly plugin: unknown };
  readonly pkg: { readonly version: string };
  /** The names of all networks. */
  readonly networks: { readonly types: readonly string[] };
}

/** In the message of bcoin's error when another process has the node's data open. */
export const IN_USE = /IO error: lock .*(temporarily unavailable|already held)/;

/** The bcoin that is installed here, or the checkout that BCOIN_PATH names. */
export function loadBcoin(): Bcoin {
  const path = process.env['BCOIN_PATH'];
  // The installed bcoin has no compiled modules (.npmrc), so bcoin must use JavaScript.
  if (path === undefined) process.env['NODE_BACKEND'] ??= 'js';
  return createRequire(__filename)(path === undefined ? 'bcoin' : resolve(path)) as Bcoin;
}
