// Which state of the index is read: the newest one, or an earlier one while the node's source holds moves of the chain back.

import { SnapshotReader, type IndexMemory } from './reader';
import type { NodeSource } from '../../node/types/source';
import type { Store } from '../../store/store';

export interface ShownStateParts {
  readonly store: Store;
  readonly memory: IndexMemory;
  /** undefined: each move is shown at once. */
  readonly mayShow: NodeSource['mayShow'];
  /** Called when a reader meets a damaged record, or a store that cannot be read. */
  readonly onDamage: (error: Error) => void;
  /** Called when `reader` has come to a newer state. */
  readonly onShown: () => void;
}

export class ShownState {
  /** Of the state that is shown. */
  readonly reader: SnapshotReader;
  /** Of the newest state. */
  readonly latest: SnapshotReader;
  readonly #parts: ShownStateParts;
  #isHeldBack = false;

  constructor(parts: ShownStateParts) {
    this.#parts = parts;
    const { store, memory, mayShow, onDamage } = parts;
    this.latest = new SnapshotReader(store, onDamage, memory);
    this.reader = mayShow === undefined ? this.latest : new SnapshotReader(store, onDamage, memory);
  }

  /** The index has moved. */
  noteMove(): void {
    this.latest.renew();
    if (!this.#isHeldBack) this.#show();
  }

  /** Has a move followed. It is shown, with those before it that are not, when it may be. Without a move: shows those before it when they may be. */
  async follow(move?: () => Promise<void>): Promise<void> {
    if (move === undefined && !this.#isHeldBack) return;
    // The state before, of which there may be no snapshot yet.
    if (!this.#isHeldBack) this.reader.read(() => undefined);
    this.#isHeldBack = true;
    let mayShow: boolean | undefined = true;
    try {
      await move?.();
      mayShow = await this.#parts.mayShow?.();
    } finally {
      if (mayShow !== false) this.end();
    }
  }

  /** Shows what is not shown yet. */
  end(): void {
    if (!this.#isHeldBack) return;
    this.#isHeldBack = false;
    this.#show();
  }

  /** Later reads see the store as it is now. */
  renew(): void {
    this.latest.renew();
    this.reader.renew();
  }

  /** From now on reads throw IndexUnavailableError. */
  close(): void {
    this.latest.close();
    this.reader.close();
  }

  #show(): void {
    this.reader.renew();
    this.#parts.onShown();
  }
}
