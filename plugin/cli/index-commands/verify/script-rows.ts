// `index verify --scripts`: the rows, txids and undo records of blocks are computed again from the node's blocks and undo data, and
// compared with the index by script.
//
// For all blocks every record is read once and the rows of each block are summed up; then the blocks are read and their rows are summed up
// in the same way. Nothing is looked up, and no disk space is needed. Equal sums of 64 bits of SHA-256 mean equal rows.
// For a part of the blocks each of their rows is looked up.

import { randomInt } from 'node:crypto';
import { toDisplayHex } from '../../../../lib/bitcoin/hash';
import { previousHashOf } from '../../../../lib/bitcoin/header';
import { TXID_LENGTH } from '../../../../lib/bitcoin/transaction';
import { DamagedIndexError } from '../../../../lib/follow/errors';
import { putRecord } from '../../../../lib/index/records/layout';
import { describeScriptRecord, kindOfRecord } from '../../../../lib/scripts/records/describe-record';
import { FIRST_KEY_LENGTH, firstKey, hasFurther, RowCursor, rowKey } from '../../../../lib/scripts/records/row';
import { LooseScripts } from '../../../../lib/scripts/records/loose-scripts';
import { SCRIPT_HASH_LENGTH, ScriptHasher } from '../../../../lib/scripts/records/script-hasher';
import { encodeUndo, undoKey } from '../../../../lib/scripts/records/undo-record';
import { scriptRows, type ScriptBlock, type ScriptRows } from '../../../../lib/scripts/scan/rows';
import { TxidTable } from '../../../../lib/scripts/txids/txid-table';
import { WHOLE_STORE } from '../../../../lib/store/migrate';
import { runAtOnce } from '../../../../lib/turns/slices';
import { scriptBlockAt } from '../fresh-script-index';
import { ImpossibleError } from '../errors';
import { blockText, BY_SCRIPT, verdict, type Difference, type Report } from '../report';
import { RowSums } from './row-sums';
import type { BlockPoint } from '../../../../lib/node/types/chain';
import type { Store } from '../../../../lib/store/store';
import type { CommandContext } from '../stopped-index';

/** Roughly the share of reading the records in the whole work, when all are read. */
const RECORDS_SHARE = 0.3;

/** Rows that are looked up at once. */
const LOOKUPS = 32;

/**
 * `percent`: of the blocks, chosen at random; with 100 also checks that there are no other records.
 * @throws ImpossibleError when the node lacks blocks or undo data
 */
export async function compareRows(context: CommandContext, store: Store, tip: BlockPoint, percent: number): Promise<Report> {
  if (!(await context.stopped.node.hasAllBlocks()))
    throw new ImpossibleError(
      'the node has not kept all its blocks, and an index by script can only be computed from all blocks and what they spend'
    );
  const txids = await TxidTable.load(store, tip.height + 1);
  await txids.check();
  const comparison = new Comparison(context, store, tip, txids);
  return await (percent === 100 ? comparison.ofAll() : comparison.ofSome(percent)).finally(() => {
    context.display.end();
  });
}

class Comparison {
  readonly #context: CommandContext;
  readonly #store: Store;
  readonly #tip: BlockPoint;
  readonly #hasher: ScriptHasher;
  readonly #txids: TxidTable;
  /** Blocks with undo records, among those that were looked at. */
  readonly #undoable = new Set<number>();
  #blocks = 0;
  #rows = 0;

  constructor(context: CommandContext, store: Store, tip: BlockPoint, txids: TxidTable) {
    this.#context = context;
    this.#store = store;
    this.#tip = tip;
    this.#hasher = ScriptHasher.of(store);
    this.#txids = txids;
  }

  async ofAll(): Promise<Report> {
    const { height: last } = this.#tip;
    const sums = new RowSums(last + 1);
    // Without its undo records the filter cannot be known; that they differ is found below.
    const loose = await LooseScripts.load(this.#store, last + 1).catch((error: unknown) => {
      if (error instanceof DamagedIndexError) return error;
      throw error;
    });
    let difference = await this.#differentRecord(sums, loose instanceof LooseScripts ? loose : undefined);
    for (let height = 0; height <= last && difference === undefined; height++) {
      this.#note(RECORDS_SHARE + ((1 - RECORDS_SHARE) * height) / (last + 1));
      difference = await this.#differentBlock(height, (rows) => this.#differentSum(rows, sums));
    }
    if (difference === undefined && loose instanceof DamagedIndexError) throw loose;
    const undoableBlocks = this.#undoableBlocks();
    return this.#verdict(
      difference,
      { undoableBlocks },
      `all its ${this.#rows} rows, and the txids of all blocks, up to ${blockText(this.#tip)}.\n` +
        `Its last ${undoableBlocks} blocks can be undone without the node.`
    );
  }

  async ofSome(percent: number): Promise<Report> {
    const heights = someHeights(this.#tip.height + 1, percent);
    let difference: Difference | undefined;
    for (const [i, height] of heights.entries()) {
      this.#note(i / heights.length);
      difference = await this.#differentBlock(height, (rows) => this.#differentRow(rows));
      if (difference !== undefined) break;
    }
    const total = this.#tip.height + 1;
    return this.#verdict(
      difference,
      { percent },
      `all ${this.#rows} rows, and the txids, of ${heights.length} of its ${total} blocks up to ${blockText(this.#tip)}, chosen at random.`
    );
  }

  /** `more`: for JSON if there is no difference. */
  #verdict(difference: Difference | undefined, more: object, right: string): Report {
    const counts = { blocks: this.#blocks, rows: this.#rows, ...(difference === undefined && more) };
    return verdict(BY_SCRIPT, { tip: this.#tip, difference, counts, right });
  }

  /** Reads all records and adds up their rows. */
  async #differentRecord(sums: RowSums, loose: LooseScripts | undefined): Promise<Difference | undefined> {
    const { height: last } = this.#tip;
    /** The last script that has further records of its own. */
    let long: Buffer | undefined;
    let before: { readonly hash: Buffer; readonly height: number; readonly index: number } | undefined;
    for await (const [key, found] of this.#store.range(WHOLE_STORE)) {
      const kind = kindOfRecord(key);
      if (kind === 'unknown' || (kind === 'undo' && key.readUInt32BE(1) > last)) return { key, expected: undefined, found };
      if (kind === 'undo') this.#undoable.add(key.readUInt32BE(1));
      if (kind !== 'rows') continue;
      this.#note((RECORDS_SHARE * key.readUInt16BE(1)) / 0x1_0000);
      const hash = key.subarray(1, 1 + SCRIPT_HASH_LENGTH);
      if (key.length === FIRST_KEY_LENGTH) long = hasFurther(found) ? hash : undefined;
      else if (loose !== undefined && long?.equals(hash) !== true && !loose.mayHave(hash))
        return `${describeScriptRecord(key)}: readers do not know that there is one`;
      const cursor = new RowCursor(key, found);
      let rows = 0;
      while (cursor.next()) {
        const { height, index, bytes } = cursor;
        if (height > last) return { key: rowKey(hash, cursor), expected: undefined, found: bytes };
        const isBehind = before?.hash.equals(hash) !== true || height > before.height || (height === before.height && index > before.index);
        if (!isBehind) return `${describeScriptRecord(rowKey(hash, cursor))} stands behind that of block ${before?.height ?? 0}`;
        before = { hash, height, index };
        if (++rows > 1 && this.#undoable.has(height)) return togetherText(key, height);
        sums.add(height, hash, index, bytes);
      }
    }
    return undefined;
  }

  /** The first difference in a block's txids, its undo record, or its rows, which `ofRows` compares. */
  async #differentBlock(height: number, ofRows: (rows: ScriptRows) => Promise<Difference | undefined>): Promise<Difference | undefined> {
    const block = await scriptBlockAt(this.#context.stopped.node, height);
    const rows = runAtOnce(scriptRows(block, this.#hasher));
    const difference = this.#differentTxids(rows) ?? (await this.#differentUndo(block, rows)) ?? (await ofRows(rows));
    if (difference !== undefined) return difference;
    this.#blocks++;
    this.#rows += rows.count;
    return undefined;
  }

  #differentTxids({ point: { height }, txids }: ScriptRows): Difference | undefined {
    const { view } = this.#txids;
    const [expected, found] = [txids.length / TXID_LENGTH, view.transactions(height)];
    if (expected !== found) return `transactions of the block at height ${height}: expected ${expected}, got ${found}`;
    const stored = view.ofBlock(height);
    if (stored.equals(txids))
      return this.#txids.hasTxids(height, txids) ? undefined : `the checksum of the txids of the block at height ${height} is wrong`;
    let index = 0;
    while (txidAt(txids, index).equals(txidAt(stored, index))) index++;
    const [wanted, came] = [txids, stored].map((all) => toDisplayHex(txidAt(all, index)));
    return `txid of transaction ${index} of the block at height ${height}: expected ${wanted ?? ''}, got ${came ?? ''}`;
  }

  async #differentUndo({ point, raw }: ScriptBlock, { indexes, hashes, txids }: ScriptRows): Promise<Difference | undefined> {
    const key = undoKey(point.height);
    const [found] = await this.#store.load([key]);
    // During catching up, blocks that will soon be too deep get no undo record.
    if (found === undefined && (!this.#isAtNodeTip || !(await this.#hasUndoBelow(point.height)))) return undefined;
    this.#undoable.add(point.height);
    const lastPage = this.#txids.lastPageBefore(point.height);
    const { value: expected } = putRecord(
      key,
      encodeUndo(point.hash, previousHashOf(raw), lastPage, txids.length / TXID_LENGTH, indexes, hashes)
    );
    return found?.equals(expected) === true ? undefined : { key, expected, found };
  }

  async #hasUndoBelow(height: number): Promise<boolean> {
    let count = 0;
    for await (const record of this.#store.range({ gte: undoKey(0), lt: undoKey(height), limit: 1 })) count += record.length;
    return count > 0;
  }

  get #isAtNodeTip(): boolean {
    return this.#context.stopped.node.tip().hash.equals(this.#tip.hash);
  }

  async #differentSum(rows: ScriptRows, stored: RowSums): Promise<Difference | undefined> {
    const { height } = rows.point;
    const computed = RowSums.of(rows);
    if (computed.equals(0, stored, height)) return undefined;
    return (await this.#differentRow(rows)) ?? `rows of the block at height ${height}: expected ${rows.count}, got ${stored.count(height)}`;
  }

  /** Looks up each row of a block. */
  async #differentRow(rows: ScriptRows): Promise<Difference | undefined> {
    for (let from = 0; from < rows.count; from += LOOKUPS) {
      this.#context.signal.throwIfAborted();
      const some = Array.from({ length: Math.min(LOOKUPS, rows.count - from) }, (_, i) => this.#lookUp(rows, from + i));
      const [difference] = (await Promise.all(some)).filter((found) => found !== undefined);
      if (difference !== undefined) return difference;
    }
    return undefined;
  }

  async #lookUp({ point: { height }, hashes, indexes, ends, rows }: ScriptRows, row: number): Promise<Difference | undefined> {
    const index = indexes[row] as number; // one for each row, as in `ends`
    const expected = rows.subarray(row === 0 ? 0 : ends[row - 1], ends[row]);
    const hash = hashes.subarray(row * SCRIPT_HASH_LENGTH, (row + 1) * SCRIPT_HASH_LENGTH);
    const key = rowKey(hash, { height, index });
    const upToKey = { gte: firstKey(hash), lt: Buffer.concat([key, Buffer.alloc(1)]), reverse: true, limit: 1 };
    for await (const [recordKey, value] of this.#store.range(upToKey)) {
      const cursor = new RowCursor(recordKey, value);
      for (let rowsBefore = 0; cursor.next(); rowsBefore++) {
        if (cursor.height !== height || cursor.index !== index) continue;
        if (!cursor.bytes.equals(expected)) return { key, expected, found: cursor.bytes };
        return this.#undoable.has(height) && (rowsBefore > 0 || cursor.next()) ? togetherText(recordKey, height) : undefined;
      }
    }
    return { key, expected, found: undefined };
  }

  /** How many blocks from the tip down have undo records, without a gap. */
  #undoableBlocks(): number {
    let blocks = 0;
    while (this.#undoable.has(this.#tip.height - blocks)) blocks++;
    return blocks;
  }

  /** `part`: how much of the work is done, 0 to 1. */
  #note(part: number): void {
    const { signal, display } = this.#context;
    signal.throwIfAborted();
    display.compared(this.#rows, part);
  }
}

function togetherText(key: Buffer, height: number): string {
  return `${describeScriptRecord(key)}: expected one row in the record, because block ${height} can be undone, got several`;
}

const txidAt = (txids: Buffer, index: number): Buffer => txids.subarray(index * TXID_LENGTH, (index + 1) * TXID_LENGTH);

/** `percent` of the heights below `count`, chosen at random, at least one, ascending. */
function someHeights(count: number, percent: number): number[] {
  const heights = new Set<number>();
  const wanted = Math.max(1, Math.round((count * percent) / 100));
  while (heights.size < wanted) heights.add(randomInt(count));
  return [...heights].sort((a, b) => a - b);
}
