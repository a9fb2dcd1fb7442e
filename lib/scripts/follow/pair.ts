// Both indexes at one block, as one snapshot for readers (the lockstep pair). The main index moves first; until the index by script is at
// the same block, readers get the previous pair, which is held for them.

import { SharedSnapshot, SnapshotHolder } from '../../follow/held-snapshot';
import { ScriptsUnavailableError } from '../errors';
import { StoredScriptSnapshot } from '../read/script-snapshot';
import type { HoldableReader } from '../../index/types';
import type { Store, StoreSnapshot } from '../../store/store';
import type { ScriptReader, ScriptSnapshot } from '../types';
import type { ScriptWriter } from '../write/script-writer';

export interface PairParts {
  /** The store of the index by script. */
  readonly store: Pick<Store, 'snapshot'>;
  /** Of the store. */
  readonly writer: Pick<ScriptWriter, 'changes' | 'txids' | 'loose'>;
  readonly index: HoldableReader;
  /** Called when a reader meets a damaged record of the index by script, or cannot read its store. */
  readonly onDamage: (error: Error) => void;
}

export class PairReader implements ScriptReader {
  readonly #parts: PairParts;
  readonly #pairs: SnapshotHolder<ScriptSnapshot>;
  #isOpen = false;

  constructor(parts: PairParts) {
    this.#parts = parts;
    this.#pairs = new SnapshotHolder({
      take: () => this.#take(),
      unavailable: (message, options) => new ScriptsUnavailableError(message, options),
      name: 'the index by script',
      onDamage: parts.onDamage
    });
  }

  read<T>(use: (snapshot: ScriptSnapshot) => T): T {
    if (!this.#isOpen) throw new ScriptsUnavailableError('the index by script is not at the block of the index');
    // The tip is another object: the index has moved, or its store was opened again.
    if (this.#pairs.current?.index.tip !== this.#parts.index.read(({ tip }) => tip)) this.#pairs.renew();
    return this.#pairs.read(use);
  }

  /**
   * To be called when both indexes are at the same block: readers are then answered from this block. @throws
   * ScriptsUnavailableError, IndexUnavailableError
   */
  renew(): void {
    this.#isOpen = true;
    this.#pairs.renew();
  }

  /** To be called when the main index shows another block: the next one may be written before anybody asks, and readers wait for it with this pair. */
  keepUp(): void {
    if (this.#isOpen) this.read(() => undefined);
  }

  /** Refuses readers until `renew` is called. */
  close(): void {
    this.#isOpen = false;
    this.#pairs.drop();
  }

  /** A pair of the current states; undefined: they are of different blocks. */
  #take(): SharedSnapshot<ScriptSnapshot> | undefined {
    const { index, store, writer } = this.#parts;
    const held = index.hold();
    let records: StoreSnapshot | undefined;
    const close = (): void => {
      records?.close();
      held.release();
    };
    try {
      const taken = (records = store.snapshot());
      const tip = StoredScriptSnapshot.tipOf(taken);
      // While a batch is being written, the store may be one block ahead of what the writer knows of it, or behind.
      const { changes, txids, loose } = writer;
      if (tip?.hash.equals(held.snapshot.tip.hash) === true && txids?.blocks === tip.height + 1 && loose !== undefined) {
        const written = { changes, txids: txids.view, loose };
        return new SharedSnapshot((during) => new StoredScriptSnapshot(taken, held.snapshot, written, during), close);
      }
    } catch (error) {
      close();
      throw error;
    }
    close();
    return undefined;
  }
}
