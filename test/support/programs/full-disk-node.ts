// A process whose files may not grow beyond a limit that its parent sets, as on a full disk: a node adds chain A up to a height, and its
// indexes follow, of which one is on disk, until the system refuses to write.
//
//   full-disk-node.ts <folder> <main|scripts> <height> <height of the node when its indexes are opened> <undo depth>

import { BcoinNode } from '../../../lib/node/bcoin';
import { MemoryStore } from '../../../lib/store/memory-store';
import { bcoin, type TestFullNode } from '../bcoin/bcoin';
import { chainAActiveBlocks } from '../chain/chain-a';
import { MemoryLog } from '../process/memory-log';
import { openRegtestNode, trustSpends } from '../bcoin/regtest-node';
import { WalkedMainIndex } from '../index/walked-main-index';
import { WalkedScripts } from '../index/walked-scripts';
import type { WalkedIndex } from '../index/walked-index';

/** The index that is on disk. */
export type IndexOnDisk = 'main' | 'scripts';

export interface FullDiskMessage {
  readonly phase: string;
  /** Where the node's chain ends. */
  readonly chainHeight: number;
  /** The phase of the main index. */
  readonly mainPhase: string;
  /** The tip of the main index that readers get; undefined: none. */
  readonly mainHeight: number | undefined;
  readonly log: readonly string[];
}

/** Enough for a single batch while an index catches up. */
const CACHE_BYTES = 1 << 24;

/** Indexes of a node, one of them on disk. */
export class DiskIndexes {
  readonly log = new MemoryLog();
  readonly main: WalkedMainIndex;
  readonly #scripts: WalkedScripts | undefined;

  constructor(host: TestFullNode, folder: string, onDisk: IndexOnDisk, undoDepth: number) {
    const common = { node: new BcoinNode(host), log: this.log, undoDepth, cacheBytes: CACHE_BYTES };
    const parts = { ...common, inMemory: () => new MemoryStore(), chainTo: () => chainAActiveBlocks().map(({ raw }) => raw) };
    this.main = new WalkedMainIndex({ ...parts, folder: onDisk === 'main' ? folder : undefined }, 'blocks', false);
    this.#scripts = onDisk === 'scripts' ? new WalkedScripts({ ...parts, folder }) : undefined;
  }

  /** The one that is on disk. */
  get onDisk(): WalkedIndex {
    return this.#scripts ?? this.main;
  }

  /** Waits until both stay in a phase. */
  async open(): Promise<void> {
    await this.main.open();
    this.#scripts?.open(this.main.indexer);
    await this.main.untilAtRest();
    await this.onDisk.untilAtRest();
  }

  async close(): Promise<void> {
    await this.#scripts?.close();
    await this.main.close();
  }
}

async function main(): Promise<void> {
  const [folder, onDisk, ...numbers] = process.argv.slice(2);
  const [height, opened, undoDepth] = numbers.map(Number);
  if (
    folder === undefined ||
    (onDisk !== 'main' && onDisk !== 'scripts') ||
    height === undefined ||
    opened === undefined ||
    undoDepth === undefined
  )
    throw new Error('expected <folder> <main|scripts> <height> <height> <undo depth>');
  const blocks = chainAActiveBlocks()
    .slice(1, height + 1)
    .map(({ raw }) => bcoin.Block.fromRaw(raw));
  const host = await openRegtestNode();
  trustSpends(host);
  for (const block of blocks.slice(0, opened)) await host.chain.add(block);
  const indexes = new DiskIndexes(host, folder, onDisk, undoDepth);
  await indexes.open();
  for (const block of blocks.slice(opened)) await host.chain.add(block);
  const message: FullDiskMessage = {
    phase: indexes.onDisk.state.phase,
    chainHeight: host.chain.height,
    mainPhase: indexes.main.state.phase,
    mainHeight: indexes.main.tip?.height,
    log: indexes.log.lines
  };
  process.send?.(message);
  await indexes.close();
  await host.close();
  process.disconnect();
}

if (require.main === module)
  main().catch((error: unknown) => {
    console.error(error);
    process.exit(1);
  });
