// A real regtest node with real indexes, walked through everything that can happen to them. After every step the indexes are compared with
// the node's blocks.

import { expect } from 'chai';
import { previousHashOf } from '../../../lib/bitcoin/header';
import { BcoinNode } from '../../../lib/node/bcoin';
import { MemoryStore } from '../../../lib/store/memory-store';
import { bcoin, type TestFullNode } from '../bcoin/bcoin';
import { regtestGenesis } from '../chain/chain-a';
import { FAULT, type StoreCall } from './faulty-store';
import { newFolder } from '../process/folders';
import { knownHash } from '../chain/known-blocks';
import { blockHash } from '../chain/made-blocks';
import { MemoryLog } from '../process/memory-log';
import { BlockMaker, type BlockPlan } from '../chain/mined-blocks';
import { activeChain } from '../chain/regtest-chain';
import { openRegtestNode } from '../bcoin/regtest-node';
import { waitingStore } from './waiting-store';
import { WalkedMainIndex } from './walked-main-index';
import { WalkedScripts } from './walked-scripts';
import type { BootstrapFrom } from '../../../lib/index/types';
import type { Store } from '../../../lib/store/store';
import type { WalkedIndex } from './walked-index';

/** Events of the node's chain. */
export type NodeStep =
  | { readonly do: 'mine'; readonly plans: readonly BlockPlan[] }
  /** Mines on an earlier block: a reorganization if the new branch becomes longer than the old one. */
  | { readonly do: 'fork'; readonly back: number; readonly plans: readonly BlockPlan[] }
  | { readonly do: 'reset' | 'reset silently' | 'invalidate'; readonly back: number }
  /** Resets the chain and adds the same blocks again. */
  | { readonly do: 'replay'; readonly back: number }
  | { readonly do: 'connect or disconnect' };

export type WalkStep =
  | NodeStep
  /** Closes the index, runs steps, opens it again (with or without filters and the index by script), and runs steps at once. */
  | {
      readonly do: 'restart';
      readonly filters?: boolean;
      readonly scripts?: boolean;
      readonly closed: NodeStep | undefined;
      readonly opened: NodeStep | undefined;
    }
  /** The store of an index starts to fail; steps are run; the indexes are opened again on the healed store. */
  | (Fault & { readonly do: 'fault'; readonly of: 'main' | 'scripts'; readonly meanwhile: NodeStep });

/** From call number `n` of a kind on, a store fails, before or after it has done the call. */
export interface Fault {
  readonly call: StoreCall;
  readonly n: number;
  readonly afterwards: boolean;
}

export interface WalkOptions {
  /** Where node and indexes are, and outlive the process; undefined: the node is in memory. */
  readonly folder?: string | undefined;
  /** Whether the indexes of a node in memory are on disk; false unless given. */
  readonly disk?: boolean;
  readonly undoDepth: number;
  readonly bootstrap?: BootstrapFrom;
  /** Whether the index starts with filters; false unless given. */
  readonly filters?: boolean;
  /** Whether there is an index by script beside it; false unless given. */
  readonly scripts?: boolean;
  /** Whether the calls of a store in memory take turns of the event loop; false unless given. */
  readonly waits?: boolean;
  /** A different number for each process, below 1,000. */
  readonly turn?: number;
}

/** Enough for the first coinbases to be mature. */
const baseBlocks = (): number => bcoin.consensus.COINBASE_MATURITY + 4;

export class IndexWalk {
  readonly log = new MemoryLog();
  readonly node: BcoinNode;
  readonly main: WalkedMainIndex;
  /** undefined: there is no index by script. */
  readonly #scripts: WalkedScripts | undefined;
  readonly #maker: BlockMaker;
  /** All blocks that the node was given here, or had before. */
  readonly #blocks = new Map<string, Buffer>([[knownHash(regtestGenesis).toString('hex'), regtestGenesis]]);
  #connected = false;
  /** Whether the index by script is opened with the index. */
  #hasScripts: boolean;

  private constructor(
    readonly host: TestFullNode,
    folder: string | undefined,
    { undoDepth, bootstrap = 'blocks', filters = false, turn = 0, scripts = false, waits = false }: WalkOptions
  ) {
    this.#maker = new BlockMaker(turn * 1_000_000);
    this.node = new BcoinNode(host);
    const parts = {
      node: this.node,
      log: this.log,
      folder,
      undoDepth,
      inMemory: (): Store => (waits ? waitingStore(new MemoryStore()) : new MemoryStore()),
      chainTo: (tip: Buffer) => this.#chainTo(tip)
    };
    this.main = new WalkedMainIndex(parts, bootstrap, filters);
    this.#scripts = scripts ? new WalkedScripts(parts) : undefined;
    this.#hasScripts = scripts;
  }

  /** A new node is given a hundred blocks, one in a folder continues. The indexes are not open yet. */
  static async on(options: WalkOptions): Promise<IndexWalk> {
    const { folder = options.disk === true ? await newFolder() : undefined } = options;
    const walk = new IndexWalk(await openRegtestNode(options.folder === undefined ? {} : { prefix: options.folder }), folder, options);
    for (const raw of await activeChain(walk.node)) {
      walk.#maker.learn(raw);
      walk.#blocks.set(knownHash(raw).toString('hex'), raw);
    }
    if (walk.host.chain.height < baseBlocks()) await walk.mineBase();
    return walk;
  }

  /** The same with indexes that are open. */
  static async open(options: WalkOptions): Promise<IndexWalk> {
    const walk = await IndexWalk.on(options);
    await walk.openIndexes();
    return walk;
  }

  async close(): Promise<void> {
    for (const { store } of this.indexes) store.heal();
    await this.closeIndexes();
    await this.host.close();
  }

  get scripts(): WalkedScripts {
    return this.#scripts ?? expect.fail('a walk with an index by script');
  }

  /** Those that are opened, the main index first. */
  get indexes(): readonly WalkedIndex[] {
    return this.#scripts !== undefined && this.#hasScripts ? [this.main, this.#scripts] : [this.main];
  }

  async openIndexes(): Promise<void> {
    await this.main.open();
    if (this.#hasScripts) this.#scripts?.open(this.main.indexer);
  }

  async closeIndexes(): Promise<void> {
    await this.#scripts?.close();
    await this.main.close();
  }

  /** Closes the indexes and opens them again. */
  async reopen(): Promise<void> {
    await this.closeIndexes();
    await this.openIndexes();
  }

  /** Fails unless all indexes are live and right. */
  async expectRight(): Promise<void> {
    const chain = await this.activeChain();
    for (const index of this.indexes) await index.expectRight(chain);
  }

  /** Why an index was built again, by the log from a line on. */
  reasonsSince(line: number, { rebuildLine }: WalkedIndex): string[] {
    const lines = this.log.lines.slice(line).filter((text) => text.startsWith(rebuildLine));
    return lines.map((text) => text.slice(rebuildLine.length));
  }

  async step(step: WalkStep): Promise<void> {
    await this.stepUnchecked(step);
    await this.expectRight();
  }

  async stepUnchecked(step: WalkStep): Promise<void> {
    switch (step.do) {
      case 'restart':
        await this.closeIndexes();
        if (step.closed !== undefined) await this.nodeStep(step.closed);
        this.main.hasFilters = step.filters ?? this.main.hasFilters;
        this.#hasScripts = step.scripts ?? this.#hasScripts;
        await this.openIndexes();
        if (step.opened !== undefined) await this.nodeStep(step.opened);
        break;
      case 'fault':
        return this.faultStep((step.of === 'scripts' ? this.indexes[1] : undefined) ?? this.main, step, () =>
          this.nodeStep(step.meanwhile)
        );
      default:
        await this.nodeStep(step);
    }
  }

  /**
   * The store of an index fails. Its tests fail unless the chain continues, the index is right or says why it stopped, and is right on the
   * healed store. What happens to the index by script does not concern the main index.
   */
  async faultStep(index: WalkedIndex, { call, n, afterwards }: Fault, meanwhile: () => Promise<void>): Promise<void> {
    index.store.fail(call, n, afterwards);
    for (const again of [false, true]) {
      if (again) await this.reopen();
      await meanwhile();
      if (index !== this.main) await this.main.expectRight(await this.activeChain());
      const phase = await index.untilAtRest();
      for (const each of this.indexes) await each.expectHonest();
      if (phase === 'failed') expect(index.state).to.deep.equal({ phase, message: FAULT });
    }
    index.store.heal();
    await this.reopen();
    await this.expectRight();
  }

  async nodeStep(step: NodeStep): Promise<void> {
    const { chain } = this.host;
    switch (step.do) {
      case 'mine':
        return this.extend(chain.height, step.plans);
      case 'fork':
        return this.extend(Math.max(1, chain.height - step.back), step.plans);
      case 'reset':
        return chain.reset(Math.max(1, chain.height - step.back));
      case 'reset silently':
        // To the block below it; a chain that was invalidated may have one block.
        return chain.height < 2 ? undefined : chain.replay(Math.max(2, chain.height - step.back));
      case 'invalidate': {
        const entry = await chain.getEntryByHeight(Math.max(2, chain.height - step.back));
        return entry === null ? undefined : chain.invalidate(entry.hash);
      }
      case 'replay': {
        const [, ...behindGenesis] = await this.activeChain();
        const blocks = behindGenesis.slice(-step.back);
        await chain.reset(chain.height - blocks.length);
        return this.add(blocks);
      }
      case 'connect or disconnect':
        await (this.#connected ? this.host.disconnect() : this.host.connect());
        this.#connected = !this.#connected;
    }
  }

  /** The serialized blocks of the node's chain, from the genesis block up. */
  activeChain(): Promise<Buffer[]> {
    return activeChain(this.node, this.#blocks);
  }

  /** The blocks from the genesis block to one that the node was given. */
  #chainTo(tip: Buffer): Buffer[] {
    const later: Buffer[] = [];
    for (let hash = tip; !hash.equals(this.node.network.genesisHash); hash = previousHashOf(later[0] as Buffer))
      later.unshift(this.#blocks.get(hash.toString('hex')) ?? expect.fail(`a block of the node, got ${hash.toString('hex')}`));
    return [regtestGenesis, ...later];
  }

  private async mineBase(): Promise<void> {
    const { height } = this.host.chain;
    const plans = Array.from({ length: baseBlocks() - height }, (_, i) => ({
      repeat: height + i < 4 ? height + i : undefined,
      transactions: []
    }));
    await this.extend(height, plans);
  }

  private async extend(height: number, plans: readonly BlockPlan[]): Promise<void> {
    const parent = await this.node.activeHash(height);
    if (parent === undefined) throw new Error(`the node has no block at height ${height}`);
    const blocks: Buffer[] = [];
    for (const plan of plans) {
      const last = blocks.at(-1);
      blocks.push(this.#maker.make(last === undefined ? parent : blockHash(last), plan));
    }
    await this.add(blocks);
  }

  /** Skips blocks that the node already has; stops at a block that it has invalidated. */
  private async add(blocks: readonly Buffer[]): Promise<void> {
    for (const raw of blocks) {
      this.#blocks.set(blockHash(raw).toString('hex'), raw);
      if ((await this.node.entry(blockHash(raw))) !== undefined) continue;
      try {
        await this.host.chain.add(bcoin.Block.fromRaw(raw));
      } catch (error) {
        // The block was invalidated before: the same plan on the same block makes the same bytes.
        if ((error as { readonly reason?: string }).reason !== 'duplicate') throw error;
        return;
      }
    }
  }
}
