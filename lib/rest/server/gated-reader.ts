// The index as endpoints read it: only while the gate is open. Some wait, for the node's blocks
// or for their turn, and look again; the index may be built anew by then.

import type { IndexReader, IndexSnapshot } from '../../index/types';
import type { Gate } from './gate';

export class GatedReader implements IndexReader {
  readonly #reader: IndexReader;
  readonly #gate: Pick<Gate, 'requireOpen'>;

  constructor(reader: IndexReader, gate: Pick<Gate, 'requireOpen'>) {
    this.#reader = reader;
    this.#gate = gate;
  }

  /** @throws RestError 503 while the gate is closed. */
  read<T>(use: (snapshot: IndexSnapshot) => T): T {
    this.#gate.requireOpen();
    return this.#reader.read(use);
  }
}
