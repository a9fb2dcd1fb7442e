// The running bcoin node, 1.x or 2.x, as a NodeSource. All that differs between the two
// stays in this room.

import { createHash, timingSafeEqual } from 'node:crypto';
import type { Observable } from 'rxjs';
import { Broadcaster } from './broadcaster';
import { outliveBrokenRequests } from './broken-requests';
import { chainEvents, syncedChanges } from './chain-events';
import { openCoinSet, readSpentCoins } from './coin-set';
import { DeploymentReader } from './deployments';
import { fromHost, hostHashesLike, sameHostHash, type HostHashes } from './host-hash';
import { BcoinPool } from './pool';
import { UnsupportedNodeError } from './errors';
import { StoredBlocks } from './stored-block';
import { verificationProgress } from './verification-progress';
import type { Server } from 'node:http';
import type { HostEntry, HostNode } from './host';
import type {
  BlockEntry, BlockPoint, ChainEvent, CoinSet, Deployments, NetworkInfo, NodeProgress, NodeSource, PoolSource, SpentNodeCoin
} from './types';

const HEADER_BYTES = 80;

/** Bitcoin Core's names of the networks where they are not bcoin's. */
const CORE_CHAIN_NAMES: Readonly<Record<string, string | undefined>> = { testnet: 'test' };

export class BcoinNode implements NodeSource {
  readonly network: NetworkInfo;
  readonly pool: PoolSource;
  readonly chain$: Observable<ChainEvent>;
  readonly synced$: Observable<boolean>;
  readonly httpServer: Server;
  private readonly hashes: HostHashes;
  private readonly deploymentReader: DeploymentReader;
  private readonly broadcaster: Broadcaster;
  private readonly storedBlocks: StoredBlocks;

  /** @throws UnsupportedNodeError for an SPV node: it has no blocks to index. */
  constructor(private readonly host: HostNode) {
    if (host.spv) throw new UnsupportedNodeError('rest needs a full node: an SPV node (--spv) keeps no blocks to index');
    const { chain, network } = host;
    this.hashes = hostHashesLike(network.genesis.hash);
    this.network = {
      chain: CORE_CHAIN_NAMES[network.type] ?? network.type,
      genesisHash: fromHost(network.genesis.hash),
      addressPrefixes: network.addressPrefix,
      halvingInterval: network.halvingInterval
    };
    this.pool = new BcoinPool(host.mempool, chain, this.hashes);
    this.chain$ = chainEvents(chain);
    this.synced$ = syncedChanges(chain);
    this.httpServer = host.http.http;
    outliveBrokenRequests(host.http);
    this.deploymentReader = new DeploymentReader(chain, network);
    this.broadcaster = new Broadcaster(host, this.hashes);
    this.storedBlocks = new StoredBlocks(host, this.hashes);
  }

  get pruned(): boolean {
    return this.host.chain.options.prune;
  }

  /** 1.x keeps the block as one value of its database. */
  get readsWholeBlocks(): boolean {
    return this.host.blocks === undefined;
  }

  get resetting(): boolean {
    const { tip, db } = this.host.chain;
    return !sameHostHash(tip.hash, db.state.tip);
  }

  isApiKey(key: string): boolean {
    // Digests have one length, whatever was typed.
    return timingSafeEqual(sha256(key), sha256(this.host.http.options.apiKey));
  }

  tip(): BlockPoint {
    const { hash, height } = this.host.chain.tip;
    return { hash: fromHost(hash), height };
  }

  progress(): NodeProgress {
    const { chain, network } = this.host;
    const verified = verificationProgress(chain, network.type, Math.floor(Date.now() / 1000));
    return { synced: chain.synced, height: chain.tip.height, verified };
  }

  async activeHash(height: number): Promise<Buffer | undefined> {
    const hash = await this.host.chain.getHash(height);
    return hash === null ? undefined : fromHost(hash);
  }

  async entry(hash: Buffer): Promise<BlockEntry | undefined> {
    const entry = await this.host.chain.getEntryByHash(this.hashes.toHost(hash));
    return entry === null ? undefined : this.describe(entry);
  }

  rawBlock(hash: Buffer): Promise<Buffer | undefined> {
    return this.storedBlocks.block(hash);
  }

  rawBlockPart(hash: Buffer, offset: number, length: number, blockLength: number): Promise<Buffer | undefined> {
    return this.storedBlocks.part(hash, offset, length, blockLength);
  }

  spentCoins(hash: Buffer): Promise<readonly SpentNodeCoin[] | undefined> {
    return readSpentCoins(hash, this.host);
  }

  openCoinSet(): Promise<CoinSet> {
    return openCoinSet(this.host.chain);
  }

  async hasAllBlocks(): Promise<boolean> {
    // However it prunes, bcoin begins above the blocks that it never throws away.
    for (const first of [1, this.host.network.block.pruneAfterHeight + 1]) {
      const hash = await this.activeHash(Math.min(first, this.tip().height));
      if (hash === undefined || await this.rawBlock(hash) === undefined) return false;
    }
    return true;
  }

  pruneHeight(): number {
    const { keepBlocks, pruneAfterHeight } = this.host.network.block;
    const lastPruned = this.host.chain.tip.height - keepBlocks;
    return lastPruned > pruneAfterHeight ? lastPruned + 1 : 0;
  }

  broadcast(transaction: Buffer): Promise<void> {
    return this.broadcaster.broadcast(transaction);
  }

  deployments(hash: Buffer): Promise<Deployments> {
    return this.deploymentReader.read(this.hashes.toHost(hash));
  }

  private async describe(entry: HostEntry): Promise<BlockEntry> {
    return {
      hash: fromHost(entry.hash),
      height: entry.height,
      header: entry.toRaw().subarray(0, HEADER_BYTES),
      chainwork: BigInt(`0x${entry.chainwork.toString(16)}`),
      medianTime: await this.host.chain.getMedianTime(entry)
    };
  }
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
