// Builds an index up to the tip of a stopped node, as the plugin does in a running one.

import { firstValueFrom, filter, fromEvent, map, merge, tap } from 'rxjs';
import { ChainIndexer } from '../../../lib/index/chain-index';
import { migrations } from '../../../migrations';
import { ImpossibleError } from './command';
import type { BootstrapFrom } from '../../../lib/index/types';
import type { NodeSource } from '../../../lib/node/types';
import type { Store } from '../../../lib/store/store';
import type { ProgressDisplay } from './progress-display';

export interface BuildOptions {
  /** Closed; also afterwards. */
  readonly store: Store;
  readonly node: NodeSource;
  readonly undoDepth: number;
  readonly cacheBytes: number;
  /** Blocks unless given. */
  readonly bootstrap?: BootstrapFrom;
  readonly signal: AbortSignal;
  readonly display: ProgressDisplay;
}

/** @throws ImpossibleError when the index cannot be built, and the reason of an abort; what is in it by then is a whole index of fewer blocks. */
export async function buildIndex({ store, node, undoDepth, cacheBytes, bootstrap = 'blocks', signal, display }: BuildOptions): Promise<void> {
  const index = new ChainIndexer({ store, node, migrations, undoDepth, cacheBytes, bootstrap, logger: display.logger });
  const states$ = index.state$.pipe(
    tap((state) => { display.note(state); }),
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
