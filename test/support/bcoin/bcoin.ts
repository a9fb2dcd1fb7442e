// bcoin ships no type declarations; this is the one place that loads it, and these are
// the parts of it that the tests use. BCOIN_PATH picks another checkout (bcoin 2.x).

import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import type { HostBlock, HostChain, HostEntry, HostHash, HostMempool, HostNode, HostTransaction } from '../../../lib/node/host';

export interface HostFullBlock extends HostBlock {
  readonly txs: readonly HostTransaction[];
  hash(): Buffer;
}

interface HostScript {
  toRaw(): Buffer;
}

export interface HostKeyRing {
  witness: boolean;
  nested: boolean;
  script: HostScript | null;
  getAddress(): unknown;
  getAddress(encoding: 'string', network: string): string;
  /** In wallet import format. */
  toSecret(network: string): string;
  getPublicKey(): Buffer;
  getKeyHash(): Buffer;
}

/** A private key of BIP32. */
interface HostExtendedKey {
  readonly privateKey: Buffer;
  derive(index: number): HostExtendedKey;
  /** The public key. */
  xpubkey(network: string): string;
}

interface HostMutableTransaction {
  version: number;
  locktime: number;
  readonly inputs: readonly { sequence: number }[];
  addOutput(target: unknown, value: number): unknown;
  addInput(input: unknown): unknown;
  addTX(transaction: HostTransaction, index: number): unknown;
  sign(ring: HostKeyRing | readonly HostKeyRing[]): number;
  toTX(): HostTransaction;
}

interface TestChain extends Omit<HostChain, 'synced'> {
  synced: boolean;
  readonly height: number;
  add(block: HostFullBlock): Promise<unknown>;
  getEntry(hash: HostHash | number): Promise<HostEntry | null>;
  reset(target: HostHash | number): Promise<void>;
  /** Resets to the block before `target`, silently. */
  replay(target: HostHash | number): Promise<void>;
  invalidate(hash: HostHash): Promise<void>;
  getDeploymentState(): Promise<unknown>;
  /** As the RPC's `pruneblockchain`. */
  prune(): Promise<boolean>;
}

interface TestMempool extends HostMempool {
  prioritise(entry: unknown, priority: number, feeSats: number): void;
  reset(): Promise<void>;
  /** `peer`: the number of the connection over which it came. */
  addTX(transaction: HostTransaction, peer?: number): ReturnType<HostMempool['addTX']>;
}

/** A block template. */
interface MinerJob {
  readonly attempt: { items: unknown[]; fees: number };
  pushTX(transaction: HostTransaction): unknown;
  refresh(): void;
  mineAsync(): Promise<HostFullBlock>;
}

export interface TestFullNode extends HostNode {
  readonly config: HostNode['config'] & { inject(options: Readonly<Record<string, unknown>>): void };
  readonly chain: TestChain;
  readonly mempool: TestMempool;
  /** Checks the scripts of a block's transactions. */
  readonly workers: HostNode['workers'] & { check(...transaction: unknown[]): Promise<unknown> };
  readonly miner: HostNode['miner'] & {
    /** null: blocks are made without its transactions. */
    mempool: unknown;
    readonly cpu: {
      mineBlock(tip?: HostEntry | null, address?: unknown): Promise<HostFullBlock | null>;
      createJob(tip: HostEntry, address?: unknown): Promise<MinerJob>;
    };
    addAddress(address: unknown): void;
  };
  readonly opened: boolean;
  readonly logger: HostNode['logger'] & { readonly logger: { memory(): void } };
  use(plugin: unknown): unknown;
  getCoin(hash: HostHash, index: number): Promise<unknown>;
  get(name: string): unknown;
  ensure(): Promise<void>;
  open(): Promise<void>;
  connect(): Promise<void>;
  disconnect(): Promise<void>;
  close(): Promise<void>;
}

export interface Bcoin {
  readonly FullNode: new (options: Record<string, unknown>) => TestFullNode;
  readonly SPVNode: new (options: Record<string, unknown>) => TestFullNode;
  readonly Block: { fromRaw(bytes: Buffer): HostFullBlock };
  readonly TX: { fromRaw(bytes: Buffer): HostTransaction };
  readonly Address: { fromScripthash(hash: Buffer): unknown };
  readonly MTX: new () => HostMutableTransaction;
  /** Coins by their outpoints. */
  readonly CoinView: new () => unknown;
  readonly KeyRing: { generate(compressed?: boolean): HostKeyRing; fromPrivate(key: Buffer, compressed?: boolean): HostKeyRing };
  readonly HDPrivateKey: { generate(): HostExtendedKey };
  readonly Script: { fromRaw(bytes: Buffer): HostScript };
  readonly Network: {
    get(name: string): {
      addressPrefix: { pubkeyhash: number; scripthash: number; bech32: string };
      readonly block: { maxTipAge: number };
      readonly deployments: Readonly<Record<'csv' | 'segwit', { threshold: number; window: number }>>;
      readonly pow: { noRetargeting: boolean; targetReset: boolean; retargetInterval: number; targetTimespan: number };
      /** `offset`: seconds that are added to the system's clock. */
      readonly time: { offset: number };
    };
  };
  /** Rules of all networks. */
  readonly consensus: { COINBASE_MATURITY: number };
  readonly pkg: { readonly version: string };
}

const where = process.env['BCOIN_PATH'];

/** The folder or package name that bcoin is loaded from. */
export const bcoinTarget = where === undefined ? 'bcoin' : resolve(where);

export const bcoin = createRequire(__filename)(bcoinTarget) as Bcoin;
