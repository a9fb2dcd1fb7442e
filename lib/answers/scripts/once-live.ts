// For requests that come before the index by script can answer, or while it moves.

import { setImmediate } from 'node:timers/promises';
import { filter, firstValueFrom, type Observable } from 'rxjs';
import { NoStateError } from '../../index/errors';
import type { ScriptsState } from '../../scripts/types';

/**
 * Calls `ask` once the index is at the node's tip, and again if the index could not be read. Gives undefined if the client has gone or the
 * index was closed.
 * @throws what `ask` throws, unless the index could not be read
 */
export async function onceLive<T>(
  { state$ }: { readonly state$: Observable<ScriptsState> },
  ask: () => T | Promise<T>,
  isGone: () => boolean
): Promise<T | undefined> {
  while (!isGone()) {
    const state = await firstValueFrom(state$.pipe(filter(({ phase }) => phase === 'live' || phase === 'closed')), {
      defaultValue: undefined
    });
    if (state?.phase !== 'live') return undefined;
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof NoStateError)) throw error;
      await setImmediate();
    }
  }
  return undefined;
}
