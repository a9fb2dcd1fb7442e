// Looks into an index that nobody works on. Writes nothing, and repairs nothing.

import { storedVersion } from '../../store/migrate';
import { BASE_KEY, decodeBase, type Base } from '../records/base';
import { BLOCK_RECORDS, damaged, decodeHeader, decodeTip, GENESIS_KEY, headerKey, recordOf, TIP_KEY, undoKey } from '../records/layout';
import type { BlockPoint, NodeSource } from '../../node/types';
import type { Store } from '../../store/store';

const HIGHEST = 0xffff_ffff;

/** All methods throw DamagedIndexError for a record that is missing or damaged, and StoreError. */
export class ClosedIndex {
  constructor(private readonly store: Store) {}

  /** undefined: the store is empty. @throws LayoutVersionError for data without a readable version. */
  layout(): Promise<number | undefined> {
    return storedVersion(this.store);
  }

  /** What network the index is of; undefined when it was never begun. */
  genesisHash(): Buffer | undefined {
    const value = this.store.get(GENESIS_KEY);
    return value && recordOf(GENESIS_KEY, value);
  }

  /** undefined: not even the genesis block is in it. */
  async tip(): Promise<BlockPoint | undefined> {
    const value = this.store.get(TIP_KEY);
    if (value !== undefined) return decodeTip(value);
    for await (const [key] of this.store.range({ ...BLOCK_RECORDS, limit: 1 }))
      throw damaged(TIP_KEY, `a tip beside the record under ${key.toString('hex')}`, 'none');
    return undefined;
  }

  /** What an index that began with the node's coins goes back to; undefined for one from blocks. */
  base(): Base | undefined {
    const value = this.store.get(BASE_KEY);
    return value && decodeBase(value);
  }

  /** Hash of the block at a height up to the tip. */
  hashAt(height: number): Buffer {
    const key = headerKey(height);
    const value = this.store.get(key);
    if (value === undefined) throw damaged(key, 'a header', 'none');
    return decodeHeader(key, value).hash;
  }

  /** Height of the last block that is also in the node's chain; -1: there is none. */
  async forkHeight(tip: BlockPoint, node: NodeSource): Promise<number> {
    const isCommon = async (height: number): Promise<boolean> => (await node.activeHash(height))?.equals(this.hashAt(height)) === true;
    let [common, apart] = [-1, Math.min(tip.height, node.tip().height) + 1];
    // Usually the chains have all in common.
    if (await isCommon(apart - 1)) return apart - 1;
    while (apart - common > 1) {
      const middle = Math.floor((common + apart) / 2);
      if (await isCommon(middle)) common = middle;
      else apart = middle;
    }
    return common;
  }

  /** How many blocks can be undone: the undo records from the tip down, without a gap. */
  undoableBlocks(tip: BlockPoint): number {
    const has = (blocks: number): boolean => blocks <= tip.height && this.store.get(undoKey(tip.height - blocks + 1)) !== undefined;
    // Undo records are large: steps that double, then halves, instead of reading all of them.
    let [enough, tooMany] = [0, 1];
    while (has(tooMany)) [enough, tooMany] = [tooMany, tooMany * 2];
    while (tooMany - enough > 1) {
      const middle = Math.floor((enough + tooMany) / 2);
      if (has(middle)) enough = middle;
      else tooMany = middle;
    }
    return enough;
  }

  /** Height of the lowest undo record, whether or not those above it are all there. */
  async lowestUndo(): Promise<number | undefined> {
    for await (const [key] of this.store.range({ gte: undoKey(0), lt: undoKey(HIGHEST), limit: 1 }))
      return key.readUInt32BE(1);
    return undefined;
  }
}
