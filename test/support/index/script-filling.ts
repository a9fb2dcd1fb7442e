// The content of a store with a filled index by script, to compare it with one that was built block by block.

import { expect } from 'chai';
import { putRecord } from '../../../lib/index/records/layout';
import { LooseScripts } from '../../../lib/scripts/records/loose-scripts';
import { LAYOUT_VERSION } from '../../../lib/scripts/records/layout';
import { MOST_ROWS, RowCursor, rowKey } from '../../../lib/scripts/records/row';
import { ScriptWriter } from '../../../lib/scripts/write/script-writer';
import { MemoryStore } from '../../../lib/store/memory-store';
import { versionRecord, WHOLE_STORE } from '../../../lib/store/migrate';
import { PAGE_LENGTH } from '../../../lib/store/pages';
import { expectSame } from '../expectations/expect-same';
import type { ScriptBlock } from '../../../lib/scripts/scan/rows';
import type { Store } from '../../../lib/store/store';

/** Fails unless it equals an index built from these blocks, except for rows that share records, and undo records. */
export function expectFilled(store: Store, blocks: readonly ScriptBlock[]): Promise<void> {
  return expectSameRecords(store, blocks, () => imageOf(store, true));
}

/** The same for an index that may have been filled up to any block and has followed since. */
export function expectFilledAndFollowed(store: Store, blocks: readonly ScriptBlock[]): Promise<void> {
  return expectSameRecords(store, blocks, async () => {
    const image = await imageOf(store, false);
    for (const key of image.keys()) if (key.startsWith(UNDO_START)) image.delete(key);
    return image;
  });
}

async function expectSameRecords(store: Store, blocks: readonly ScriptBlock[], image: () => Promise<Map<string, string>>): Promise<void> {
  const first = blocks[0]?.point.hash ?? expect.fail('no blocks');
  const followed = new MemoryStore();
  await followed.open();
  await followed.batch(
    [
      versionRecord(LAYOUT_VERSION),
      putRecord(Buffer.from('G'), first),
      // With the same hashes.
      { type: 'put', key: Buffer.from('S'), value: store.get(Buffer.from('S')) ?? expect.fail('no secret') },
      ...LooseScripts.forChain(0).writes(0)
    ],
    { durable: false }
  );
  const writer = new ScriptWriter({ store: followed, genesisHash: first, undoDepth: 0 });
  await writer.load();
  await writer.connect(blocks);
  const [found, expected] = [await image(), await imageOf(followed, false)];
  // What has reached the disk differs.
  found.delete(SYNCED_KEY);
  expect(found.size).to.equal(expected.size);
  for (const [key, value] of expected) if (found.get(key) !== value) expect(found.get(key), `the record under ${key}`).to.equal(value);
  const pages = followed.pages.count();
  expectSame(pagesOf(store, pages), pagesOf(followed, pages));
  await followed.close();
}

/** The first pages, in hex. */
function pagesOf({ pages }: Store, count: number): string[] {
  const found: string[] = [];
  const numbers = Array.from({ length: count }, (_, page) => page);
  pages.visit(numbers, 0, count, Infinity, (at, bytes, start) => (found[at] = bytes.toString('hex', start, start + PAGE_LENGTH)));
  return found;
}

/** In hex. */
const SYNCED_KEY = Buffer.from('M').toString('hex');
const UNDO_START = Buffer.from('d').toString('hex');

/** Key to value, both in hex; each row separately. `isGrouped`: rows in as few records as possible. */
async function imageOf(store: Store, isGrouped: boolean): Promise<Map<string, string>> {
  const image = new Map<string, string>();
  /** For each script, its rows and their records. */
  const counts = new Map<string, { rows: number; records: number }>();
  for await (const [key, value] of store.range(WHOLE_STORE)) {
    const letter = key.toString('latin1', 0, 1);
    // Scripts with rows in records of their own: which ones depends on how many rows were filled.
    if (letter === 'L' || letter === 'l') continue;
    if (letter !== 's') {
      image.set(key.toString('hex'), value.toString('hex'));
      continue;
    }
    const hash = key.subarray(1, 11);
    const count = counts.get(hash.toString('hex')) ?? { rows: 0, records: 0 };
    counts.set(hash.toString('hex'), count);
    count.records++;
    const cursor = new RowCursor(key, value);
    for (; cursor.next(); count.rows++) image.set(rowKey(hash, cursor).toString('hex'), cursor.bytes.toString('hex'));
  }
  if (isGrouped) for (const { rows, records } of counts.values()) expectSame(records, Math.ceil(rows / MOST_ROWS));
  return image;
}
