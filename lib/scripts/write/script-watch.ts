// Finds the watched scripts that a block has touched. That costs a look-up for each row of the block, and nothing while no script is
// watched.

import { setImmediate } from 'node:timers/promises';
import { Subject, type Observable } from 'rxjs';
import { TXID_LENGTH } from '../../bitcoin/transaction';
import { SCRIPT_HASH_LENGTH, type ScriptHasher } from '../records/script-hasher';
import type { ScriptRows } from '../scan/rows';
import type { RowTransaction, ScriptsChange, WatchedScripts } from '../types';

/** Look-ups in one turn of the event loop: less than a millisecond. */
const AT_ONCE = 1_024;

export class ScriptWatch implements WatchedScripts {
  readonly changes$: Observable<ScriptsChange>;
  readonly #changes = new Subject<ScriptsChange>();
  /** With their hashes in the index, one character for each byte; undefined until the index is open. */
  readonly #scripts = new Map<string, string | undefined>();
  /** The scripts by these hashes. */
  #byHash = new Map<string, string>();
  /** undefined until the index is open. */
  #hasher: ScriptHasher | undefined;

  constructor() {
    this.changes$ = this.#changes.asObservable();
  }

  add(script: string): void {
    this.#put(script, this.#hasher);
  }

  delete(script: string): void {
    const hash = this.#scripts.get(script);
    this.#scripts.delete(script);
    if (hash !== undefined) this.#byHash.delete(hash);
  }

  /** To be called when the index was opened or rebuilt, so that any script may have changed. */
  async begin(hasher: ScriptHasher): Promise<void> {
    this.#hasher = hasher;
    this.#byHash = new Map();
    let count = 0;
    // The loop also reaches scripts that are added meanwhile: they come at the end of the map.
    for (const script of this.#scripts.keys()) {
      this.#put(script, hasher);
      if (++count % AT_ONCE === 0) await setImmediate();
    }
    this.#changes.next({ type: 'all' });
  }

  /** To be called when the block of the rows is in the store. */
  async connected({ point, hashes, indexes, txids }: ScriptRows): Promise<void> {
    if (this.#scripts.size === 0) return;
    const rows = new Map<string, RowTransaction[]>();
    await this.#find(hashes, (script, row) => {
      const index = indexes[row] as number; // one for each
      const txid = txids.subarray(index * TXID_LENGTH, (index + 1) * TXID_LENGTH);
      const known = rows.get(script);
      const found = { position: { height: point.height, index }, txid };
      if (known === undefined) rows.set(script, [found]);
      else known.push(found);
    });
    this.#changes.next({ type: 'connect', block: point, rows });
  }

  /** To be called when a block's rows were deleted from the store. `hashes`: for each row, the hash of its script. */
  async disconnected(hashes: Buffer): Promise<void> {
    if (this.#scripts.size === 0) return;
    const scripts = new Set<string>();
    await this.#find(hashes, (script) => scripts.add(script));
    this.#changes.next({ type: 'disconnect', scripts });
  }

  #put(script: string, hasher: ScriptHasher | undefined): void {
    const hash = hasher && hashText(script, hasher);
    this.#scripts.set(script, hash);
    if (hash !== undefined) this.#byHash.set(hash, script);
  }

  /** Calls `take` for each row of a watched script. */
  async #find(hashes: Buffer, take: (script: string, row: number) => void): Promise<void> {
    for (let row = 0; row * SCRIPT_HASH_LENGTH < hashes.length; row++) {
      const at = row * SCRIPT_HASH_LENGTH;
      const script = this.#byHash.get(hashes.toString('latin1', at, at + SCRIPT_HASH_LENGTH));
      if (script !== undefined) take(script, row);
      if (row % AT_ONCE === AT_ONCE - 1) await setImmediate();
    }
  }
}

function hashText(script: string, hasher: ScriptHasher): string {
  const hash = Buffer.allocUnsafe(SCRIPT_HASH_LENGTH);
  hasher.writeHash(script, hash, 0);
  return hash.toString('latin1');
}
