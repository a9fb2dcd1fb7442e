// `index rebuild`: empties the index and builds it again at once.

import { existsSync } from 'node:fs';
import { filter, firstValueFrom, fromEvent, map, merge, tap } from 'rxjs';
import { ChainIndexer, whyNotRebuildable, type ChainIndexerOptions } from '../../../lib/index/chain-index';
import { duration } from '../../../lib/index/progress/text';
import { ClosedIndex } from '../../../lib/index/read/closed-index';
import { DiskStore } from '../../../lib/store/disk-store';
import { StoreError } from '../../../lib/store/errors';
import { migrations } from '../../../migrations';
import { EXIT, type CommandContext, type CommandResult } from './command';
import { ImpossibleError } from './errors';
import { blockJson, blockText, requireNetwork } from './open-index';
import type { Store } from '../../../lib/store/store';
import type { StoppedNode } from './stopped-node';

export async function rebuildIndex(context: CommandContext): Promise<CommandResult> {
  const { stopped } = context;
  const {
    node,
    indexFolder,
    options: { undoDepth, catchUpCacheBytes: cacheBytes, bootstrap, filters }
  } = stopped;
  const why = await whyNotRebuildable(node, bootstrap);
  if (why !== undefined)
    throw new ImpossibleError(`${why} (for this command: rest-bootstrap in bcoin.conf, or BCOIN_REST_BOOTSTRAP=coins)`);
  const store = new DiskStore(indexFolder);
  if (existsSync(indexFolder)) await emptyStore(store, stopped);
  const start = performance.now();
  await buildIndex({ store, node, undoDepth, cacheBytes, bootstrap, filters }, context);
  const seconds = Math.ceil((performance.now() - start) / 1_000);
  const tip = node.tip();
  return {
    exit: EXIT.done,
    json: { index: blockJson(tip), seconds },
    text: `The index was rebuilt up to ${blockText(tip)}, in ${duration(seconds)}.`
  };
}

/**
 * Empties the index, however damaged it is, unless it is of another network. The store is closed before and afterwards.
 * @throws ImpossibleError, StoreError
 */
export async function emptyStore(store: Store, stopped: StoppedNode): Promise<void> {
  try {
    await store.open();
    requireNetwork(new ClosedIndex(store), stopped);
  } catch (error) {
    const isInUse = error instanceof StoreError && (error.reason === 'locked' || error.reason === 'denied');
    if (isInUse || error instanceof ImpossibleError) {
      await store.close();
      throw error;
    }
  }
  await store.clear();
  await store.close();
}

/**
 * Builds an index up to the tip of a stopped node, as the plugin does in a running one. The store is closed before and afterwards.
 * @throws ImpossibleError when the index cannot be built, and the reason of an abort, after which the store has a complete index of
 * fewer blocks.
 */
export async function buildIndex(
  options: Omit<ChainIndexerOptions, 'logger' | 'migrations'>,
  { display, signal }: Pick<CommandContext, 'display' | 'signal'>
): Promise<void> {
  const index = new ChainIndexer({ ...options, migrations, logger: display.logger });
  const states$ = index.state$.pipe(
    tap((state) => {
      display.note(state);
    }),
    filter(({ phase }) => phase === 'live' || phase === 'failed')
  );
  const aborted$ = fromEvent(signal, 'abort').pipe(map(() => undefined));
  signal.throwIfAborted();
  await index.open();
  try {
    signal.throwIfAborted();
    const end = await firstValueFrom(merge(states$, aborted$));
    signal.throwIfAborted();
    if (end?.phase === 'failed') throw new ImpossibleError(`the index could not be built: ${end.message}`);
  } finally {
    await index.close();
    display.end();
  }
}
