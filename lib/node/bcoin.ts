// The running bcoin node, 1.x or 2.x, as a NodeSource. Nothing outside this folder knows how the two differ.

import { randomBytes } from 'node:crypto';
import { HEADER_LENGTH } from '../bitcoin/header';
import { StoredBlocks } from './blocks';
import { Broadcaster } from './broadcaster';
import { openCoinSet } from './coins';
import { DeploymentReader } from './deployments';
import { UnsupportedNodeError } from './errors';
import { chainEvents, syncedChanges } from './events';
import { fromHost, sameHostHash, toHostLike, type HostChain, type HostNode, type ToHostHash } from './host';
import { ModernEntrance } from './modern-pool/entrance';
import { answerRefusals } from './modern-pool/own-calls';
import { ModernPool } from './modern-pool/modern-pool';
import { OwnEntrance } from './own-entrance';
import { BcoinPool } from './pool';
import { SpentCoinSource } from './spent-coins';
import { StoredPool } from './stored-pool';
import { readChainTips } from './tips';
import { readUndo } from './undo-record';
import type { Observable } from 'rxjs';
import type { BlockEntry, BlockPoint, ChainEvent, ChainTip, NetworkInfo, NodeProgress } from './types/chain';
import type { CoinSet } from './types/coins';
import type { ReadingPosition } from './types/fleet';
import type { PoolSource, SubmittedPackage, Trials } from './types/pool';
import type { DeploymentInfo, Deployments } from './types/soft-forks';
import type { FeeEstimate, NetworkStatus, NodeSource, OwnReply } from './types/source';

/** Bitcoin Core's names of networks, where they differ from bcoin's. */
const CORE_CHAIN_NAMES: Readonly<Record<string, string | undefined>> = { testnet: 'test' };

const LOG_NAME_BYTES = 8;

interface TransactionRate {
  /** Unix seconds. */
  readonly time: number;
  /** Number of transactions in the chain at that time. */
  readonly count: number;
  readonly perSecond: number;
}

/** Bitcoin Core 0.17's figures (chainparams.cpp) by bcoin's names of the networks; other networks have none. */
const TRANSACTION_RATES: Readonly<Record<string, TransactionRate | undefined>> = {
  main: { time: 1_532_884_444, count: 331_282_217, perSecond: 2.4 },
  testnet: { time: 1_531_929_919, count: 19_438_708, perSecond: 0.626 }
};
const NO_RATE: TransactionRate = { time: 0, count: 0, perSecond: 0 };

export interface BcoinNodeOptions {
  /** Whether the node gets today's pool in the place of its own. It must not be open yet. */
  readonly modernPool?: boolean;
}

export class BcoinNode extends SpentCoinSource implements NodeSource {
  readonly network: NetworkInfo;
  readonly pool: PoolSource;
  readonly position: ReadingPosition;
  readonly chain$: Observable<ChainEvent>;
  readonly synced$: Observable<boolean>;
  readonly readsWholeBlocks: boolean;
  readonly #host: HostNode;
  readonly #toHost: ToHostHash;
  readonly #deployments: DeploymentReader;
  readonly #broadcaster: Broadcaster;
  readonly #blocks: StoredBlocks;

  /** @throws UnsupportedNodeError for an SPV node: it has no blocks to index. */
  constructor(host: HostNode, { modernPool = false }: BcoinNodeOptions = {}) {
    if (host.spv) throw new UnsupportedNodeError('rest needs a full node: an SPV node (--spv) keeps no blocks to index');
    super();
    const { chain, network } = host;
    this.#host = host;
    this.#toHost = toHostLike(network.genesis.hash);
    this.network = {
      chain: CORE_CHAIN_NAMES[network.type] ?? network.type,
      genesisHash: fromHost(network.genesis.hash),
      addressPrefixes: network.addressPrefix,
      halvingInterval: network.halvingInterval
    };
    StoredPool.takeOver(host);
    const modern = modernPool ? new ModernPool(host, this.#toHost) : undefined;
    this.pool = new BcoinPool(host.mempool, chain, host.pool, this.#toHost, modern);
    this.position = ownPosition(this.pool);
    this.chain$ = chainEvents(chain);
    this.synced$ = syncedChanges(chain);
    // 1.x stores each block as one value of its database.
    this.readsWholeBlocks = host.blocks === undefined;
    this.#deployments = new DeploymentReader(chain, network);
    const entrance = modern === undefined ? new OwnEntrance(host.mempool, this.#toHost) : new ModernEntrance(modern);
    this.#broadcaster = new Broadcaster(host, this.#toHost, entrance);
    if (modern !== undefined) answerRefusals(host.rpc, (raw) => this.broadcast(raw));
    this.#blocks = new StoredBlocks(host, this.#toHost);
  }

  get pruned(): boolean {
    return this.#host.chain.options.prune;
  }

  get synced(): boolean {
    return this.#host.chain.synced;
  }

  get resetting(): boolean {
    const { tip, db } = this.#host.chain;
    return tip.hash !== db.state.tip && !sameHostHash(tip.hash, db.state.tip);
  }

  get mostFeeBlocks(): number {
    return this.#host.fees?.feeStats.maxConfirms ?? 0;
  }

  tip(): BlockPoint {
    const { hash, height } = this.#host.chain.tip;
    return { hash: fromHost(hash), height };
  }

  progress(): NodeProgress {
    const { chain, network } = this.#host;
    const verified = verificationProgress(chain, network.type, Math.floor(Date.now() / 1000));
    return { height: chain.tip.height, verified };
  }

  async activeHash(height: number): Promise<Buffer | undefined> {
    const hash = await this.#host.chain.getHash(height);
    return hash === null ? undefined : fromHost(hash);
  }

  async entry(hash: Buffer): Promise<BlockEntry | undefined> {
    const { chain } = this.#host;
    const entry = await chain.getEntryByHash(this.#toHost(hash));
    return entry === null
      ? undefined
      : {
          hash: fromHost(entry.hash),
          height: entry.height,
          header: entry.toRaw().subarray(0, HEADER_LENGTH),
          chainwork: BigInt(`0x${entry.chainwork.toString(16)}`),
          medianTime: await chain.getMedianTime(entry)
        };
  }

  rawBlock(hash: Buffer): Promise<Buffer | undefined> {
    return this.#blocks.block(hash);
  }

  rawBlockPart(hash: Buffer, offset: number, length: number, blockLength: number): Promise<Buffer | undefined> {
    return this.#blocks.part(hash, offset, length, blockLength);
  }

  undoRecord(hash: Buffer): Promise<Buffer | undefined> {
    return readUndo(hash, this.#host);
  }

  async withChainLock<T>(use: () => T): Promise<T> {
    const unlock = await this.#host.chain.locker.lock();
    try {
      return use();
    } finally {
      unlock();
    }
  }

  openCoinSet(): Promise<CoinSet> {
    return openCoinSet(this.#host.chain);
  }

  async hasAllBlocks(): Promise<boolean> {
    // Pruning always begins at the same height, above the blocks that bcoin never deletes. It never reaches the latest blocks, which a
    // reset or a reorganization may remove while this looks for them.
    for (const first of [1, this.#host.network.block.pruneAfterHeight + 1]) {
      const hash = this.tip().height > first ? await this.activeHash(first) : undefined;
      const isThere = hash === undefined || (await this.rawBlock(hash)) !== undefined;
      if (!isThere && !this.resetting && this.tip().height > first) return false;
    }
    return true;
  }

  pruneHeight(): number {
    const { keepBlocks, pruneAfterHeight } = this.#host.network.block;
    const lastPruned = this.#host.chain.tip.height - keepBlocks;
    return lastPruned > pruneAfterHeight ? lastPruned + 1 : 0;
  }

  close(): void {
    this.#blocks.close();
  }

  broadcast(transaction: Buffer, mostRate = 0): Promise<void> {
    return this.#broadcaster.broadcast(transaction, mostRate);
  }

  tryTransactions(transactions: readonly Buffer[]): Promise<Trials> {
    return this.#broadcaster.try(transactions);
  }

  submitPackage(transactions: readonly Buffer[], mostRate: number): Promise<SubmittedPackage | undefined> {
    return this.#broadcaster.submit(transactions, mostRate);
  }

  networkStatus(): NetworkStatus {
    const { pool, network } = this.#host;
    const { options, peers, hosts, connected } = pool;
    return {
      agent: options.agent,
      protocolVersion: options.version,
      services: options.services,
      relays: !options.noRelay,
      timeOffset: network.time.offset,
      isActive: connected,
      inbound: peers.inbound,
      outbound: peers.outbound,
      proxy: options.proxy ?? undefined,
      onion: options.onion,
      localAddresses: Array.from(hosts.local.values(), ({ addr, score }) => ({ address: addr.host, port: addr.port, score }))
    };
  }

  chainTips(): Promise<ChainTip[]> {
    return readChainTips(this.#host.chain, this);
  }

  estimateFee(blocks: number): FeeEstimate | undefined {
    for (let within = blocks; within <= this.mostFeeBlocks; within++) {
      const rate = this.#host.fees?.estimateFee(within, false) ?? 0;
      if (rate > 0) return { rate, blocks: within };
    }
    return undefined;
  }

  get ownCalls(): readonly string[] {
    const { calls, mounts } = this.#host.rpc;
    return [calls, ...mounts.map((mount) => mount.calls)].flatMap(Object.keys);
  }

  async ownCall(method: string, params: unknown): Promise<OwnReply> {
    return this.#host.rpc.call({ method, params, id: null }, {});
  }

  deployments(hash: Buffer): Promise<Deployments> {
    return this.#deployments.read(this.#toHost(hash));
  }

  deploymentInfo(hash: Buffer): Promise<DeploymentInfo | undefined> {
    return this.#deployments.describe(this.#toHost(hash));
  }
}

/** A node reads no log: it has each change of its pool at once. The name is new whenever the process starts, as the numbers are. */
function ownPosition(pool: PoolSource): ReadingPosition {
  const log = randomBytes(LOG_NAME_BYTES).toString('hex');
  return {
    get now() {
      return { log, sequence: pool.revision };
    },
    moved$: pool.events$
  };
}

/**
 * The part of all transactions that the chain has, 0 to 1, as Bitcoin Core estimates it (GuessVerificationProgress): from the
 * known number of transactions at some time, and their rate per second since then. `now` in Unix seconds.
 */
export function verificationProgress({ db: { state }, tip }: Pick<HostChain, 'db' | 'tip'>, network: string, now: number): number {
  const { time, count, perSecond } = TRANSACTION_RATES[network] ?? NO_RATE;
  const all = state.tx <= count ? count + (now - time) * perSecond : state.tx + (now - tip.time) * perSecond;
  return Math.min(1, state.tx / all);
}
