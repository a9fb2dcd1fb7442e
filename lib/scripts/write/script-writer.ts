// The only writer of the index by script once it is filled. Every change is one atomic batch that also moves the tip. Batches are not
// forced to the disk: if a power cut undoes some, blocks are connected again from the node, or undone again by their undo records.

import { hash256, toDisplayHex } from '../../bitcoin/hash';
import { HEADER_LENGTH, previousHashOf } from '../../bitcoin/header';
import { TXID_LENGTH } from '../../bitcoin/transaction';
import { DamagedIndexError, IndexError } from '../../follow/errors';
import { findTip, putTip, TIP_KEY } from '../../index/records/chain';
import { dropOldUndo, requireNext, requireUndo, requireUndoable } from '../../index/records/chain-steps';
import { damaged, GENESIS_KEY, putRecord, recordOf, WriteBuffer } from '../../index/records/layout';
import { newSecret } from '../../index/records/txid-hash';
import { StoreError } from '../../store/errors';
import { storedVersion, versionRecord } from '../../store/migrate';
import { runAhead } from '../../turns/slices';
import { LooseScripts } from '../records/loose-scripts';
import { LastChanges } from '../records/last-changes';
import { FILLING_KEY, LAYOUT_VERSION } from '../records/layout';
import { hashInRowKey, ROW_KEY_LENGTH, RowCursor, writeRowKey } from '../records/row';
import { SCRIPT_HASH_LENGTH, ScriptHasher } from '../records/script-hasher';
import { decodeUndo, encodeUndo, undoKey } from '../records/undo-record';
import { scriptRows, type ScriptBlock, type ScriptRows } from '../scan/rows';
import { lastPageAfter } from '../txids/txid-addition';
import { TxidTable } from '../txids/txid-table';
import type { BlockPoint } from '../../node/types/chain';
import type { Store, StoreWrite } from '../../store/store';
import type { ScriptWatch } from './script-watch';

export interface ScriptWriterOptions {
  readonly store: Store;
  readonly genesisHash: Buffer;
  /** How many blocks up to the tip can be undone. */
  readonly undoDepth: number;
  /** Notified of the rows of blocks that are connected or disconnected. */
  readonly watch?: ScriptWatch | undefined;
}

/** Records that are checked together, before they are deleted. */
const LOOKUPS = 500;

/** The filter of scripts with loose rows is stored after this many blocks, or fewer if fewer can be undone. */
const LOOSE_BLOCKS = 144;

export class ScriptWriter {
  /** For snapshots of the store. */
  readonly changes = new LastChanges();
  readonly #options: ScriptWriterOptions;
  #tip: BlockPoint | undefined;
  #hasher: ScriptHasher | undefined;
  #txids: TxidTable | undefined;
  #loose: LooseScripts | undefined;

  constructor(options: ScriptWriterOptions) {
    this.#options = options;
  }

  /** The block that the index is at; undefined while the index is empty, or being filled. */
  get tip(): BlockPoint | undefined {
    return this.#tip;
  }

  /** The hasher of the index. @throws DamagedIndexError when the store has no secret. */
  get hasher(): ScriptHasher {
    return (this.#hasher ??= ScriptHasher.of(this.#options.store));
  }

  /** The txids of the index; undefined until it is loaded, and while it is being filled. */
  get txids(): TxidTable | undefined {
    return this.#txids;
  }

  /** Which scripts may have loose rows; undefined as `txids`. */
  get loose(): LooseScripts | undefined {
    return this.#loose;
  }

  /**
   * Reads the state of the index from an open store; an empty store gets a layout, a network and a secret.
   * @throws DamagedIndexError, also for another layout or network: this index can always be filled again from the node's blocks.
   */
  async load(): Promise<void> {
    const { store, genesisHash } = this.#options;
    const version = await storedVersion(store).catch((error: unknown) => {
      throw error instanceof StoreError && error.reason === 'corrupt' ? new DamagedIndexError(error.message, { cause: error }) : error;
    });
    if (version === undefined)
      await store.batch(
        [versionRecord(LAYOUT_VERSION), putRecord(GENESIS_KEY, genesisHash), newSecret(), ...LooseScripts.forChain(0).writes(0)],
        { durable: true }
      );
    else if (version !== LAYOUT_VERSION)
      throw new DamagedIndexError(`the index by script has layout ${version}, expected ${LAYOUT_VERSION}`);
    const genesis = store.get(GENESIS_KEY);
    if (genesis === undefined) throw damaged(GENESIS_KEY, 'the hash of a genesis block', 'none');
    const storedHash = recordOf(GENESIS_KEY, genesis, 32);
    if (!storedHash.equals(genesisHash))
      throw new DamagedIndexError(
        `the index by script is of another network: expected the genesis block ${toDisplayHex(genesisHash)}, got ${toDisplayHex(storedHash)}`
      );
    this.#hasher = ScriptHasher.of(store);
    const isFilling = store.get(FILLING_KEY) !== undefined && store.get(TIP_KEY) === undefined;
    const tip = isFilling ? undefined : await findTip(store);
    this.#loose = isFilling ? undefined : await this.#loadLoose(tip);
    await dropOldUndo(store, tip, this.#options.undoDepth, [undoKey]);
    this.#txids = isFilling ? undefined : await TxidTable.load(store, tip === undefined ? 0 : tip.height + 1);
    await this.#txids?.cut();
    this.#tip = tip;
    this.changes.all();
    await this.#options.watch?.begin(this.#hasher);
  }

  /**
   * Connects consecutive blocks on top of the tip, all or none of them. The last of them can be undone.
   * @throws IndexError when they do not fit, as scriptRows; nothing is changed.
   */
  async connect(blocks: readonly ScriptBlock[]): Promise<void> {
    const last = blocks.at(-1)?.point;
    if (last === undefined) return;
    this.#checkExtend(blocks);
    const rows: ScriptRows[] = [];
    for (const block of blocks) rows.push(await runAhead(scriptRows(block, this.hasher)));
    const { store, watch } = this.#options;
    const table = this.#requireLoaded(this.#txids);
    const txids = table.add();
    for (const ofBlock of rows) txids.take(ofBlock.txids);
    await txids.write();
    const loose = this.#requireLoaded(this.#loose);
    for (const { hashes } of rows) {
      this.changes.begin(hashes);
      loose.add(hashes);
    }
    const count = last.height + 1;
    // Scripts of blocks without an undo record must be stored with them.
    const isLooseDue = count - loose.storedBlocks > Math.min(LOOSE_BLOCKS, this.#options.undoDepth);
    const atEnd = [...txids.writes(), ...table.noteSynced(), putTip(last)];
    const writes = concatenated(this.#writes(blocks, rows, last, table.lastPage), isLooseDue ? loose.writes(count) : [], atEnd);
    await store.batch(writes, { durable: false });
    if (isLooseDue) loose.stored(count);
    this.changes.end();
    txids.commit();
    this.#tip = last;
    for (const ofBlock of rows) await watch?.connected(ofBlock);
  }

  /**
   * Undoes the tip, without asking the node, and returns it.
   * @throws IndexError at the genesis block, TooDeepError when there is no undo record, DamagedIndexError when it is damaged or a
   * record of the block is missing.
   */
  async disconnect(): Promise<BlockPoint> {
    const { store, watch } = this.#options;
    const tip = requireUndoable(this.#tip);
    const key = undoKey(tip.height);
    const value = requireUndo((await store.load([key]))[0], tip);
    const { hash, previousHash, lastPage, rowKeys } = decodeUndo(key, value, tip.height);
    if (!hash.equals(tip.hash)) throw damaged(key, `undo of ${toDisplayHex(tip.hash)}`, toDisplayHex(hash));
    const found: Buffer[] = [];
    for await (const some of this.#singleRows(rowKeys)) found.push(...some);
    const hashes = Buffer.concat(found.map(hashInRowKey));
    const previous = { height: tip.height - 1, hash: Buffer.from(previousHash) };
    const txids = this.#requireLoaded(this.#txids).remove(Buffer.from(lastPage));
    this.changes.begin(hashes);
    const loose = this.#requireLoaded(this.#loose).undone(tip.height);
    await store.batch(concatenated(deletions([key, ...found]), [...txids.writes, ...loose, putTip(previous)]), { durable: txids.durable });
    this.changes.end();
    txids.commit();
    this.#tip = previous;
    await watch?.disconnected(hashes);
    return tip;
  }

  /** Forgets everything: the store is about to be cleared. */
  reset(): void {
    this.#hasher = undefined;
    this.#tip = undefined;
    this.#txids = undefined;
    this.#loose = undefined;
    this.changes.all();
  }

  /** @throws IndexError */
  #requireLoaded<T>(part: T | undefined): T {
    if (part === undefined) throw new IndexError('the index by script is not loaded');
    return part;
  }

  /** What old undo records say of it is stored before they are dropped. @throws DamagedIndexError */
  async #loadLoose(tip: BlockPoint | undefined): Promise<LooseScripts> {
    const { store, undoDepth } = this.#options;
    const blocks = tip === undefined ? 0 : tip.height + 1;
    const loose = await LooseScripts.load(store, blocks);
    if (loose.storedBlocks < blocks - undoDepth) {
      await store.batch(loose.writes(blocks), { durable: false });
      loose.stored(blocks);
    }
    return loose;
  }

  #checkExtend(blocks: readonly ScriptBlock[]): void {
    const { genesisHash } = this.#options;
    let before = this.#tip;
    for (const { point, raw } of blocks) {
      const header = raw.subarray(0, HEADER_LENGTH);
      const hash = hash256(header);
      if (!hash.equals(point.hash)) throw new IndexError(`expected block ${toDisplayHex(point.hash)}, got ${toDisplayHex(hash)}`);
      requireNext(before, { ...point, header }, genesisHash);
      before = point;
    }
  }

  /** The writes of the blocks' rows and undo records. Must be iterated over once; a write is valid until the next. */
  *#writes(blocks: readonly ScriptBlock[], rowsOfBlocks: readonly ScriptRows[], last: BlockPoint, lastPage: Buffer): Generator<StoreWrite> {
    const { undoDepth } = this.#options;
    const buffer = new WriteBuffer();
    let lastTxids = lastPage;
    for (const [i, rows] of rowsOfBlocks.entries()) {
      const { point, hashes, indexes, txids } = rows;
      const { height } = point;
      yield* rowWrites(rows, buffer);
      if (height > 0 && height > last.height - undoDepth) {
        const { raw } = blocks[i] as ScriptBlock; // one for each
        const undo = encodeUndo(point.hash, previousHashOf(raw), lastTxids, txids.length / TXID_LENGTH, indexes, hashes);
        yield putRecord(undoKey(height), undo);
      }
      if (height >= undoDepth) yield { type: 'del', key: undoKey(height - undoDepth) };
      lastTxids = lastPageAfter(lastTxids, txids);
    }
  }

  /**
   * The keys, some at a time, after checking that each of their records has one row. @throws DamagedIndexError if a record has
   * several, or is missing
   */
  async *#singleRows(rowKeys: Iterable<Buffer>): AsyncGenerator<readonly Buffer[], void> {
    let keys: Buffer[] = [];
    for (const rowKey of rowKeys) {
      keys.push(rowKey);
      if (keys.length < LOOKUPS) continue;
      yield await this.#onlySingle(keys);
      keys = [];
    }
    yield await this.#onlySingle(keys);
  }

  async #onlySingle(keys: readonly Buffer[]): Promise<readonly Buffer[]> {
    const values = await this.#loadAll(keys);
    for (const [i, value] of values.entries()) {
      const key = keys[i] as Buffer; // one for each
      const cursor = new RowCursor(key, value);
      // Rows of a block that can be undone were written to separate records.
      if (cursor.next() && cursor.next()) throw damaged(key, 'one row', 'several');
    }
    return keys;
  }

  /** @throws DamagedIndexError when a record is missing */
  async #loadAll(keys: readonly Buffer[]): Promise<Buffer[]> {
    const values = await this.#options.store.load(keys);
    return values.map((value, i) => {
      if (value === undefined) throw damaged(keys[i] as Buffer, 'a record of the block to undo', 'none'); // one for each
      return value;
    });
  }
}

/** The writes of a block's rows, each in a separate record. */
function* rowWrites({ point, count, hashes, indexes, ends, rows }: ScriptRows, buffer: WriteBuffer): Generator<StoreWrite> {
  for (let row = 0, start = 0; row < count; row++) {
    const end = ends[row] as number; // one for each
    const bytes = buffer.reserve(ROW_KEY_LENGTH + end - start);
    writeRowKey(bytes, hashes, row * SCRIPT_HASH_LENGTH, point.height, indexes[row] as number); // likewise
    rows.copy(bytes, ROW_KEY_LENGTH, start, end);
    yield buffer.put(ROW_KEY_LENGTH, end - start);
    start = end;
  }
}

function* deletions(keys: readonly Buffer[]): Generator<StoreWrite> {
  for (const key of keys) yield { type: 'del', key };
}

function* concatenated(...lists: readonly Iterable<StoreWrite>[]): Generator<StoreWrite> {
  for (const writes of lists) yield* writes;
}
