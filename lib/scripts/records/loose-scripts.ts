// Which scripts may have loose rows: rows of blocks that came after the index was filled, which stand in records of their own. A script that
// has none has all its rows in its first record and those that this names (row.ts), and is read without an iterator.
//
// It is a Bloom filter in memory: what it does not know has no loose rows; what it knows almost always has some. A script is never removed.
// Two bits of each script are in one part, so that few bytes change.
//
//   'L'           number of blocks, from the genesis block up, whose scripts are in the stored parts 4, number of parts 4
//   'l' part 4    the bits of a part 4,096; none are set if there is no record
//
// Parts are stored now and then. When the index is opened, the scripts of later blocks are added from their undo records.

import { damaged, keyOfHeight, putRecord, recordOf } from '../../index/records/layout';
import { hashInRowKey } from './row';
import { SCRIPT_HASH_LENGTH } from './script-hasher';
import { decodeUndo, undoKey } from './undo-record';
import type { Store, StorePut } from '../../store/store';

const KEY = Buffer.from('L');
const RECORD_LENGTH = 8;
const partKey = keyOfHeight('l');

const PART_BYTES = 4_096;
const PART_BITS = PART_BYTES * 8;
/** A bit for each transaction that was filled, from 32 KiB to 64 MiB; a power of two. */
const FEWEST_PARTS = 8;
/** With the scripts of three months of the main network in it, one of ten others counts as loose. */
const MOST_PARTS = 1 << 14;

export class LooseScripts {
  readonly #bits: Uint8Array;
  /** For each part, whether it has bits that are not stored. */
  readonly #isNew: Uint8Array;
  #blocks: number;

  private constructor(parts: number, blocks: number) {
    this.#bits = new Uint8Array(parts * PART_BYTES);
    this.#isNew = new Uint8Array(parts);
    this.#blocks = blocks;
  }

  /** Without scripts, of a size that suits a chain with this many transactions. */
  static forChain(transactions: number): LooseScripts {
    let parts = FEWEST_PARTS;
    while (parts < MOST_PARTS && parts * PART_BITS < transactions) parts *= 2;
    return new LooseScripts(parts, 0);
  }

  /** Of an index with this many blocks, before old undo records are dropped. @throws DamagedIndexError, StoreError */
  static async load(store: Store, blocks: number): Promise<LooseScripts> {
    const loose = await LooseScripts.#stored(store);
    // The genesis block has no rows.
    for (let height = Math.max(1, loose.#blocks); height < blocks; height++) {
      const key = undoKey(height);
      const [value] = await store.load([key]);
      if (value === undefined) throw damaged(key, 'the undo record of a block whose scripts are not stored', 'none');
      for (const rowKey of decodeUndo(key, value, height).rowKeys) loose.add(hashInRowKey(rowKey));
    }
    return loose;
  }

  static async #stored(store: Store): Promise<LooseScripts> {
    const value = store.get(KEY);
    if (value === undefined) throw damaged(KEY, 'the size of a filter', 'none');
    const record = recordOf(KEY, value, RECORD_LENGTH);
    const parts = record.readUInt32BE(4);
    if (parts < 1 || parts > MOST_PARTS || (parts & (parts - 1)) !== 0) throw damaged(KEY, 'a power of two', `${parts}`);
    const loose = new LooseScripts(parts, record.readUInt32BE());
    const keys = Array.from({ length: parts }, (_, part) => partKey(part));
    for (const [part, bits] of (await store.load(keys)).entries())
      if (bits !== undefined) loose.#bits.set(recordOf(keys[part] as Buffer, bits, PART_BYTES), part * PART_BYTES); // one for each
    return loose;
  }

  /** Number of blocks, from the genesis block up, whose scripts are stored. */
  get storedBlocks(): number {
    return this.#blocks;
  }

  get byteLength(): number {
    return this.#bits.length;
  }

  /** Whether a script may have loose rows. `hash`: its hash in the index. */
  mayHave(hash: Buffer): boolean {
    const [part, bits] = [this.#partOf(hash, 0), hash.readUInt32LE(4)];
    return this.#has(part, bits) && this.#has(part, bits >>> 16);
  }

  /** To be called before rows are written. `hashes`: for each row the hash of its script. */
  add(hashes: Buffer): void {
    for (let at = 0; at < hashes.length; at += SCRIPT_HASH_LENGTH) {
      const [part, bits] = [this.#partOf(hashes, at), hashes.readUInt32LE(at + 4)];
      this.#set(part, bits);
      this.#set(part, bits >>> 16);
    }
  }

  /** Stores what is new. `blocks`: whose scripts have been added. A write is made when it is asked for. */
  *writes(blocks: number): Generator<StorePut, void> {
    yield this.#put(blocks);
    for (let part = 0; part < this.#isNew.length; part++)
      if (this.#isNew[part] === 1) yield putRecord(partKey(part), Buffer.from(this.#bits.buffer, part * PART_BYTES, PART_BYTES));
  }

  /** To be called when these writes are in the store. */
  stored(blocks: number): void {
    this.#isNew.fill(0);
    this.#blocks = blocks;
  }

  /** What to write when blocks are undone, down to this number: others will come in their place. */
  undone(blocks: number): StorePut[] {
    if (blocks >= this.#blocks) return [];
    this.#blocks = blocks;
    return [this.#put(blocks)];
  }

  #put(blocks: number): StorePut {
    const record = Buffer.allocUnsafe(RECORD_LENGTH);
    record.writeUInt32BE(this.#isNew.length, record.writeUInt32BE(blocks));
    return putRecord(KEY, record);
  }

  #partOf(hashes: Buffer, at: number): number {
    return hashes.readUInt32LE(at) & (this.#isNew.length - 1);
  }

  /** Of `bits` the lowest 15 count. */
  #has(part: number, bits: number): boolean {
    return ((this.#bits[part * PART_BYTES + ((bits & 0x7fff) >>> 3)] as number) & (1 << (bits & 7))) !== 0; // within the part
  }

  #set(part: number, bits: number): void {
    const at = part * PART_BYTES + ((bits & 0x7fff) >>> 3);
    const [before, bit] = [this.#bits[at] as number, 1 << (bits & 7)]; // within the part
    if ((before & bit) !== 0) return;
    this.#bits[at] = before | bit;
    this.#isNew[part] = 1;
  }
}
