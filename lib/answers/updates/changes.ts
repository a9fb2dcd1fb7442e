// What happens to scripts, in the chain and in the pool.

import type { ScriptPoolChange } from '../../pool/by-script/script-pool';
import type { ScriptsChange } from '../../scripts/types';

/** Of the chain: `connect`, `disconnect` or `all`; of the pool: `enter`, `leave` or `clear`. */
export type Change = ScriptsChange | ScriptPoolChange;

/** Whether a block was connected or disconnected, or the index was opened or rebuilt. */
export function isOfChain(change: Change): change is ScriptsChange {
  return change.type === 'connect' || change.type === 'disconnect' || change.type === 'all';
}

/** The entries of the scripts that a change touches. */
export function* touchedIn<T>(entries: ReadonlyMap<string, T>, change: Change): Generator<T, void> {
  if (change.type === 'all' || change.type === 'clear') {
    yield* entries.values();
    return;
  }
  for (const script of change.type === 'connect' ? change.rows.keys() : change.scripts) {
    const entry = entries.get(script);
    if (entry !== undefined) yield entry;
  }
}
