// What the transactions of a block did with scripts: a pure function from the bytes of the block to flat arrays, which can be made in
// another thread and handed over.

import { hash } from 'node:crypto';
import { toDisplayHex } from '../../bitcoin/hash';
import { HEADER_LENGTH } from '../../bitcoin/header';
import { ByteReader, MalformedBytesError } from '../../bitcoin/reader';
import { isUnspendable, OP_RETURN } from '../../bitcoin/script';
import { OUTPOINT_LENGTH, readTransaction, SEQUENCE_LENGTH, TXID_LENGTH, type ScannedTransaction } from '../../bitcoin/transaction';
import { IndexError } from '../../follow/errors';
import { MAX_TRANSACTIONS } from '../../index/records/position';
import { Slice } from '../../turns/slices';
import { HINT_LENGTH, MOST_LISTED, ROW_OVERHEAD, writeRow, type RowContent } from '../records/row';
import { SCRIPT_HASH_LENGTH, type ScriptHasher } from '../records/script-hasher';
import type { BlockPoint } from '../../node/types/chain';

/** A block on its way into the index. */
export interface ScriptBlock {
  readonly point: BlockPoint;
  /** Serialized, with witness. */
  readonly raw: Buffer;
  /** The outputs that it spends, in the form of `NodeSource.spentOutputs`; undefined: it spends nothing. */
  readonly spent: Buffer | undefined;
  /** Its txids, concatenated, if they are known; they become part of the rows. */
  readonly txids?: Buffer | undefined;
}

/** The rows of a block, in the order of its transactions: one for each script that a transaction pays to or spends from. */
export interface ScriptRows {
  readonly point: BlockPoint;
  readonly count: number;
  /** For each row, the hash of its script, 10 bytes. */
  readonly hashes: Buffer;
  /** For each row, the index of its transaction in the block. */
  readonly indexes: Uint16Array;
  /** Where each row ends in `rows`. */
  readonly ends: Uint32Array;
  /** The concatenated rows, as in a record (row.ts). */
  readonly rows: Buffer;
  /** Txids of all transactions, 32 bytes each. */
  readonly txids: Buffer;
}

/**
 * The rows of a block; `hasher`: the hasher of the index. Yields about once a millisecond. Outputs whose script begins with OP_RETURN
 * have no rows, and neither has the genesis block: nobody can spend these outputs.
 * @throws IndexError when the spent outputs are not those of the block's inputs, and for more transactions than a key can count;
 * MalformedBytesError for a block that cannot be read
 */
export function* scriptRows({ point, raw, spent, txids: known }: ScriptBlock, hasher: ScriptHasher): Generator<void, ScriptRows> {
  const block = new ByteReader(raw, HEADER_LENGTH);
  const count = block.compactSize();
  if (count > MAX_TRANSACTIONS) throw new IndexError(`expected at most ${MAX_TRANSACTIONS} transactions in a block, got ${count}`);
  const outputs = new SpentOutputs(point, spent, count);
  const rows = new RowList(hasher);
  const txids = known ?? Buffer.allocUnsafeSlow(count * TXID_LENGTH);
  const slice = new Slice();
  for (let index = 0; index < count; index++) {
    const transaction = readTransaction(block);
    if (known === undefined) transaction.txid.copy(txids, index * TXID_LENGTH);
    const inputs = transaction.isCoinbase ? 0 : transaction.inputCount;
    outputs.expect(inputs);
    if (point.height > 0) {
      const reader = new ByteReader(raw, transaction.inputsOffset);
      for (let left = inputs; left > 0; left--) {
        const outpoint = reader.skip(OUTPOINT_LENGTH);
        reader.skip(reader.compactSize() + SEQUENCE_LENGTH);
        outputs.next();
        rows.spend(outputs.bytes, outputs.start, outputs.end, outputs.value, raw, outpoint);
        if (slice.isOverAfterStep()) yield;
      }
      yield* fundRows(transaction, rows, slice);
      yield* rows.endTransaction(index, slice);
    }
    if (slice.isOverAfterStep()) yield;
  }
  block.requireEnd('block');
  outputs.requireEnd();
  return { point, ...rows.columns(), txids };
}

function* fundRows({ bytes, outputsOffset }: ScannedTransaction, rows: RowList, slice: Slice): Generator<void, void> {
  const reader = new ByteReader(bytes, outputsOffset);
  for (let index = 0, count = reader.compactSize(); index < count; index++) {
    const value = reader.u64();
    const length = reader.compactSize();
    const start = reader.skip(length);
    rows.fund(bytes, start, start + length, value, index);
    if (slice.isOverAfterStep()) yield;
  }
}

/** A cursor over the outputs that a block spends. Its methods throw IndexError if these do not fit the block's inputs. */
class SpentOutputs {
  bytes: Buffer;
  value = 0;
  /** Where the output's script is in `bytes`. */
  start = 0;
  end = 0;
  readonly #point: BlockPoint;
  /** undefined: the block spends nothing. */
  readonly #reader: ByteReader | undefined;

  constructor(point: BlockPoint, spent: Buffer | undefined, transactions: number) {
    this.#point = point;
    this.bytes = spent ?? Buffer.alloc(0);
    this.#reader = spent && new ByteReader(spent);
    this.#read((reader) => this.#require(transactions, reader.compactSize(), 'transactions'));
  }

  /** Moves to the next transaction, which has this number of inputs. */
  expect(inputs: number): void {
    if (this.#reader === undefined) this.#require(inputs, 0, 'outputs');
    this.#read((reader) => this.#require(inputs, reader.compactSize(), 'outputs of a transaction'));
  }

  /** Moves to the next output; to be called for each input that was expected. */
  next(): void {
    this.#read(this.#readOutput);
  }

  requireEnd(): void {
    this.#read((reader) => reader.requireEnd('outputs'));
  }

  readonly #readOutput = (reader: ByteReader): void => {
    this.value = reader.u64();
    const length = reader.compactSize();
    this.start = reader.skip(length);
    this.end = this.start + length;
  };

  #require(expected: number, came: number, what: string): void {
    if (expected !== came) throw this.#unfit(`expected ${expected} ${what}, got ${came}`);
  }

  #read(read: (reader: ByteReader) => void): void {
    if (this.#reader === undefined) return;
    try {
      read(this.#reader);
    } catch (error) {
      throw error instanceof MalformedBytesError ? this.#unfit(error.message, error) : error;
    }
  }

  #unfit(message: string, cause?: Error): IndexError {
    const { hash: blockHash, height } = this.#point;
    return new IndexError(`what block ${toDisplayHex(blockHash)} at height ${height} spends does not fit its inputs: ${message}`, {
      cause
    });
  }
}

/** A script that a transaction pays to or spends from. */
interface TouchedScript extends RowContent {
  /** Its SHA-256, a character for each byte. */
  readonly digest: string;
  fundedCount: number;
  fundedValue: number;
  readonly outputs: number[];
  spentCount: number;
  spentValue: number;
  /** Where the hint of the next input goes. */
  hintsAt: number;
}

/** Collects rows, one transaction after another: first its inputs, then its outputs, then `endTransaction`. */
class RowList {
  readonly #hasher: ScriptHasher;
  /** The scripts of the current transaction, by their digests. */
  readonly #touched = new Map<string, TouchedScript>();
  /** For each input of the current transaction, the script and the hint. */
  readonly #spends: TouchedScript[] = [];
  readonly #hints: number[] = [];
  #count = 0;
  #hashes: Buffer = Buffer.allocUnsafeSlow(1 << 14);
  #indexes = new Uint16Array(1 << 10);
  #ends = new Uint32Array(1 << 10);
  #rows: Buffer = Buffer.allocUnsafeSlow(1 << 14);
  #end = 0;

  constructor(hasher: ScriptHasher) {
    this.#hasher = hasher;
  }

  /** The script is in `bytes`, the outpoint in `raw`. */
  spend(bytes: Buffer, start: number, end: number, value: number, raw: Buffer, outpoint: number): void {
    const script = this.#touch(bytes, start, end);
    if (script === undefined) return;
    script.spentCount++;
    script.spentValue += value;
    this.#spends.push(script);
    this.#hints.push(this.#hasher.hintAt(raw, outpoint));
  }

  /** `index`: of the output. */
  fund(bytes: Buffer, start: number, end: number, value: number, index: number): void {
    const script = this.#touch(bytes, start, end);
    if (script === undefined) return;
    script.fundedCount++;
    script.fundedValue += value;
    if (script.fundedCount <= MOST_LISTED && !isUnspendable(bytes, start, end)) script.outputs.push(index, value);
  }

  /** Makes the rows of the transaction with this index. */
  *endTransaction(index: number, slice: Slice): Generator<void, void> {
    this.#reserve(this.#touched.size, this.#spends.length);
    for (const script of this.#touched.values()) {
      const row = this.#count++;
      this.#hasher.writeHash(script.digest, this.#hashes, row * SCRIPT_HASH_LENGTH);
      script.hintsAt = writeRow(this.#rows, this.#end, script);
      this.#end = script.hintsAt + script.spentCount * HINT_LENGTH;
      this.#indexes[row] = index;
      this.#ends[row] = this.#end;
      if (slice.isOverAfterStep()) yield;
    }
    for (let i = 0; i < this.#spends.length; i++) {
      const script = this.#spends[i] as TouchedScript; // below the length
      script.hintsAt = this.#rows.writeUInt16BE(this.#hints[i] as number, script.hintsAt); // one for each
    }
    this.#touched.clear();
    this.#spends.length = this.#hints.length = 0;
  }

  columns(): Omit<ScriptRows, 'point' | 'txids'> {
    const count = this.#count;
    return {
      count,
      hashes: this.#hashes.subarray(0, count * SCRIPT_HASH_LENGTH),
      indexes: this.#indexes.subarray(0, count),
      ends: this.#ends.subarray(0, count),
      rows: this.#rows.subarray(0, this.#end)
    };
  }

  /** undefined: the script has no rows. */
  #touch(bytes: Buffer, start: number, end: number): TouchedScript | undefined {
    if (end > start && bytes[start] === OP_RETURN) return undefined;
    const digest = hash('sha256', bytes.subarray(start, end), 'binary');
    const known = this.#touched.get(digest);
    if (known !== undefined) return known;
    const script = { digest, fundedCount: 0, fundedValue: 0, outputs: [], spentCount: 0, spentValue: 0, hintsAt: 0 };
    this.#touched.set(digest, script);
    return script;
  }

  /** Makes space for more rows and hints. */
  #reserve(rows: number, hints: number): void {
    const count = this.#count + rows;
    if (count > this.#ends.length) {
      const length = count * 2;
      this.#hashes = grown(this.#hashes, length * SCRIPT_HASH_LENGTH);
      const [indexes, ends] = [this.#indexes, this.#ends];
      this.#indexes = new Uint16Array(length);
      this.#indexes.set(indexes);
      this.#ends = new Uint32Array(length);
      this.#ends.set(ends);
    }
    const end = this.#end + rows * ROW_OVERHEAD + hints * HINT_LENGTH;
    if (end > this.#rows.length) this.#rows = grown(this.#rows, end * 2);
  }
}

function grown(bytes: Buffer, length: number): Buffer {
  const more = Buffer.allocUnsafeSlow(length);
  bytes.copy(more);
  return more;
}
