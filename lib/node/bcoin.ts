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
  readonly pruned: boolean;
  readonly pool: PoolSource;
  readonly chain$: Observable<ChainEvent>;
  readonly synced$: Observable<boolean>;
  readonly httpServer: Server;
  private readonly hashes: HostHashes;
  private readonly deploymentReader: DeploymentReader;
  private readonly broadcaster: Broadcaster;

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
    this.pruned = chain.options.prune;
    this.pool = new BcoinPool(host.mempool, chain, this.hashes);
    this.chain$ = chainEvents(chain);
    this.synced$ = syncedChanges(chain);
    this.httpServer = host.http.http;
    outliveBrokenRequests(host.http);
    this.deploymentReader = new DeploymentReader(chain, network);
    this.broadcaster = new Broadcaster(host, this.hashes);
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
    const { chain } = this.host;
    return { synced: chain.synced, height: chain.tip.height, verified: chain.getProgress() };
  }

  async activeHash(height: number): Promise<Buffer | undefined> {
    const hash = await this.host.chain.getHash(height);
    return hash === null ? undefined : fromHost(hash);
  }

  async entry(hash: Buffer): Promise<BlockEntry | undefined> {
    const entry = await this.host.chain.getEntryByHash(this.hashes.toHost(hash));
    return entry === null ? undefined : this.describe(entry);
  }

  async rawBlock(hash: Buffer): Promise<Buffer | undefined> {
    return await this.host.chain.getRawBlock(this.hashes.toHost(hash)) ?? undefined;
  }

  async rawBlockPart(hash: Buffer, offset: number, length: number): Promise<Buffer | undefined> {
    const { blocks } = this.host;
    if (blocks === undefined) return (await this.rawBlock(hash))?.subarray(offset, offset + length);
    try {
      return await blocks.read(hash, offset, length) ?? undefined;
    } catch (error) {
      // The store in memory cuts a part out of a block before it looks whether there is one.
      if (!await blocks.has(hash)) return undefined;
      throw error;
    }
  }

  spentCoins(hash: Buffer): Promise<readonly SpentNodeCoin[] | undefined> {
    return readSpentCoins(hash, this.host);
  }

  openCoinSet(): Promise<CoinSet> {
    return openCoinSet(this.host.chain);
  }

  pruneHeight(): number {
    const { keepBlocks, pruneAfterHeight } = this.host.network.block;
    const lastPruned = this.host.chain.tip.height - keepBlocks;
    return lastPruned > pruneAfterHeight ? lastPruned + 1 : 0;
  }

  broadcast(transaction: Buffer): Promise<void> {
    return this.broadcaster.broadcast(transaction);
  }

  deployments(): Promise<Deployments> {
    return this.deploymentReader.read();
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
