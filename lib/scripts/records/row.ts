// What transactions did with scripts.
//
//   's' hash 10, position 6    rows of up to 64 transactions, in the order of the chain. The first is of the transaction at the position;
//                              each further one follows a prefix: how many blocks it is after the previous one, and the index in its block
//
// A row has, as integers of variable length (lib/index/records/numbers.ts) unless a length is given:
//
//   number of outputs that pay to the script + 8 * number of inputs that spend from it 1; 7 stands for 7 or more
//   the number of outputs, if it is 7 or more; the number of inputs, likewise
//   sum of the outputs, unless there are none (lib/index/records/numbers.ts)
//   sum of the inputs, unless there are none
//   for each input, the hint of the outpoint that it spends 2 (script-hasher.ts)
//
// Blocks that can be undone have a record for each row. Below them rows share records, since LevelDB adds 11 bytes to each record.

import { damaged, recordOf } from '../../index/records/layout';
import { LONGEST_AMOUNT, LONGEST_INTEGER, numberEnd, RecordReader, writeAmount, writeInteger } from '../../index/records/numbers';
import { POSITION_LENGTH, writePosition } from '../../index/records/position';
import { SCRIPT_HASH_LENGTH } from './script-hasher';
import type { Position } from '../../index/types';
import type { StoreRange } from '../../store/store';

const LETTER = 's'.charCodeAt(0);
const POSITION_AT = 1 + SCRIPT_HASH_LENGTH;
export const ROW_KEY_LENGTH = POSITION_AT + POSITION_LENGTH;

/** The most rows that share a record. */
export const MOST_ROWS = 64;

/** In the first byte of a row: the actual number follows as an integer. */
const MANY = 7;

export const HINT_LENGTH = 2;

/** The most bytes of a row without its hints. */
export const ROW_OVERHEAD = 1 + 2 * LONGEST_INTEGER + 2 * LONGEST_AMOUNT;
/** The most bytes of the prefix of a further row. */
export const FURTHER_ROW_OVERHEAD = 2 * LONGEST_INTEGER;

/** Writes the key of a record of rows and returns where it ends. `hash` has the script's hash at `hashAt`. */
export function writeRowKey(bytes: Buffer, at: number, hash: Uint8Array, hashAt: number, height: number, index: number): number {
  bytes[at] = LETTER;
  for (let i = 0; i < SCRIPT_HASH_LENGTH; i++) bytes[at + 1 + i] = hash[hashAt + i] as number; // a hash has 10 bytes
  return writePosition(bytes, at + POSITION_AT, height, index);
}

/** The key of a record whose first row is of the transaction at a position. */
export function rowKey(hash: Uint8Array, { height, index }: Position): Buffer {
  const key = Buffer.allocUnsafe(ROW_KEY_LENGTH);
  writeRowKey(key, 0, hash, 0, height, index);
  return key;
}

/** The hash of the script in a key. */
export function hashInRowKey(key: Buffer): Buffer {
  return key.subarray(1, POSITION_AT);
}

/** The position in a key. @throws DamagedIndexError */
export function positionInKey(key: Buffer): Position {
  if (key.length !== ROW_KEY_LENGTH) throw damaged(key, `a key of ${ROW_KEY_LENGTH} bytes`, `${key.length}`);
  return { height: key.readUInt32BE(POSITION_AT), index: key.readUInt16BE(POSITION_AT + 4) };
}

const START: Position = { height: 0, index: 0 };

/** Records of a script that begin at a position or above it. */
export function rowsFrom(hash: Uint8Array, position = START): StoreRange {
  return { gte: rowKey(hash, position), lt: rowKey(hash, { height: 0xffff_ffff, index: 0xffff }) };
}

/** Records of a script that begin below a position. */
export function rowsBelow(hash: Uint8Array, position: Position): StoreRange {
  return { gte: rowKey(hash, START), lt: rowKey(hash, position) };
}

/** Writes a row without its hints, and returns where these begin: HINT_LENGTH bytes for each input. */
export function writeRow(
  bytes: Buffer,
  at: number,
  fundedCount: number,
  fundedValue: number,
  spentCount: number,
  spentValue: number
): number {
  bytes[at] = Math.min(fundedCount, MANY) | (Math.min(spentCount, MANY) << 3);
  let end = at + 1;
  if (fundedCount >= MANY) end = writeInteger(bytes, end, fundedCount);
  if (spentCount >= MANY) end = writeInteger(bytes, end, spentCount);
  if (fundedCount > 0) end = writeAmount(bytes, end, fundedValue);
  if (spentCount > 0) end = writeAmount(bytes, end, spentValue);
  return end;
}

/** Where the row that begins at `at` ends. The bytes must be sound. */
export function rowEnd(bytes: Uint8Array, at: number): number {
  const head = bytes[at] as number;
  const funded = head & 7;
  let spent = head >> 3;
  let end = at + 1;
  if (funded === MANY) end = numberEnd(bytes, end);
  if (spent === MANY) {
    spent = 0;
    for (let unit = 1, more = true; more; unit *= 0x80) {
      const byte = bytes[end++] as number;
      spent += (byte & 0x7f) * unit;
      more = byte >= 0x80;
    }
  }
  if (funded > 0) end = numberEnd(bytes, end);
  if (spent > 0) end = numberEnd(bytes, end);
  return end + spent * HINT_LENGTH;
}

/** Writes the prefix of a further row of a record, `blocks` after the previous row; returns where the prefix ends. */
export function writeFurther(bytes: Uint8Array, at: number, blocks: number, index: number): number {
  return writeInteger(bytes, writeInteger(bytes, at, blocks), index);
}

/** A cursor over the rows of a record, initially before the first one. Rows are not turned into objects. */
export class RowCursor implements Position {
  height: number;
  index: number;
  fundedCount = 0;
  fundedValue = 0;
  spentCount = 0;
  spentValue = 0;
  readonly #key: Buffer;
  readonly #reader: RecordReader;
  #rowAt = 0;
  #hintsAt = 0;

  /** @throws DamagedIndexError */
  constructor(key: Buffer, value: Buffer) {
    ({ height: this.height, index: this.index } = positionInKey(key));
    this.#key = key;
    this.#reader = new RecordReader(recordOf(key, value));
    if (this.#reader.atEnd) throw damaged(key, 'rows', 'none');
  }

  /** Moves to the next row. False: there is none. @throws DamagedIndexError */
  next(): boolean {
    const reader = this.#reader;
    if (reader.atEnd) return false;
    if (reader.offset > 0) this.#readPosition();
    this.#rowAt = reader.offset;
    const head = reader.byte();
    if (head === 0 || head >= 0x40) throw damaged(this.#key, 'the first byte of a row', head.toString(16));
    const [funded, spent] = [head & 7, head >> 3];
    this.fundedCount = funded === MANY ? reader.integer() : funded;
    this.spentCount = spent === MANY ? reader.integer() : spent;
    this.fundedValue = funded === 0 ? 0 : reader.amount();
    this.spentValue = spent === 0 ? 0 : reader.amount();
    this.#hintsAt = reader.skip(this.spentCount * HINT_LENGTH);
    return true;
  }

  /** The row as it is in the record: a view. */
  get bytes(): Buffer {
    return this.#reader.bytes.subarray(this.#rowAt, this.#hintsAt + this.spentCount * HINT_LENGTH);
  }

  /** Whether an input has one of these hints. */
  hasHint(hints: ReadonlySet<number>): boolean {
    const { bytes } = this.#reader;
    const end = this.#hintsAt + this.spentCount * HINT_LENGTH;
    for (let at = this.#hintsAt; at < end; at += HINT_LENGTH) if (hints.has(bytes.readUInt16BE(at))) return true;
    return false;
  }

  #readPosition(): void {
    const blocks = this.#reader.integer();
    const index = this.#reader.integer();
    if (blocks === 0 && index <= this.index) throw damaged(this.#key, `a row behind transaction ${this.index}`, `${index}`);
    this.height += blocks;
    this.index = index;
  }
}
