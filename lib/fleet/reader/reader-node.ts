// The nodes of a fleet as one NodeSource, for a process without a node: chain and pool as the log tells them, old blocks and all questions
// from whichever node answers.

import { filter, firstValueFrom, race, Subject, timer, type Observable } from 'rxjs';
import { scanWholeTransaction } from '../../bitcoin/transaction';
import { IndexUnavailableError } from '../../index/errors';
import { ChainMovedError, UnsupportedNodeError } from '../../node/errors';
import { SpentCoinSource } from '../../node/spent-coins';
import { ConnectionCount, connectToNats, type NatsBus } from '../log/connection';
import { FleetLog } from '../log/log-reader';
import { subjectsOf, type Subjects } from '../log/subjects';
import { Announcer } from '../readers/announcer';
import { HeardReaders } from '../readers/heard-readers';
import { Release } from '../readers/release';
import { Beats } from './beats';
import { BlockFiles } from './block-files';
import { BlockStore } from './block-store';
import { Keeping } from './keeping';
import { Lock } from '../../turns/lock';
import { LogFollower } from './log-follower';
import { Nodes } from './nodes';
import { PoolReplica } from './pool-replica';
import { PositionFile } from './position-file';
import { ReaderChain } from './reader-chain';
import type { NatsAccess } from '../log/access';
import type { IndexLogger } from '../../follow/logger';
import type { ChainIndex, IndexReader, IndexSnapshot } from '../../index/types';
import type { BlockEntry, BlockPoint, ChainEvent, ChainTip, NetworkInfo, NodeProgress } from '../../node/types/chain';
import type { CoinSet } from '../../node/types/coins';
import type { FleetFacts, LogPoint, ReaderFigures, ReadingPosition } from '../../node/types/fleet';
import type { PoolSource, SubmittedPackage, Trials } from '../../node/types/pool';
import type { DeploymentInfo, Deployments } from '../../node/types/soft-forks';
import type { FeeEstimate, NetworkStatus, NodeSource, OwnReply } from '../../node/types/source';
import type { LogPosition } from '../messages/records';
import type { ReaderState } from '../readers/announcement';
import type { ReaderNetwork } from './networks';

/** How long a broadcast waits for the log to say that the transaction is in the pool. */
const ENTERING_MS = 2_000;

/** Bitcoin Core's code for a call that does not exist. */
const METHOD_NOT_FOUND = -32_601;

/** The index of the reader's process. */
export type OwnIndex = Readonly<Record<keyof Pick<ChainIndex, 'reader' | 'latest'>, IndexReader>>;

export interface ReaderNodeOptions {
  readonly network: ReaderNetwork;
  readonly nats: NatsAccess;
  /** Time without a word from a node, after which nothing is answered. */
  readonly staleMs: number;
  /** How long blocks are held back at most until all readers have them (`--rest-release=together`); undefined: they are not. */
  readonly togetherMs?: number | undefined;
  /** The version of this package. */
  readonly version: string;
  /** Whether bcoin's own calls are passed on to a node. */
  readonly forwardsCalls: boolean;
  /** Where things are kept on disk; undefined: in memory alone. */
  readonly disk: { readonly blocks: string; readonly blockBytes: number; readonly position: string } | undefined;
  readonly logger: IndexLogger;
}

export class ReaderNode extends SpentCoinSource implements NodeSource {
  readonly network: NetworkInfo;
  readonly pool: PoolSource;
  readonly chain$: Observable<ChainEvent>;
  readonly synced$: Observable<boolean>;
  readonly position: ReadingPosition;
  readonly mayShow: (() => Promise<boolean>) | undefined;
  readonly readsWholeBlocks = false;
  readonly #options: ReaderNodeOptions;
  readonly #subjects: Subjects;
  readonly #nodes: Nodes;
  readonly #blocks: BlockStore;
  readonly #files: BlockFiles | undefined;
  readonly #position: PositionFile | undefined;
  readonly #chain: ReaderChain;
  readonly #replica: PoolReplica;
  readonly #beats: Beats;
  readonly #follower: LogFollower;
  /** Emits after each record of the log. */
  readonly #moved = new Subject<void>();
  readonly #readers: HeardReaders;
  readonly #announcer: Announcer;
  /** The record with a move of the chain that was followed, and is not shown yet. */
  #taken: LogPosition | undefined;
  #refusal: () => string | undefined = () => 'starting';
  readonly #lock = new Lock();
  #index: OwnIndex | undefined;
  #bus: NatsBus | undefined;
  readonly #connections = new ConnectionCount();
  #isFollowing = false;
  #closing: Promise<void> | undefined;

  constructor(options: ReaderNodeOptions) {
    super();
    const { network, staleMs, disk, logger } = options;
    this.#options = options;
    this.network = network;
    const subjects = (this.#subjects = subjectsOf(network.chain));
    const keeping = (what: string): Keeping => new Keeping(what, logger);
    const files = (this.#files =
      disk && disk.blockBytes > 0 ? new BlockFiles(disk.blocks, disk.blockBytes, keeping('A block')) : undefined);
    const file = (this.#position = disk && new PositionFile(disk.position, keeping('How far the log was read')));
    const nodes = (this.#nodes = new Nodes(subjects, () => this.#bus?.connection));
    const spentHash = (hash: Buffer): Buffer | undefined => readFrom(this.#index?.latest, (own) => own.spentHash(hash));
    const blocks = (this.#blocks = new BlockStore({ nodes, files, keepsAsked: () => this.#refusal() === undefined, spentHash, logger }));
    const lock = this.#lock;
    const pool = (this.#replica = new PoolReplica((use) => lock.run(use)));
    const beats = (this.#beats = new Beats(staleMs));
    const chain = (this.#chain = new ReaderChain({ network, nodes, readOwn: (use) => readFrom(this.#index?.reader, use) }, () => {
      this.#startFollowing();
    }));
    this.#follower = new LogFollower({
      openLog: () => this.#openLog(),
      nodes,
      chain,
      pool,
      blocks,
      beats,
      lock,
      logger,
      file,
      moved: () => {
        this.#moved.next();
      }
    });
    this.position = positionOf(this.#follower, this.#moved);
    const readers = (this.#readers = new HeardReaders(subjects));
    const announcer = (this.#announcer = new Announcer({ subjects, connection: () => this.#bus?.connection, state: () => this.#state() }));
    const { togetherMs: mostMs } = options;
    const release = mostMs === undefined ? undefined : new Release({ readers, announcer, mostMs });
    this.mayShow = release && (() => this.#untilTogether(release));
    this.pool = pool;
    this.chain$ = chain.events$;
    this.synced$ = beats.synced$;
  }

  /**
   * `index`: the process' own, whose headers are a beginning, and which knows what blocks spend. `refusal`: why it refuses its clients'
   * requests; undefined while it does not.
   * @throws errors of the system when the folder for blocks cannot be used
   */
  async open(index: OwnIndex, refusal: () => string | undefined): Promise<void> {
    this.#index = index;
    this.#refusal = refusal;
    this.#announcer.open();
    await this.#files?.open();
    this.#beats.open();
  }

  get fleet(): FleetFacts {
    const { age, isStale } = this.#beats;
    const { term, why } = this.#follower;
    const silence =
      age === undefined ? 'no node has been heard of yet' : `no node has been heard of for ${Math.floor(age / 1_000)} seconds`;
    const doubt = this.#chain.isKnown ? undefined : (why ?? 'looking for the chain of the fleet');
    return {
      why: isStale ? (why ?? silence) : doubt,
      beatAgeMs: age === undefined ? undefined : Math.round(age),
      term,
      warnings: this.#beats.last?.warnings ?? []
    };
  }

  get figures(): ReaderFigures {
    const { read, pending, term } = this.#follower;
    const { use, memory } = this.#blocks;
    return {
      ...{ read, pending, term, beatAgeMs: this.#beats.age, connections: this.#connections.made, asked: this.#nodes.asked },
      blocks: { ...use, ...memory },
      files: this.#files?.size
    };
  }

  get pruned(): boolean {
    return this.#beats.last?.pruned ?? false;
  }

  get synced(): boolean {
    return this.#beats.synced;
  }

  get resetting(): boolean {
    return !this.#chain.isKnown || this.#beats.isStale;
  }

  get mostFeeBlocks(): number {
    return this.#beats.last?.mostFeeBlocks ?? 0;
  }

  tip(): BlockPoint {
    const { hash, height } = this.#chain.tip;
    return { hash, height };
  }

  progress(): NodeProgress {
    const { height } = this.#chain.tip;
    const { tip, verified } = this.#beats.last ?? { tip: { height }, verified: 0 };
    return { height: Math.max(height, tip.height), verified };
  }

  activeHash(height: number): Promise<Buffer | undefined> {
    return this.#chain.activeHash(height);
  }

  async entry(hash: Buffer): Promise<BlockEntry | undefined> {
    return this.#chain.entry(hash) ?? (await this.#nodes.ask('entry', { hash }));
  }

  rawBlock(hash: Buffer): Promise<Buffer | undefined> {
    return this.#blocks.raw(hash);
  }

  rawBlockPart(hash: Buffer, offset: number, length: number, blockLength: number): Promise<Buffer | undefined> {
    return this.#blocks.part(hash, offset, length, blockLength);
  }

  txidsOf(raw: Buffer): Buffer | undefined {
    return this.#blocks.txidsOf(raw);
  }

  undoRecord(hash: Buffer): Promise<Buffer | undefined> {
    return this.#blocks.undo(hash);
  }

  async withChainLock<T>(use: () => T): Promise<T> {
    // What it has begun goes on after it: as in a node, the chain does not wait for that.
    const { begun } = await this.#lock.run(() => ({ begun: use() }));
    return begun;
  }

  openCoinSet(): Promise<CoinSet> {
    return Promise.reject(new UnsupportedNodeError('a reader of a fleet has no coins of a node'));
  }

  hasAllBlocks(): Promise<boolean> {
    return Promise.resolve(!this.pruned);
  }

  pruneHeight(): number {
    const { keepBlocks, pruneAfterHeight } = this.#options.network;
    const lastPruned = this.#chain.tip.height - keepBlocks;
    return lastPruned > pruneAfterHeight ? lastPruned + 1 : 0;
  }

  async broadcast(transaction: Buffer, mostRate = 0): Promise<void> {
    await this.#nodes.askLeader('broadcast', { raw: transaction, mostRate });
    await this.#untilPooled([transaction]);
  }

  async tryTransactions(transactions: readonly Buffer[]): Promise<Trials> {
    const trials = await this.#nodes.askLeader('try', { raws: transactions });
    // In a list, what is undefined comes as null.
    return { ...trials, results: trials.results.map((result) => result ?? undefined) };
  }

  async submitPackage(transactions: readonly Buffer[], mostRate: number): Promise<SubmittedPackage | undefined> {
    const { submitted } = await this.#nodes.askLeader('submit', { raws: transactions, mostRate });
    await this.#untilPooled(transactions.filter((_, i) => submitted?.members[i]?.type === 'entered'));
    return submitted;
  }

  networkStatus(): NetworkStatus {
    return this.#beats.network;
  }

  chainTips(): Promise<ChainTip[]> {
    return this.#nodes.askLeader('tips', {});
  }

  estimateFee(blocks: number): FeeEstimate | undefined {
    return this.#beats.estimateFee(blocks);
  }

  /** What it passes on, only the node knows. */
  get ownCalls(): readonly string[] | undefined {
    return this.#options.forwardsCalls ? undefined : [];
  }

  async ownCall(method: string, params: unknown): Promise<OwnReply> {
    if (this.#options.forwardsCalls) return await this.#nodes.askOnce('call', { method, params });
    return {
      result: null,
      error: { code: METHOD_NOT_FOUND, message: `Method not found: ${method}. This is a reader without --rest-rpc-forward.` }
    };
  }

  async deployments(hash: Buffer): Promise<Deployments> {
    const known = this.#chain.softForks(hash)?.deployments ?? (await this.#nodes.ask('deployments', { hash }));
    if (known === undefined) throw new ChainMovedError('no node knows the block');
    return known;
  }

  async deploymentInfo(hash: Buffer): Promise<DeploymentInfo | undefined> {
    return this.#chain.softForks(hash)?.deploymentInfo ?? (await this.#nodes.ask('deploymentInfo', { hash }));
  }

  close(): void {
    this.#closing ??= this.#close();
  }

  /** Resolves once everything is closed, after `close`. */
  async closed(): Promise<void> {
    await this.#closing;
  }

  async #close(): Promise<void> {
    this.#announcer.close();
    await this.#follower.close();
    this.#files?.close();
    this.#beats.close();
    await this.#position?.close();
    await this.#bus?.connection.close();
    this.#bus = undefined;
  }

  /** What this reader tells the others of itself. */
  #state(): ReaderState {
    const why = this.#refusal() ?? this.fleet.why;
    return {
      isReady: why === undefined,
      why: why ?? '',
      tip: readFrom(this.#index?.reader, ({ tip }) => tip),
      applied: this.#taken ?? this.#follower.position,
      version: this.#options.version
    };
  }

  /** Until all readers that were heard lately have followed this record as well, but not long. False: a reorganization is under way. */
  async #untilTogether(release: Release): Promise<boolean> {
    const { taking, isReorganizing } = this.#follower;
    if (isReorganizing) return false;
    if (taking === undefined) return true;
    this.#taken = taking;
    try {
      await release.of(taking);
    } finally {
      this.#taken = undefined;
    }
    return true;
  }

  #startFollowing(): void {
    if (this.#isFollowing) return;
    this.#isFollowing = true;
    this.#follower.open();
  }

  async #openLog(): Promise<FleetLog> {
    const before = this.#bus;
    this.#bus = await connectToNats(this.#options.nats, 'bcoin-rest reader', this.#connections);
    if (this.#options.togetherMs !== undefined) this.#readers.listen(this.#bus.connection);
    // Not waited for: a server that is stopped would not answer.
    void before?.connection.close();
    return await FleetLog.open(this.#bus, this.#subjects, this.network.genesisHash);
  }

  /** Until the log has told of transactions that a node has taken, or a little longer than that takes. */
  async #untilPooled(transactions: readonly Buffer[]): Promise<void> {
    const txids = transactions.map((raw) => scanWholeTransaction(raw).txid);
    const areThere = (): boolean => txids.every((txid) => this.#replica.has(txid));
    if (areThere()) return;
    // Afterwards `position` includes the records, too.
    await firstValueFrom(race(this.#moved.pipe(filter(areThere)), timer(ENTERING_MS)), { defaultValue: undefined });
  }
}

/** What the index has; undefined: there is none, or it cannot be read now. */
function readFrom<T>(reader: IndexReader | undefined, use: (own: IndexSnapshot) => T): T | undefined {
  try {
    return reader?.read(use);
  } catch (error) {
    if (error instanceof IndexUnavailableError) return undefined;
    throw error;
  }
}

/** A log that was not found yet has this name. */
const NO_LOG: LogPoint = { log: 'none', sequence: 0 };

function positionOf(follower: Pick<LogFollower, 'position'>, moved$: Observable<unknown>): ReadingPosition {
  return {
    get now() {
      const { position } = follower;
      return position === undefined ? NO_LOG : { log: position.incarnation, sequence: position.sequence };
    },
    moved$
  };
}
