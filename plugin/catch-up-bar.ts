// The bar of a node whose index catches up: in a terminal, unless bcoin writes its log there.
// The log has the same in words.

import { ProgressBar } from './progress-bar';
import type { Observable, Subscription } from 'rxjs';
import type { IndexState } from '../lib/index/types';
import type { HostNodeLogger } from '../lib/node/host';

/** bcoin's number of the level at which the index says how far it is. */
const INFO = 3;

/** Draws until it is unsubscribed. What is over before its pace is known needs no bar. */
export function showCatchUp(state$: Observable<IndexState>, stream: NodeJS.WriteStream, logger: Pick<HostNodeLogger, 'console' | 'level'>): Subscription | undefined {
  if (!stream.isTTY || logger.console && logger.level >= INFO) return undefined;
  const bar = new ProgressBar(stream);
  let isDrawn = false;
  const end = (): void => {
    bar.end();
    isDrawn = false;
  };
  const drawing = state$.subscribe((state) => {
    isDrawn ||= state.phase === 'indexing' && state.pace !== undefined || state.phase === 'copying' && state.coins > 0;
    if (!isDrawn) return;
    bar.note(state);
    if (state.phase !== 'indexing' && state.phase !== 'copying') end();
  });
  drawing.add(end);
  return drawing;
}
