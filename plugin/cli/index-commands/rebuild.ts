// `index rebuild`: empties the index and builds it anew, here and now.

import { existsSync } from 'node:fs';
import { duration } from '../../../lib/index/progress/text';
import { whyNotRebuildable } from '../../../lib/index/follow/rebuilding';
import { ClosedIndex } from '../../../lib/index/read/closed-index';
import { StoreError } from '../../../lib/store/errors';
import { DiskStore } from '../../../lib/store/disk-store';
import { buildIndex } from './build';
import { EXIT, ImpossibleError, type CommandContext, type ExitCode } from './command';
import { blockJson, blockText, requireNetwork } from './open-index';
import { progressDisplay } from './progress-display';
import type { Store } from '../../../lib/store/store';
import type { StoppedNode } from './stopped-node';

export async function rebuildIndex({ stopped, signal, json, out }: CommandContext): Promise<ExitCode> {
  const { node, options: { undoDepth, catchUpCacheBytes: cacheBytes, bootstrap } } = stopped;
  const why = await whyNotRebuildable(node, bootstrap);
  if (why !== undefined)
    throw new ImpossibleError(`${why} (for this command: rest-bootstrap in bcoin.conf, or BCOIN_REST_BOOTSTRAP=coins)`);
  const store = new DiskStore(stopped.indexFolder);
  if (existsSync(stopped.indexFolder)) await empty(store, stopped);
  const start = performance.now();
  await buildIndex({ store, node, undoDepth, cacheBytes, bootstrap, signal, display: progressDisplay(process.stderr) });
  const seconds = Math.ceil((performance.now() - start) / 1_000);
  const tip = node.tip();
  out(json ? `${JSON.stringify({ index: blockJson(tip), seconds })}\n` : `The index was built anew up to ${blockText(tip)}, in ${duration(seconds)}.\n`);
  return EXIT.done;
}

/** Whatever is wrong with the index goes; another network's stays. */
async function empty(store: Store, { node, network }: StoppedNode): Promise<void> {
  try {
    await store.open();
    requireNetwork(new ClosedIndex(store), node, network);
  } catch (error) {
    const isOthers = error instanceof StoreError && (error.reason === 'locked' || error.reason === 'denied');
    if (isOthers || error instanceof ImpossibleError) {
      await store.close();
      throw error;
    }
  }
  await store.clear();
  await store.close();
}
