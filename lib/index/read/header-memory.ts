// Brings the table of headers to the state of the index that is being read. A few missing
// rows are read at once; more of them are fetched beside the service, and readers go to the
// store meanwhile.

import { setImmediate } from 'node:timers/promises';
import { HeaderTable } from './header-table';
import { HEADER_RECORD, headerKey, headerRecordOf } from '../records/layout';
import type { Store } from '../../store/store';
import type { BlockPoint } from '../../node/types';

/** Rows that a reader may wait for: about a millisecond. */
const AT_ONCE = 256;

/** Rows added before others get the event loop. */
const ROWS_PER_SLICE = 500;

const HIGHEST = 0xffff_ffff;

/** The record of the header at a height that the index has. */
export type ReadHeader = (height: number) => Buffer;

export class HeaderMemory {
  readonly #store: Store;
  readonly #table = new HeaderTable();
  #filling = false;
  #closed = false;

  constructor(store: Store) {
    this.#store = store;
  }

  /**
   * The table, if it is now that of the chain with this tip. Undefined: it is being filled.
   * Good for the tick in which it is asked for: the next one may belong to another chain.
   */
  tableAt(tip: BlockPoint, read: ReadHeader): HeaderTable | undefined {
    const table = this.#table;
    if (table.length === tip.height + 1 && table.lastHash?.equals(tip.hash) === true) return table;
    if (this.#filling || this.#closed) return undefined;
    this.#dropOthers(tip, read);
    if (tip.height - table.length >= AT_ONCE) {
      void this.#fill();
      return undefined;
    }
    while (table.length <= tip.height) if (!table.append(read(table.length))) return undefined;
    return table;
  }

  close(): void {
    this.#closed = true;
  }

  /** Drops the rows of blocks that are not of the chain with this tip. */
  #dropOthers(tip: BlockPoint, read: ReadHeader): void {
    const table = this.#table;
    table.truncate(tip.height + 1);
    while (table.lastHash !== undefined) {
      const length = table.length;
      if (hashIn(read(length - 1)).equals(table.lastHash)) return;
      table.truncate(length - 1);
    }
  }

  /** The chain may move meanwhile: the next reader will see what does not belong to it. */
  async #fill(): Promise<void> {
    this.#filling = true;
    const table = this.#table;
    try {
      const range = { gte: headerKey(table.length), lt: headerKey(HIGHEST) };
      for await (const [key, value] of this.#store.range(range)) {
        // A gap is no state of an index that is whole.
        if (this.#closed || key.readUInt32BE(1) !== table.length || !table.append(headerRecordOf(key, value))) return;
        if (table.length % ROWS_PER_SLICE === 0) await setImmediate();
      }
    } catch {
      // Damage, or a store that was closed: whoever reads from it is told, and tells.
    } finally {
      this.#filling = false;
    }
  }
}

function hashIn(record: Buffer): Buffer {
  return record.subarray(HEADER_RECORD.hash.start, HEADER_RECORD.hash.end);
}
