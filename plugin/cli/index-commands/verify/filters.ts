// Verifies the filters of an index: each is made again from the node's block and undo data. Filters may be missing where the index says
// so, and so may the filter headers from there up.

import { scanBlock, spendingInputs } from '../../../../lib/bitcoin/block';
import { filterHashOf, filterHeaderOf, filterOfBlock, NO_FILTER_HEADER } from '../../../../lib/bitcoin/block-filter';
import {
  decodeFilterEntry,
  filterEntryKey,
  filterKey,
  FILTER_RECORDS,
  findFilterSpan,
  putFilterEntry,
  staleFilterKey
} from '../../../../lib/index/records/filter';
import { putRecord, recordOf } from '../../../../lib/index/records/layout';
import type { BlockPoint } from '../../../../lib/node/types/chain';
import type { NodeSource } from '../../../../lib/node/types/source';
import type { StoreDifference } from '../../../../lib/store/compare';
import type { Store } from '../../../../lib/store/store';

export interface FilterParts {
  readonly node: NodeSource;
  readonly store: Store;
  /** Called before each block. May throw to end the comparison. */
  readonly onBlock: (height: number) => void;
}

/**
 * The first difference, from the genesis block up. If the node has not kept a block, only its filter header is compared.
 * @throws DamagedIndexError
 */
export async function differentFilter(tip: BlockPoint, { node, store, onBlock }: FilterParts): Promise<StoreDifference | undefined> {
  if (!(await hasFilters(store))) return undefined;
  const span = findFilterSpan(store);
  const isInSpan = (height: number): boolean => span !== undefined && height >= span.from && height <= span.height;
  let header: Buffer | undefined = NO_FILTER_HEADER;
  for (let height = 0; height <= tip.height; height++) {
    onBlock(height);
    const key = filterKey(height);
    const [found, entry] = [store.get(key), store.get(filterEntryKey(height))];
    const hash = await node.activeHash(height);
    if (hash === undefined) return undefined;
    // Entries of other blocks, left by a version without filters, are never used for answers.
    const isThere = entry !== undefined && decodeFilterEntry(filterEntryKey(height), entry).blockHash.equals(hash);
    const filter = isInSpan(height) || isThere ? ((await madeAgain(hash, node)) ?? (found && recordOf(key, found))) : undefined;
    if (filter === undefined) {
      header = undefined;
      continue;
    }
    const expected = putRecord(key, filter).value;
    if (found?.equals(expected) !== true) return { key, expected, found };
    const filterHash = filterHashOf(filter);
    header = header && filterHeaderOf(filterHash, header);
    const [whole, bare] = [header, undefined].map((each) => putFilterEntry(height, { blockHash: hash, filterHash, header: each }).value);
    const isBare = bare !== undefined && entry?.equals(bare) === true;
    if (!isBare && (whole === undefined || entry?.equals(whole) !== true))
      return { key: filterEntryKey(height), expected: whole, found: entry };
    // While filter headers are being filled in, all above a missing one are missing too.
    if (isBare) header = undefined;
  }
  for (const keyAt of [filterKey, filterEntryKey])
    for await (const [key, found] of store.range({ gte: keyAt(tip.height + 1), lt: keyAt(0xffff_ffff), limit: 1 }))
      return { key, expected: undefined, found };
  for await (const [key, value] of store.range({ gte: staleFilterKey(Buffer.alloc(0)), lt: filterKey(0) })) recordOf(key, value);
  return undefined;
}

async function hasFilters(store: Store): Promise<boolean> {
  let count = findFilterSpan(store) === undefined ? 0 : 1;
  for await (const record of store.range({ ...FILTER_RECORDS, limit: 1 })) count += record.length;
  return count > 0;
}

/** Undefined if the node has not kept the block or its undo data. */
async function madeAgain(hash: Buffer, node: NodeSource): Promise<Buffer | undefined> {
  const raw = await node.rawBlock(hash);
  if (raw === undefined) return undefined;
  const block = scanBlock(raw);
  const inputs = spendingInputs(block);
  const coins = inputs === 0 ? [] : await node.spentCoins(hash);
  if (coins?.length !== inputs) return undefined;
  const filter = filterOfBlock(block, coins);
  for (;;) {
    const { done, value } = filter.next();
    if (done === true) return value;
  }
}
