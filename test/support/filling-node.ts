// A process to be killed: opens a node in a folder and fills an index by script from it. Says by messages how far it is.
//
//   filling-node.ts <folder of the node> <folder of the index> <target>

import { join } from 'node:path';
import { fillScripts } from '../../lib/scripts/fill/fill-scripts';
import { BcoinNode } from '../../lib/node/bcoin';
import { MemoryLog } from './memory-log';
import { openRegtestNode } from './regtest-node';

export type FillingNodeMessage =
  | { readonly type: 'partitioning' | 'sorting' }
  | { readonly type: 'filled' }
  | { readonly type: 'failed'; readonly name: string; readonly message: string };

const say = (message: FillingNodeMessage): void => {
  process.send?.(message);
};

async function main(): Promise<void> {
  const [prefix, folder, target] = process.argv.slice(2);
  if (prefix === undefined || folder === undefined || target === undefined) throw new Error('expected <folder> <folder> <target>');
  const host = await openRegtestNode({ prefix });
  try {
    await fillScripts({
      path: join(folder, 'scripts'),
      filesPath: join(folder, 'files'),
      node: new BcoinNode(host),
      target: Number(target),
      onState: ({ phase }) => say({ type: phase }),
      logger: new MemoryLog(),
      signal: new AbortController().signal,
      sizes: { files: 32, checkpointBlocks: 10, sortedBytes: 0 }
    });
    say({ type: 'filled' });
  } catch (error) {
    const { name, message } = error as Error;
    say({ type: 'failed', name, message });
  }
  await host.close();
  process.disconnect();
}

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
