// The interface of a node, as the service needs it. One implementation is for bcoin 1.x and 2.x (lib/node/bcoin.ts; nothing outside lib/node
// knows bcoin), another one for readers of a fleet (lib/fleet/reader/reader-node.ts). Hashes are 32-byte Buffers in wire order; amounts are
// satoshis; times are Unix seconds.

import type { Observable } from 'rxjs';
import type { BlockEntry, BlockPoint, ChainEvent, ChainTip, NetworkInfo, NodeProgress } from './chain';
import type { CoinSet, SpentNodeCoin, SpentSpan } from './coins';
import type { FleetFacts, ReaderFigures, ReadingPosition } from './fleet';
import type { PoolSource, SubmittedPackage, Trials } from './pool';
import type { DeploymentInfo, Deployments } from './soft-forks';

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

/** The reply to a call of the node's own JSON-RPC. */
export interface OwnReply {
  readonly result: unknown;
  readonly error: { readonly code: number; readonly message: string } | null;
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
