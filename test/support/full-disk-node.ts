// A process whose files may not grow beyond a limit that its parent sets, as on a full disk: a
// node adds chain A up to a height, and its index follows, until the system refuses to write.
//
//   full-disk-node.ts <folder> <height> <height of the node when its index is opened>

import { filter, firstValueFrom } from 'rxjs';
import { ChainIndexer } from '../../lib/index/chain-index';
import { IndexUnavailableError } from '../../lib/index/errors';
import { BcoinNode } from '../../lib/node/bcoin';
import { DiskStore } from '../../lib/store/disk-store';
import { migrations } from '../../migrations';
import { bcoin } from './bcoin';
import { chainAActiveBlocks } from './chain-a';
import { MemoryLog } from './memory-log';
import { openRegtestNode } from './regtest-node';

export interface FullDiskMessage {
  readonly phase: string;
  /** Where the node's chain ends. */
  readonly chainHeight: number;
  /** The tip that readers get; undefined: none. */
  readonly indexHeight: number | undefined;
  readonly log: readonly string[];
}

async function main(): Promise<void> {
  const [folder, ...heights] = process.argv.slice(2);
  const [height, opened] = heights.map(Number);
  if (folder === undefined || height === undefined || opened === undefined) throw new Error('expected <folder> <height> <height>');
  const blocks = chainAActiveBlocks()
    .slice(1, height + 1)
    .map(({ raw }) => bcoin.Block.fromRaw(raw));
  const host = await openRegtestNode();
  for (const block of blocks.slice(0, opened)) await host.chain.add(block);
  const log = new MemoryLog();
  const index = new ChainIndexer({ store: new DiskStore(folder), node: new BcoinNode(host), logger: log, migrations });
  await index.open();
  await firstValueFrom(index.state$.pipe(filter(({ phase }) => phase === 'live' || phase === 'failed')));
  for (const block of blocks.slice(opened)) await host.chain.add(block);
  const message: FullDiskMessage = {
    phase: index.state.phase,
    chainHeight: host.chain.height,
    indexHeight: heightOf(index),
    log: log.lines
  };
  process.send?.(message);
  await index.close();
  await host.close();
  process.disconnect();
}

function heightOf(index: ChainIndexer): number | undefined {
  try {
    return index.reader.read(({ tip }) => tip.height);
  } catch (error) {
    if (error instanceof IndexUnavailableError) return undefined;
    throw error;
  }
}

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
