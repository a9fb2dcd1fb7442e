// Types of the parts of bcoin's own objects that are used here, for both 1.0.2 and 2.2: bcoin ships no type declarations.
// The objects are reached only through the running node.

import type { Server } from 'node:http';

/** The one difference that shows everywhere: hashes are hex of the wire order in 1.x, and Buffers in wire order in 2.x. */
export type HostHash = string | Buffer;

/** Our Buffer as the node's own kind of hash. */
export type ToHostHash = (hash: Buffer) => HostHash;

/** The conversion for a node whose hashes look like `sample`. */
export function toHostLike(sample: HostHash): ToHostHash {
  return typeof sample === 'string' ? (hash) => hash.toString('hex') : (hash) => hash;
}

/** The node's hash as a Buffer in wire order. */
export function fromHost(hash: HostHash): Buffer {
  return typeof hash === 'string' ? Buffer.from(hash, 'hex') : hash;
}

/** Whether two of the node's hashes are the same. */
export function sameHostHash(a: HostHash, b: HostHash): boolean {
  return a === b || fromHost(a).equals(fromHost(b));
}

/** The part of bn.js that we need. */
interface HostBigNumber {
  toString(base: number): string;
}

export interface HostEmitter {
  on(event: string, listener: (...values: never[]) => unknown): unknown;
  prependListener(event: string, listener: (...values: never[]) => unknown): unknown;
  removeListener(event: string, listener: (...values: never[]) => unknown): unknown;
}

export interface HostEntry {
  readonly hash: HostHash;
  readonly prevBlock: HostHash;
  readonly height: number;
  readonly time: number;
  readonly chainwork: HostBigNumber;
  /** Header, height, chainwork: 116 bytes. */
  toRaw(): Buffer;
  hasBit(bit: number): boolean;
}

export interface HostBlock {
  readonly txs: readonly HostTransaction[];
  toRaw(): Buffer;
}

export interface HostDeployment {
  readonly bit: number;
  readonly startTime: number;
  readonly timeout: number;
  /** -1: the network's. */
  readonly threshold: number;
  readonly window: number;
}

export interface HostNetwork {
  readonly type: string;
  readonly genesis: { readonly hash: HostHash };
  readonly addressPrefix: { readonly pubkeyhash: number; readonly scripthash: number; readonly bech32: string };
  readonly minerWindow: number;
  readonly activationThreshold: number;
  readonly halvingInterval: number;
  /** Seconds by which the clocks of the peers are ahead. */
  readonly time: { readonly offset: number };
  readonly deployments: Readonly<Record<string, HostDeployment | undefined>>;
  readonly block: {
    readonly keepBlocks: number;
    readonly pruneAfterHeight: number;
    readonly bip34height: number;
    readonly bip65height: number;
    readonly bip66height: number;
  };
}

export interface HostChain extends HostEmitter {
  readonly tip: HostEntry;
  readonly synced: boolean;
  readonly options: {
    /** `pruneblockchain` switches it on while the node runs. */
    readonly prune: boolean;
  };
  readonly db: {
    /** The state of the chain on disk; ahead of `tip` during a reset. */
    readonly state: HostChainState;
    readonly db: HostDatabase;
    /** The ends of all branches. */
    getTips(): Promise<readonly HostHash[]>;
  };
  /** Blocks that were lately found invalid. */
  readonly invalid: { has(hash: HostHash): boolean };
  /** A lock that each change of the chain holds, granted in the order of the calls. Rejects once the chain is closed. */
  readonly locker: { lock(): Promise<() => void> };
  /** Of the active chain; null above the tip. */
  getHash(height: number): Promise<HostHash | null>;
  getEntryByHash(hash: HostHash): Promise<HostEntry | null>;
  getEntryByHeight(height: number): Promise<HostEntry | null>;
  /** On the entry's own chain. */
  getAncestor(entry: HostEntry, height: number): Promise<HostEntry | null>;
  getPrevious(entry: HostEntry): Promise<HostEntry | null>;
  /** Median of the times of the block and of up to ten before it (BIP113). */
  getMedianTime(entry: HostEntry): Promise<number>;
  /** Of a deployment (BIP9), for the block after `entry`. */
  getState(entry: HostEntry, deployment: HostDeployment): Promise<number>;
  /** The rules by which a block with this time is checked on top of `previous`. */
  getDeployments(time: number, previous: HostEntry): Promise<{ readonly flags: number }>;
  /** The rules that hold for the next block. */
  readonly state: { hasCSV(): boolean; hasWitness(): boolean };
  /** Whether the lock time of a transaction has come for the block after `previous`. */
  verifyFinal(previous: HostEntry, transaction: HostTransaction, flags: number): Promise<boolean>;
  /** The same for its relative lock times. */
  verifyLocks(previous: HostEntry, transaction: HostTransaction, view: HostCoinView, flags: number): Promise<boolean>;
  /** The coin that an output of a transaction is; null: it is none. */
  getCoin(hash: HostHash, index: number): Promise<{ readonly value: number } | null>;
  /** The bytes as a peer sent them; null when unknown or pruned. */
  getRawBlock(hash: HostHash): Promise<Buffer | null>;
  getBlock(hash: HostHash): Promise<{ readonly txs: readonly HostTransaction[] } | null>;
}

interface HostChainState {
  readonly tip: HostHash;
  /** Transactions of all blocks, the genesis block's included. */
  readonly tx: number;
  /** Number of coins, and their value. An output that a repeated coinbase overwrote still counts. */
  readonly coin: number;
  readonly value: number;
}

export interface HostRange {
  readonly gt: Buffer;
  readonly gte: Buffer;
  readonly lt: Buffer;
  readonly lte: Buffer;
}

/** The part of bdb that we read through. */
interface HostDatabase {
  get(key: Buffer): Promise<Buffer | null>;
  /** All four bounds are needed: bdb turns a missing one into `null`, and leveldown 6 reads that as the text `null`. */
  iterator(range: HostRange & { readonly values: true }): HostIterator;
}

export interface HostIterator {
  readonly key: Buffer;
  readonly value: Buffer;
  /** Takes the iterator's snapshot, if it has none yet. */
  start(): void;
  /** Moves to the next record; false at the end. */
  next(): Promise<boolean>;
  end(): Promise<void>;
}

interface HostOutpoint {
  readonly hash: HostHash;
  readonly index: number;
}

export interface HostOutput {
  readonly value: number;
  readonly script: { toRaw(): Buffer };
}

/** bcoin's height of coins that are not in a block. */
export const UNCONFIRMED = -1;

/** Coins that a transaction spends. */
export interface HostCoinView {
  hasEntry(outpoint: HostOutpoint): boolean;
  getOutput(outpoint: HostOutpoint): HostOutput | null;
  /** -1: not in a block. */
  getHeight(outpoint: HostOutpoint): number;
  isCoinbase(outpoint: HostOutpoint): boolean;
  addTX(transaction: HostTransaction, height: number): unknown;
}

/** Processes that run scripts, if the operator has them. */
export interface HostWorkers {
  readonly enabled: boolean;
}

export type HostWitness = object;

export interface HostInput {
  readonly prevout: HostOutpoint;
  readonly sequence: number;
  readonly witness: HostWitness;
}

export interface HostTransaction {
  readonly inputs: readonly HostInput[];
  readonly outputs: readonly HostOutput[];
  readonly version: number;
  hash(): Buffer;
  witnessHash(): Buffer;
  toRaw(): Buffer;
  getWeight(): number;
  /** Runs the scripts of an input by the rules of these flags (script/common.js). @throws bcoin's ScriptError, with its `code` */
  checkInput(index: number, coin: HostOutput, flags: number): void;
  /** The same in another process. */
  checkInputAsync(index: number, coin: HostOutput, flags: number, workers: HostWorkers): Promise<void>;
}

export interface HostTransactionClass {
  new (): UnfinishedTransaction;
  fromRaw(bytes: Buffer): HostTransaction;
}

/** bcoin's class of inputs, outputs or witnesses. */
export interface HostPartClass<Part> {
  fromRaw(bytes: Buffer): Part;
}

export interface UnfinishedInput extends HostInput {
  witness: HostWitness;
}

/** A transaction of bcoin that is being put together, with the fields in which it keeps what it knows of its bytes. */
export interface UnfinishedTransaction extends HostTransaction {
  readonly inputs: UnfinishedInput[];
  readonly outputs: HostOutput[];
  version: number;
  locktime: number;
  _raw: Buffer;
  _size: number;
  /** Bytes of the witnesses, with marker and flag. */
  _witness: number;
  _hash: Buffer;
  _whash: Buffer;
}

export interface HostPoolEntry {
  readonly tx: HostTransaction;
  readonly size: number;
  /** As counted for blocks (BIP141). */
  readonly sigops: number;
  /** Whether it spends a coinbase. */
  readonly coinbase: boolean;
  readonly fee: number;
  readonly deltaFee: number;
  readonly time: number;
  readonly height: number;
  /** What it adds to the size of the pool. */
  memUsage(): number;
}

/** bcoin's class of entries. */
export interface HostPoolEntryClass {
  /** `height`: of the chain. */
  fromTX(transaction: HostTransaction, view: HostCoinView, height: number): HostPoolEntry;
}

/** bcoin's database of the pool on disk. */
export interface HostPoolStore {
  readonly location: string;
  open(): Promise<void>;
  close(): Promise<void>;
  /** @throws Error while it is not open */
  batch(): HostPoolBatch;
}

/** Takes nothing more once it was written. */
interface HostPoolBatch {
  write(): Promise<void>;
}

export interface HostPoolCache {
  /** Null: nothing is kept on the disk. */
  db: HostPoolStore | null;
  /** Null until it is open. */
  batch: HostPoolBatch | null;
  save(entry: HostPoolEntry): void;
  /** Notes the block up to which the pool has followed the chain: at start, a pool of another block is of no use. */
  sync(tip: HostHash): void;
  writeFees(fees: HostFees): void;
  /** Writes what was saved and noted. */
  flush(): Promise<void>;
  /** Deletes everything on the disk. */
  wipe(): Promise<void>;
  /** Drops what is yet to be written. */
  clear(): void;
}

export interface HostMempool extends HostEmitter {
  emit(event: string, ...values: readonly unknown[]): boolean;
  readonly map: { readonly size: number; values(): IterableIterator<HostPoolEntry> };
  /** Hashes of transactions that were refused. */
  readonly rejects: { reset(): void };
  /** The pool on disk (`--persistent-mempool`). */
  readonly cache: HostPoolCache;
  /** The block up to which the pool has followed the chain. */
  tip: HostHash;
  close(): Promise<void>;
  readonly options: {
    readonly maxSize: number;
    minRelay: number;
    readonly requireStandard: boolean;
    readonly replaceByFee: boolean;
    readonly rejectAbsurdFees: boolean;
    maxAncestors: number;
  };
  /** Memory in bytes, as bcoin counts it. */
  getSize(): number;
  hasEntry(hash: HostHash): boolean;
  hasOrphan(hash: HostHash): boolean;
  removeOrphan(hash: HostHash): unknown;
  /** Returns the hashes of the missing transactions if the transaction is an orphan. */
  addTX(transaction: HostTransaction): Promise<readonly HostHash[] | null | undefined>;
  /** Checks a transaction. Calls `addEntry` on the same object when it may enter, `maybeOrphan` when outputs are missing. */
  insertTX(transaction: HostTransaction, peer: number): Promise<readonly HostHash[] | null | undefined>;
  getCoinView(transaction: HostTransaction): Promise<HostCoinView>;
  /** The coins of a transaction of the pool, in 2.x; in 1.x `getCoinView` has them. */
  _getSpentView?(transaction: HostTransaction): Promise<HostCoinView>;
  /** As `getCoinView`, for a transaction that is already in the pool. */
  getSpentView(transaction: HostTransaction): Promise<HostCoinView>;
  /** A lock that is held while a transaction enters. */
  readonly locker: { lock(): Promise<() => void> };
  /** Adds an entry without checks. Lets in orphans that waited for it. */
  addEntry(entry: HostPoolEntry, view: HostCoinView): Promise<void>;
  /** Removes an entry and all that spend from it. */
  evictEntry(entry: HostPoolEntry): void;
  /** Evicts what spends the inputs of a transaction of a block. */
  removeDoubleSpends(transaction: HostTransaction): void;
  /** Adds what an entry pays and takes to the sums of its ancestors, or removes it from there. */
  updateAncestors(entry: HostPoolEntry, change: unknown): number;
  /** Every entry comes here first, those on disk included, and leaves here last, unless the pool is emptied. */
  trackEntry(entry: HostPoolEntry, view?: HostCoinView): void;
  untrackEntry(entry: HostPoolEntry): void;
  _reset(): Promise<void>;
  _addBlock(block: HostEntry, transactions: readonly HostTransaction[]): Promise<void>;
  _removeBlock(block: HostEntry, transactions: readonly HostTransaction[]): Promise<void>;
  _handleReorg(): Promise<void>;
  /** Keeps a transaction until its parents come. Returns the hashes of those; null if it lacks none. */
  maybeOrphan(transaction: HostTransaction, view: HostCoinView, peer: number): readonly HostHash[] | null;
  /** Lets in the orphans that waited for a transaction. */
  handleOrphans(parent: HostTransaction): Promise<void>;
  getTX(hash: HostHash): HostTransaction | null | undefined;
  getEntry(hash: HostHash): HostPoolEntry | null | undefined;
  getCoin(hash: HostHash, index: number): HostOutput | null;
  isSpent(hash: HostHash, index: number): boolean;
  /** The spender of an output. */
  getSpent(hash: HostHash, index: number): HostPoolEntry | undefined;
}

/** bcoin's logger: a format string with `%s`, and the values for it. */
interface HostLogger {
  context(name: string): HostLogger;
  error(format: string, ...values: readonly unknown[]): void;
  warning(format: string, ...values: readonly unknown[]): void;
  info(format: string, ...values: readonly unknown[]): void;
  debug(format: string, ...values: readonly unknown[]): void;
}

/** The logger of all parts of a process. */
export interface HostNodeLogger extends HostLogger {
  /** Whether it also writes to the terminal. */
  readonly console: boolean;
  /** None, error, warning, info, debug, spam: 0 to 5. */
  readonly level: number;
}

/** The logger of one part; the level is that of all. */
interface HostPartLogger extends HostLogger {
  readonly logger: HostNodeLogger;
  /** @throws for a name that is no level */
  setLevel(name: string): void;
}

/** bcfg's options, looked up in this order: flags, environment, bcoin.conf, constructor options. */
export interface HostConfig {
  readonly args: Readonly<Record<string, unknown>>;
  readonly env: Readonly<Record<string, unknown>>;
  readonly data: Readonly<Record<string, unknown>>;
  readonly options: Readonly<Record<string, unknown>>;
  has(key: string): boolean;
  get(key: string): string | number | boolean | null;
  bool(key: string, fallback?: boolean): boolean | null;
  /** A path with `~` (home) and `@` (the node's folder) resolved. */
  path(key: string): string | null;
  location(name: string): string;
  /** The path of the configuration file: `name` in the node's folder unless the operator names another one. Readers have none. */
  getFile?(name: string): string;
}

/** Options whose file can be read again. */
export interface ReadableConfig extends HostConfig {
  /** Reads a configuration file. @throws when it cannot be read or parsed */
  open(file: string): void;
}

interface HostBlockStore {
  /** Locations of blocks; in a store in memory, the blocks themselves. */
  readonly db: HostDatabase;
  has(hash: Buffer): Promise<boolean>;
  /** Path of a file with data of a kind. */
  filepath(kind: number, file: number): string;
  readUndo(hash: Buffer): Promise<Buffer | null>;
}

/** bcoin's own interface (bweb). */
export interface HostHttp {
  /** The raw server beneath. */
  readonly http: Server;
  readonly options: { readonly apiKey: string; readonly noAuth: boolean };
  on(event: 'request', listener: (request: HostEmitter) => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  /** A client of its WebSocket has connected. */
  on(event: 'socket', listener: (client: HostClient) => void): unknown;
  listeners(event: 'error'): ((error: Error) => void)[];
  removeAllListeners(event: 'error'): unknown;
  /** Clients of its WebSocket in a channel, which those that have shown the key may join; null: there are none. */
  channel(name: string): Iterable<HostClient> | null;
}

/** A client of bcoin's own WebSocket. */
export interface HostClient {
  /** Its IP address and port. */
  readonly host: string;
  readonly port: number;
  /** Whether it is in the channel. */
  channel(name: string): boolean;
  prependListener(event: 'error', listener: (error: Error) => void): unknown;
}

export interface HostNode extends HostEmitter {
  /** Rejects before it is open. */
  close(): Promise<void>;
  readonly spv: boolean;
  readonly memory: boolean;
  readonly network: HostNetwork;
  readonly config: ReadableConfig;
  readonly logger: HostPartLogger;
  readonly chain: HostChain;
  readonly mempool: HostMempool;
  readonly workers: HostWorkers;
  /** In blocks above this weight it puts no transactions that pay less than bcoin's own relay fee. */
  readonly miner: { readonly options: { minWeight: number } };
  /** Gives a transaction to the pool. */
  sendTX(transaction: HostTransaction): Promise<void>;
  /** The block store of 2.x; 1.x stores blocks in the chain database. */
  readonly blocks?: HostBlockStore;
  readonly pool: HostEmitter & {
    readonly options: {
      readonly selfish: boolean;
      readonly agent: string;
      readonly version: number;
      readonly services: number;
      readonly noRelay: boolean;
      readonly proxy: string | null;
      readonly onion: boolean;
    };
    readonly connected: boolean;
    readonly peers: { readonly inbound: number; readonly outbound: number };
    readonly hosts: {
      readonly local: ReadonlyMap<string, { readonly addr: { readonly host: string; readonly port: number }; readonly score: number }>;
    };
    /** Announces a transaction to the peers that have not heard of it. */
    announceTX(transaction: HostTransaction): void;
  };
  /** Announces a transaction to peers, for a selfish node whose pool does not do so by itself. */
  broadcast(transaction: HostTransaction): Promise<void>;
  readonly http: HostHttp;
  /** The node's own JSON-RPC. Replies with an error have no result. */
  readonly rpc: {
    call(
      request: { readonly method: string; readonly params: unknown; readonly id: null },
      query: object
    ): Promise<{ readonly result: unknown; readonly error: { readonly code: number; readonly message: string } | null }>;
    /** Runs one call. `params`: a list, unless the client sent something else. @throws bcoin's RPCError */
    execute(call: { readonly method: string; readonly params: unknown }, help?: boolean): Promise<unknown>;
    /** All calls by their names, and those of other parts. */
    readonly calls: Readonly<Record<string, unknown>>;
    readonly mounts: readonly { readonly calls: Readonly<Record<string, unknown>> }[];
    /** Adds a call. */
    add(name: string, call: (params: readonly unknown[], help: boolean) => Promise<unknown>): void;
  };
  readonly fees: HostFees | null;
  /** Seconds since the node was opened. */
  uptime(): number;
}

export interface HostFees {
  /** `buckets`: the least rates of the groups in which transactions are counted. */
  readonly feeStats: { readonly maxConfirms: number; readonly buckets: Float64Array };
  /** Transactions that pay less are not counted; nor are those of a higher priority. */
  minTrackedFee: number;
  minTrackedPri: number;
  /** Makes the groups. */
  init(): void;
  /** Takes over estimates from the disk. */
  inject(saved: HostFees): HostFees;
  /** Satoshis per 1,000 virtual bytes; 0 when there is no estimate. `smart`: falls back to estimates for more blocks. */
  estimateFee(blocks: number, smart: boolean): number;
}
