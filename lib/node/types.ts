// The interface of a node, as the service needs it, and of the process that serves. One implementation is for bcoin 1.x and 2.x (bcoin.ts,
// bcoin-http.ts); nothing outside this folder knows bcoin. Hashes are 32-byte Buffers in wire order; amounts are satoshis; times are Unix seconds.

import type { Server } from 'node:http';
import type { Observable } from 'rxjs';
import type { AddressPrefixes } from '../bitcoin/address';
import type { RefusalWords } from './errors';

/** A block, by hash and height. */
export interface BlockPoint {
  readonly hash: Buffer;
  readonly height: number;
}

/** The network that the node runs on. */
export interface NetworkInfo {
  /** Bitcoin Core's name of the chain: `main`, `test`, `regtest`, `simnet`. */
  readonly chain: string;
  readonly genesisHash: Buffer;
  readonly addressPrefixes: AddressPrefixes;
  /** Blocks from one halving of the subsidy to the next. */
  readonly halvingInterval: number;
}

/** How far the node itself has synced. */
export interface NodeProgress {
  readonly height: number;
  /** Estimated part of the chain that is verified, 0 to 1. */
  readonly verified: number;
}

/** What the node knows about any block, on the active chain or off it. */
export interface BlockEntry extends BlockPoint {
  /** The 80 bytes of the header. */
  readonly header: Buffer;
  /** Work of the chain up to and including this block. */
  readonly chainwork: bigint;
  /** Median time past of this block (BIP113). */
  readonly medianTime: number;
}

/** A soft fork that was switched on by block version alone (BIP34, BIP66, BIP65). */
export interface VersionFork {
  readonly id: string;
  readonly version: number;
  /** True once blocks of lower version are rejected. */
  readonly active: boolean;
}

/** A BIP9 deployment, as the next block will see it. */
export interface Bip9Deployment {
  readonly id: string;
  readonly status: 'defined' | 'started' | 'locked_in' | 'active' | 'failed';
  readonly bit: number;
  /** May be -1, "always active". */
  readonly startTime: bigint;
  readonly timeout: bigint;
  /** Height of the first block to which the status applies. */
  readonly since: number;
  /** Signalling in the current period; only while started. */
  readonly statistics?: {
    readonly period: number;
    readonly threshold: number;
    readonly elapsed: number;
    readonly count: number;
    readonly possible: boolean;
  };
}

export interface Deployments {
  readonly versionForks: readonly VersionFork[];
  readonly bip9: readonly Bip9Deployment[];
}

/** A soft fork that the node switches on at a fixed height. */
export interface BuriedFork {
  readonly id: string;
  readonly height: number;
}

/** A soft fork that blocks signal (BIP9), as a block and the next block see it. */
export interface SignalledFork extends Omit<Bip9Deployment, 'statistics'> {
  /** Status for the next block. */
  readonly nextStatus: Bip9Deployment['status'];
  /** Height of the first block to which the fork applies; undefined: not known yet. */
  readonly activeSince: number | undefined;
  /** While started or locked in: for each block of the period up to and including this one, whether it signals. */
  readonly signals: readonly boolean[] | undefined;
  /** Number of blocks after which the status may change, and how many of them must signal. */
  readonly period: number;
  readonly threshold: number;
}

/** The soft forks as one block sees them. */
export interface DeploymentInfo extends BlockPoint {
  /** The rules by which the block's scripts were checked, by Bitcoin Core's names, sorted. */
  readonly scriptFlags: readonly string[];
  readonly buried: readonly BuriedFork[];
  readonly signalled: readonly SignalledFork[];
}

/** A coin that a block spent, as the node has it for disconnecting the block. */
export interface SpentNodeCoin {
  readonly height: number;
  readonly coinbase: boolean;
  readonly value: number;
  readonly script: Buffer;
}

/** Some of the coins that a block spends: the number of the first one, from 0, and how many. */
export interface SpentSpan {
  readonly start: number;
  readonly count: number;
}

/** A coin as the node stores it. */
export interface NodeCoin extends SpentNodeCoin {
  readonly txid: Buffer;
  readonly index: number;
}

/** The node's coins after one block, in a snapshot: they stay the same while the chain moves on. */
export interface CoinSet {
  readonly tip: BlockPoint;
  /** Number of coins, as the node has counted them block by block. */
  readonly count: number;
  /** Value of all coins, counted likewise. */
  readonly value: number;
  /** Transactions of all blocks up to and including the tip. */
  readonly transactions: number;
  /** All coins in the order of txid and index, some thousands at a time. May be called once. @throws MalformedBytesError */
  coins(): AsyncIterable<readonly NodeCoin[]>;
  /** The headers (80 bytes) from the genesis block to the tip, some at a time. May be called once. @throws ChainMovedError */
  headers(): AsyncIterable<readonly Buffer[]>;
  close(): Promise<void>;
}

/** An output that a transaction of the pool makes or spends. */
export interface PoolCoin {
  readonly value: number;
  readonly script: Buffer;
}

/** A transaction in the pool. */
export interface PoolEntry {
  readonly txid: Buffer;
  readonly wtxid: Buffer;
  /** Virtual bytes, of the adjusted weight. */
  readonly size: number;
  /** As in a block (BIP141). */
  readonly weight: number;
  /** The weight by which the pool judges the transaction: more than `weight` if it has many signature operations. */
  readonly adjustedWeight: number;
  readonly fee: number;
  /** The fee plus the amounts that `prioritisetransaction` added. */
  readonly modifiedFee: number;
  readonly time: number;
  /** Height of the chain when the transaction entered; if a reorganization put it back, the height after the reorganization. */
  readonly height: number;
  /** For each input, the txid that it spends from, confirmed or not. */
  readonly spends: readonly Buffer[];
  /** Whether it signals that it may be replaced (BIP125). */
  readonly signalsReplacement: boolean;
  /** True for a transaction that was given to this node, until a peer asks for it or sends it. */
  readonly isUnbroadcast: boolean;
}

export interface PoolInfo {
  readonly size: number;
  /** Sum of the entries' sizes. */
  readonly bytes: number;
  /** Sum of the entries' unmodified fees. */
  readonly totalFee: number;
  /** Entries that are unbroadcast. */
  readonly unbroadcast: number;
  /** Bytes of the longest script with data (`OP_RETURN`) that the pool accepts. */
  readonly mostDataCarrierBytes: number;
  /** Memory in bytes, as the node counts it. */
  readonly usage: number;
  readonly maxUsage: number;
  /** What the pool asks for now, not less than what it always asks for. Satoshis per 1,000 virtual bytes, as the next one. */
  readonly minFeeRate: number;
  readonly minRelayFeeRate: number;
  /** Whether a better transaction takes the place of those that it conflicts with. */
  readonly replaces: boolean;
}

/** Whether the pool would accept a transaction. */
export type TrialResult =
  | { readonly type: 'taken'; readonly fee: number; /** Sigop-adjusted virtual bytes. */ readonly size: number }
  /** `reason`: the node's reason. `words`: Bitcoin Core's, if the node has them. */
  | { readonly type: 'refused'; readonly reason: string; readonly words?: RefusalWords }
  /** It spends outputs that do not exist, or are spent. */
  | { readonly type: 'missing' };

/** Whether the pool would accept several transactions. */
export interface Trials {
  /** In the order of the transactions; undefined: another one was refused before this one was judged. */
  readonly results: readonly (TrialResult | undefined)[];
  /** Why they cannot enter together, in Bitcoin Core's words. */
  readonly fault?: string;
}

/** What became of a transaction of a package that was submitted. Sizes: virtual bytes, of the adjusted weight; weights as in a block. */
export type PackageMember =
  | {
      readonly type: 'entered';
      readonly fee: number;
      readonly size: number;
      readonly weight: number;
      /** The transactions that were judged by their fees and sizes together. */
      readonly effective: { readonly fee: number; readonly size: number; readonly wtxids: readonly Buffer[] };
    }
  /** It was there before. */
  | { readonly type: 'pooled'; readonly fee: number; readonly size: number; readonly weight: number }
  | { readonly type: 'pooled with another witness'; readonly wtxid: Buffer }
  /** In Bitcoin Core's words. */
  | { readonly type: 'refused'; readonly reason: string; readonly details: string };

export interface SubmittedPackage {
  /** Bitcoin Core's words for the package as a whole. */
  readonly message: string;
  /** In the order of the transactions. */
  readonly members: readonly PackageMember[];
  /** The txids of what has left the pool for them, sorted. */
  readonly replaced: readonly Buffer[];
}

/** A transaction of the pool and the coins that it spends. These are read when asked for, even after the transaction left the pool. */
export interface PoolTransaction {
  readonly txid: Buffer;
  /** Serialized, witness included: the node's bytes, not a copy. */
  readonly raw: Buffer;
  /** The coins that it spends, in the order of its inputs. The scripts may be views of larger buffers. */
  readonly coins: readonly PoolCoin[];
}

export interface PoolAddition extends PoolTransaction {
  readonly type: 'add';
}

/** A change of the pool. */
export type PoolEvent = PoolAddition | PoolRemoval | PoolClearing;

/** All transactions have left. `txids`: which ones, if the source knows them. */
export interface PoolClearing {
  readonly type: 'clear';
  readonly txids?: readonly Buffer[];
}

/** `replacement`: the txid of the transaction that takes its place, or that of one that it descends from. That one enters afterwards. */
export interface PoolRemoval {
  readonly type: 'remove';
  readonly txid: Buffer;
  readonly replacement?: Buffer;
  /** True when the block that the node is connecting has the transaction, if the source knows. */
  readonly isConfirmed?: boolean;
}

/** The node's transaction pool. All calls except `withCoins` answer from memory. */
export interface PoolSource {
  /** A number that differs after every change of the pool. A result computed at one revision is right for that revision. */
  readonly revision: number;
  /** The number of the next change, from 1: each transaction that enters or leaves has one. While an event is delivered it is counted already. */
  readonly sequence: number;
  /** What the node is doing with a block while the pool changes because of it. A reader of a fleet does not know. */
  readonly following: BlockEvent['type'] | undefined;
  /** Changes of the pool as they happen. */
  readonly events$: Observable<PoolEvent>;
  /**
   * A fingerprint of 32 bits of all modified fees. Prioritising a transaction changes its modified fee without an event: a result
   * that shows modified fees is right for one revision and one fingerprint.
   */
  feeFingerprint(): number;
  /** The serialized transaction, witness included. */
  transaction(txid: Buffer): Buffer | undefined;
  /** An output that no transaction of the pool spends. */
  coin(txid: Buffer, index: number): PoolCoin | undefined;
  isSpent(txid: Buffer, index: number): boolean;
  /** The transaction of the pool that spends an output, and by which of its inputs. */
  spender(txid: Buffer, index: number): { readonly txid: Buffer; readonly input: number } | undefined;
  /** All txids, in the order in which the transactions entered. */
  txids(): Buffer[];
  /**
   * A transaction with its coins, even if it entered before anybody listened. Waits until no block is being connected or disconnected,
   * so a listener to the chain must not wait for it. undefined: the pool lacks the transaction, or its coins are gone.
   */
  withCoins(txid: Buffer): Promise<PoolTransaction | undefined>;
  info(): PoolInfo;
  /** In the order in which they entered. An entry stays the same object as long as nothing but its modified fee changes. */
  entries(): PoolEntry[];
  /** The entry of a transaction. */
  entry(txid: Buffer): PoolEntry | undefined;
}

/** A hint that the chain moved. The chain waits until `acknowledge` is called; a second call does nothing. */
export type ChainEvent = BlockEvent | TipEvent;

export interface BlockEvent {
  readonly type: 'connect' | 'disconnect';
  readonly block: BlockPoint;
  /** The serialized block, witness included, as Bitcoin Core would write it. @throws UnreadableBlockError */
  rawBlock(): Buffer;
  acknowledge(): void;
}

export interface TipEvent {
  /** A reset sends no `disconnect` events. `settled`: the chain has moved without any of the other events. */
  readonly type: 'reset' | 'reorganize' | 'settled';
  acknowledge(): void;
}

/** The tip of a branch of the chain. */
export interface ChainTip extends BlockPoint {
  /** Number of blocks from the active chain to the tip; 0 for the active tip. */
  readonly branchLength: number;
  /** Bitcoin Core's words. */
  readonly status: 'active' | 'valid-fork' | 'valid-headers' | 'headers-only' | 'invalid';
}

/** The node as its peers see it. */
export interface NetworkStatus {
  /** User agent. */
  readonly agent: string;
  readonly protocolVersion: number;
  /** The services that the node offers, as bits. */
  readonly services: number;
  /** Whether the node asks peers for transactions. */
  readonly relays: boolean;
  /** Seconds by which the peers' clocks are ahead. */
  readonly timeOffset: number;
  readonly isActive: boolean;
  readonly inbound: number;
  readonly outbound: number;
  /** `host:port`; undefined: no proxy. */
  readonly proxy: string | undefined;
  /** Whether onion addresses are reached through the proxy. */
  readonly onion: boolean;
  readonly localAddresses: readonly { readonly address: string; readonly port: number; readonly score: number }[];
}

export interface FeeEstimate {
  /** Satoshis per 1,000 virtual bytes. */
  readonly rate: number;
  /** Number of blocks within which the rate leads to a confirmation. */
  readonly blocks: number;
}

/** A place in a log of changes: the number of a record, and the name of the log (printable ASCII without spaces). Another log counts anew. */
export interface LogPoint {
  readonly log: string;
  readonly sequence: number;
}

/** How far a process has read the changes of chain and pool. */
export interface ReadingPosition {
  /** The last change that every answer shows. */
  readonly now: LogPoint;
  /** Emits after `now` has changed. */
  readonly moved$: Observable<unknown>;
}

/** What a process that follows nodes through a log knows of them. */
export interface FleetFacts {
  /** Why its answers may be too old to give; undefined: they are not. A status for strangers, without a full stop. */
  readonly why: string | undefined;
  /** Milliseconds since the node that leads was last heard of; undefined: never. */
  readonly beatAgeMs: number | undefined;
  /** The term of the node that leads, as the log has it. */
  readonly term: number | undefined;
  /** What is wrong with the chain of the node that leads, as it says. */
  readonly warnings: readonly string[];
}

/** What a reader of a fleet has done so far. */
export interface ReaderFigures {
  /** Records that it has taken in. */
  readonly read: number;
  /** Records of the log behind the last one that it has read; undefined: it reads none. */
  readonly pending: number | undefined;
  readonly term: FleetFacts['term'];
  readonly beatAgeMs: FleetFacts['beatAgeMs'];
  /** How often a connection to NATS was made, or has come back. */
  readonly connections: number;
  /** Questions to nodes, by kind. */
  readonly asked: Readonly<Record<string, number>>;
  /** Blocks in memory; hits are those in memory or in files, misses those that nodes were asked for. */
  readonly blocks: { readonly hits: number; readonly misses: number; readonly bytes: number; readonly entries: number };
  /** Blocks in files; undefined: there are no files. */
  readonly files: { readonly bytes: number; readonly entries: number } | undefined;
}

/** What a node that feeds a fleet has done so far. */
export interface FeedFigures {
  /** Whether it writes the log now. */
  readonly leads: boolean;
  /** Undefined while it does not. */
  readonly term: number | undefined;
  /** Records that it has written. */
  readonly written: number;
  /** As of a reader. */
  readonly connections: number;
}

/** The reply to a call of the node's own JSON-RPC. */
export interface OwnReply {
  readonly result: unknown;
  readonly error: { readonly code: number; readonly message: string } | null;
}

/** The process that serves: its HTTP server, and who may use it. */
export interface HttpHost {
  /** Available before it listens. */
  readonly server: Server;
  /** Whether it asks its clients for the API key. */
  readonly needsApiKey: boolean;
  /** Seconds since it was opened. */
  readonly uptime: number;
  /** True if `key` is its API key; takes the same time for any key. */
  isApiKey(key: string): boolean;
}

/** Chain, pool and network: what a running node knows and does. */
export interface NodeSource {
  readonly network: NetworkInfo;
  /** True when the node deletes old blocks; this may be switched on while it runs. */
  readonly pruned: boolean;
  readonly pool: PoolSource;
  /**
   * Connect and disconnect block by block, reset, reorganize. `connect` comes before the
   * pool drops the block's transactions and `disconnect` after it took them back, so that a
   * transaction is always in the index, the pool, or both.
   */
  readonly chain$: Observable<ChainEvent>;
  /** How far this process has read what it serves. */
  readonly position: ReadingPosition;
  /** Undefined for a node in this process. */
  readonly fleet?: FleetFacts | undefined;
  /** Undefined for a node in this process. */
  readonly figures?: ReaderFigures | undefined;
  /**
   * Resolves when a block that was connected or disconnected, which the indexes have followed, may be shown: true. False: a reorganization
   * is under way, and its next event will come, or `settled` if it goes no further. undefined: it may be shown at once. To be called before
   * the event is acknowledged.
   */
  readonly mayShow?: (() => Promise<boolean>) | undefined;
  /** True once the node considers itself up to date with its peers. */
  readonly synced: boolean;
  /** The same: the current value to a new subscriber, then every change. */
  readonly synced$: Observable<boolean>;
  /** True when reading a part of a block costs as much as reading all of it. */
  readonly readsWholeBlocks: boolean;
  /** True during a reset of the chain: blocks above the coming tip may already be gone. */
  readonly resetting: boolean;
  tip(): BlockPoint;
  progress(): NodeProgress;
  /** Hash at a height of the active chain. */
  activeHash(height: number): Promise<Buffer | undefined>;
  /** Any block whose header the node has. */
  entry(hash: Buffer): Promise<BlockEntry | undefined>;
  /**
   * The serialized block, witness included, as Bitcoin Core would write it; undefined when unknown or pruned.
   * @throws UnreadableBlockError
   */
  rawBlock(hash: Buffer): Promise<Buffer | undefined>;
  /** The txids, concatenated, of a block that `rawBlock` or an event gave, if they were made for checking it. */
  txidsOf?(raw: Buffer): Buffer | undefined;
  /**
   * `length` bytes of the serialized block from `offset`; undefined when unknown or pruned. `blockLength`: length of the whole
   * block; by it the implementation sees, without reading the block, whether the node has stored it in another form.
   * @throws UnreadableBlockError
   */
  rawBlockPart(hash: Buffer, offset: number, length: number, blockLength: number): Promise<Buffer | undefined>;
  /**
   * What the node has stored for disconnecting a block (undo-record.ts); undefined when it does not have it, or the block spends nothing.
   * bcoin 2.x also has that of disconnected blocks.
   */
  undoRecord(hash: Buffer): Promise<Buffer | undefined>;
  /**
   * The coins that a block spends, in the order of its inputs, including coins that it made itself; undefined when there is no
   * undo record.
   */
  spentCoins(hash: Buffer): Promise<readonly SpentNodeCoin[] | undefined>;
  /** Only the coins of a span, which takes less time. @throws MalformedBytesError when the block spends fewer */
  spentSpan(hash: Buffer, span: SpentSpan): Promise<readonly SpentNodeCoin[] | undefined>;
  /**
   * The spent coins as bytes: the number of transactions (compact size), and for each one the number of its inputs (compact size) and, for
   * each input, value (64 bits) and script after its length. `counts`: the number of inputs of each transaction, 0 for the coinbase.
   */
  spentOutputs(hash: Buffer, counts: Uint32Array): Promise<Buffer | undefined>;
  /**
   * Calls `use` at a moment in which no block is being connected or disconnected, and the pool has handled all earlier ones. The chain
   * waits while it runs, so a listener to the chain must not wait for it.
   */
  withChainLock<T>(use: () => T): Promise<T>;
  /** The coins at the present tip, in a snapshot that must be closed. @throws ChainMovedError while the chain is being reset. */
  openCoinSet(): Promise<CoinSet>;
  /** Whether the node still has every block of the active chain. */
  hasAllBlocks(): Promise<boolean>;
  /** The lowest height whose block a node that prunes still has. */
  pruneHeight(): number;
  /**
   * Gives a serialized transaction to the pool and so to the network. If the pool already has it,
   * it is announced to peers that have not heard of it. Afterwards `pool` shows it, and `position` includes its entering.
   * `mostRate`: the most that the sender wants to pay, in satoshis per 1,000 virtual bytes; 0: no limit.
   * @throws TransactionRefusedError with the node's reason; RATE_TOO_HIGH if only the limit is in its way.
   */
  broadcast(transaction: Buffer, mostRate?: number): Promise<void>;
  /**
   * Whether the pool would accept these serialized transactions one after another, or together; none enters it.
   * @throws TransactionRefusedError for one that cannot be read
   */
  tryTransactions(transactions: readonly Buffer[]): Promise<Trials>;
  /**
   * Adds a serialized child with its parents, which may pay for each other; undefined: the pool takes only one transaction at a time.
   * `mostRate`: as for `broadcast`.
   * @throws TransactionRefusedError for one that cannot be read
   */
  submitPackage(transactions: readonly Buffer[], mostRate: number): Promise<SubmittedPackage | undefined>;
  networkStatus(): NetworkStatus;
  /** The tips of all branches, the highest first. */
  chainTips(): Promise<ChainTip[]>;
  /** For a confirmation within `blocks`, or within the next greater number for which the node has an estimate. */
  estimateFee(blocks: number): FeeEstimate | undefined;
  /** The greatest number of blocks for which the node has estimates. */
  readonly mostFeeBlocks: number;
  /** The calls of the node's own JSON-RPC; undefined: it is not known which there are. */
  readonly ownCalls: readonly string[] | undefined;
  /** Makes one of them. `params`: a list. The caller must have checked the client's right to it. */
  ownCall(method: string, params: unknown): Promise<OwnReply>;
  /** Closes the files that reading blocks has opened. A later read opens its file again. */
  close(): void;
  /** The state of the soft forks for the block after this one. @throws ChainMovedError when the node no longer knows this block. */
  deployments(hash: Buffer): Promise<Deployments>;
  /** The soft forks as the block itself sees them, on any branch; undefined when the block is not known. */
  deploymentInfo(hash: Buffer): Promise<DeploymentInfo | undefined>;
}
