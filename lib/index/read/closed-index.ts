// Reads the index of a stopped node. Writes nothing, and repairs nothing.

import { storedVersion } from '../../store/migrate';
import { findBase, type Base } from '../records/base';
import { filterEntryOf, findFilterSpan } from '../records/filter';
import { findTip, headerAt } from '../records/chain';
import { GENESIS_KEY, recordOf } from '../records/layout';
import { undoKey } from '../records/undo-record';
import { undoableBlocks } from './undoable';
import type { BlockPoint } from '../../node/types/chain';
import type { NodeSource } from '../../node/types/source';
import type { Store } from '../../store/store';

const HIGHEST = 0xffff_ffff;

/** All blocks from the height `from` to the height `upTo` have filters. */
export interface FilterCoverage {
  readonly from: number;
  readonly upTo: number;
  /** Whether they have filter headers, too. */
  readonly headers: boolean;
}

/** All methods throw DamagedIndexError for a record that is missing or damaged, and StoreError. */
export class ClosedIndex {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** undefined: the store is empty. @throws LayoutVersionError for data without a readable version. */
  layout(): Promise<number | undefined> {
    return storedVersion(this.#store);
  }

  /** Genesis block of the index's network; undefined when the index was never started. */
  genesisHash(): Buffer | undefined {
    const value = this.#store.get(GENESIS_KEY);
    return value && recordOf(GENESIS_KEY, value);
  }

  /** The tip; undefined: the index does not even have the genesis block. */
  tip(): Promise<BlockPoint | undefined> {
    return findTip(this.#store);
  }

  /** undefined: the index was built from blocks. */
  base(): Base | undefined {
    return findBase(this.#store);
  }

  /** undefined: there never were filters. */
  filters(): FilterCoverage | undefined {
    const span = findFilterSpan(this.#store);
    if (span === undefined) return undefined;
    return { from: span.from, upTo: span.height, headers: filterEntryOf(this.#store, span)?.header !== undefined };
  }

  /** Height of the last block that is also in the node's chain; -1: there is none. */
  async forkHeight(tip: BlockPoint, node: NodeSource): Promise<number> {
    const isCommon = async (height: number): Promise<boolean> =>
      (await node.activeHash(height))?.equals(headerAt(this.#store, height).hash) === true;
    let [common, apart] = [-1, Math.min(tip.height, node.tip().height) + 1];
    // Usually the chains are the same.
    if (await isCommon(apart - 1)) return apart - 1;
    while (apart - common > 1) {
      const middle = Math.floor((common + apart) / 2);
      if (await isCommon(middle)) common = middle;
      else apart = middle;
    }
    return common;
  }

  /** How many blocks can be undone. */
  undoableBlocks(tip: BlockPoint): number {
    return undoableBlocks(this.#store, tip);
  }

  /** Height of the lowest undo record, even if some above it are missing. */
  async lowestUndo(): Promise<number | undefined> {
    for await (const [key] of this.#store.range({ gte: undoKey(0), lt: undoKey(HIGHEST), limit: 1 })) return key.readUInt32BE(1);
    return undefined;
  }
}
