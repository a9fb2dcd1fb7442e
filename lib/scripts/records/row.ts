// What transactions did with scripts.
//
//   's' hash 10                the script's first rows, in an index that was filled: twice the height of the first one, plus 1 if there were
//                              further records when it was filled, as an integer; the index in its block, as an integer; rows
//   's' hash 10, position 6    rows; the first is of the transaction at the position
//
// Rows are in the order of the chain, up to 128 in a record. Each row but the first follows a prefix: how many blocks it is after the previous
// one, and the index in its block.
//
// A row has, as integers of variable length (lib/index/records/numbers.ts) unless a length is given:
//
//   number of outputs that pay to the script + 8 * number of inputs that spend from it + 64 * output 1; 7 stands for 7 or more inputs, and
//   for 7 or more outputs, or outputs that are not listed; `output` is the index of an only output, 3 for 3 or more
//   the number of outputs, if it is not in the first byte; the number of inputs, likewise
//   an only output: its index less 3, if it is not in the first byte, and its amount (lib/index/records/numbers.ts)
//   2 to 6 outputs: for each one how many outputs lie between it and the one before, and its amount
//   outputs that are not listed: their sum
//   sum of the inputs, unless there are none
//   for each input, the hint of the outpoint that it spends 2 (script-hasher.ts)
//
// Outputs are not listed when there are many, so that the length of a row is bounded by its inputs, nor when nobody can spend them.
//
// Blocks that can be undone have a record for each row, with its position in the key. Below them rows share records, since LevelDB adds 11
// bytes to each record. The first of these can be found by the hash alone: so a script whose later rows are known to be none
// (loose-scripts.ts) is read without an iterator.

import { damaged, recordOf } from '../../index/records/layout';
import {
  amountIn,
  integerIn,
  LONGEST_AMOUNT,
  LONGEST_INTEGER,
  numberEnd,
  RecordReader,
  writeAmount,
  writeInteger
} from '../../index/records/numbers';
import { POSITION_LENGTH, writePosition } from '../../index/records/position';
import { SCRIPT_HASH_LENGTH } from './script-hasher';
import type { Position } from '../../index/types';
import type { StoreRange } from '../../store/store';

const LETTER = 's'.charCodeAt(0);
const POSITION_AT = 1 + SCRIPT_HASH_LENGTH;
export const ROW_KEY_LENGTH = POSITION_AT + POSITION_LENGTH;
export const FIRST_KEY_LENGTH = POSITION_AT;

/** The most rows that share a record. */
export const MOST_ROWS = 128;

/** In the first byte of a row: the actual number follows as an integer. */
const MANY = 7;
/** The most outputs that are listed in a row. */
export const MOST_LISTED = MANY - 1;

/** In the first byte of a row: the index of its only output is at least that. */
const FAR_OUTPUT = 3;
const OUTPUT_SHIFT = 6;

export const HINT_LENGTH = 2;

/** The most bytes of a row without its hints. */
export const ROW_OVERHEAD = 1 + 2 * LONGEST_INTEGER + MOST_LISTED * (LONGEST_INTEGER + LONGEST_AMOUNT) + LONGEST_AMOUNT;
/** The most bytes of the prefix of a row, or of the head of a first record. */
export const FURTHER_ROW_OVERHEAD = 2 * LONGEST_INTEGER;

/** Writes the key of a script's first record and returns where it ends. `hash` has the script's hash at `hashAt`. */
export function writeFirstKey(bytes: Uint8Array, hash: Uint8Array, hashAt: number): number {
  bytes[0] = LETTER;
  for (let i = 0; i < SCRIPT_HASH_LENGTH; i++) bytes[1 + i] = hash[hashAt + i] as number; // a hash has 10 bytes
  return FIRST_KEY_LENGTH;
}

/** Writes the key of a record of rows and returns where it ends. `hash` has the script's hash at `hashAt`. */
export function writeRowKey(bytes: Buffer, hash: Uint8Array, hashAt: number, height: number, index: number): number {
  return writePosition(bytes, writeFirstKey(bytes, hash, hashAt), height, index);
}

/** The key of a script's first record. */
export function firstKey(hash: Uint8Array): Buffer {
  const key = Buffer.allocUnsafe(FIRST_KEY_LENGTH);
  writeFirstKey(key, hash, 0);
  return key;
}

/** The key of a record whose first row is of the transaction at a position. */
export function rowKey(hash: Uint8Array, { height, index }: Position): Buffer {
  const key = Buffer.allocUnsafe(ROW_KEY_LENGTH);
  writeRowKey(key, hash, 0, height, index);
  return key;
}

/** The hash of the script in a key. */
export function hashInRowKey(key: Buffer): Buffer {
  return key.subarray(1, POSITION_AT);
}

/** All records of a script; or those with a position in their keys that is not below `position`. */
export function rowsFrom(hash: Uint8Array, position?: Position): StoreRange {
  return {
    gte: position === undefined ? firstKey(hash) : rowKey(hash, position),
    lt: rowKey(hash, { height: 0xffff_ffff, index: 0xffff })
  };
}

/** Records of a script with a position in their keys that is below `position`, and its first record, wherever its rows are. */
export function rowsBelow(hash: Uint8Array, position: Position): StoreRange {
  return { gte: firstKey(hash), lt: rowKey(hash, position) };
}

/** Whether there were further records when a first record was made. `value`: of the first record. */
export const hasFurther = (value: Buffer): boolean => ((value[0] ?? 0) & 1) === 1; // of an integer of variable length

/** Writes the head of a first record, and returns where its rows begin. `isWhole`: there are no further records. */
export function writeFirstHead(bytes: Uint8Array, at: number, { height, index }: Position, isWhole: boolean): number {
  return writeInteger(bytes, writeInteger(bytes, at, height * 2 + (isWhole ? 0 : 1)), index);
}

/** What a transaction does with a script. */
export interface RowContent {
  readonly fundedCount: number;
  readonly fundedValue: number;
  /** Index and value of each output that pays to the script, in this order; fewer of them: they are not listed. */
  readonly outputs: readonly number[];
  readonly spentCount: number;
  readonly spentValue: number;
}

/** Writes a row without its hints, and returns where these begin: HINT_LENGTH bytes for each input. */
export function writeRow(bytes: Buffer, at: number, { fundedCount, fundedValue, outputs, spentCount, spentValue }: RowContent): number {
  const isListed = fundedCount <= MOST_LISTED && outputs.length === 2 * fundedCount;
  const only = isListed && fundedCount === 1 ? (outputs[0] as number) : 0; // there is one
  const funded = isListed ? fundedCount : MANY;
  bytes[at] = funded | (Math.min(spentCount, MANY) << 3) | (Math.min(only, FAR_OUTPUT) << OUTPUT_SHIFT);
  let end = at + 1;
  if (!isListed) end = writeInteger(bytes, end, fundedCount);
  if (spentCount >= MANY) end = writeInteger(bytes, end, spentCount);
  if (!isListed) end = writeAmount(bytes, end, fundedValue);
  else if (fundedCount > 1) end = writeOutputs(bytes, end, outputs);
  else if (fundedCount === 1) {
    if (only >= FAR_OUTPUT) end = writeInteger(bytes, end, only - FAR_OUTPUT);
    end = writeAmount(bytes, end, fundedValue);
  }
  if (spentCount > 0) end = writeAmount(bytes, end, spentValue);
  return end;
}

function writeOutputs(bytes: Buffer, at: number, outputs: readonly number[]): number {
  let end = at;
  let before = -1;
  for (let i = 0; i < outputs.length; i += 2) {
    const index = outputs[i] as number; // i < length; likewise below
    end = writeInteger(bytes, end, index - before - 1);
    end = writeAmount(bytes, end, outputs[i + 1] as number);
    before = index;
  }
  return end;
}

/** Where the row that begins at `at` ends. The bytes must be sound. */
export function rowEnd(bytes: Uint8Array, at: number): number {
  const head = bytes[at] as number;
  const funded = head & 7;
  let spent = (head >> 3) & 7;
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
  if (head >> OUTPUT_SHIFT === FAR_OUTPUT) end = numberEnd(bytes, end);
  if (funded === 1 || funded === MANY) end = numberEnd(bytes, end);
  else for (let left = 2 * funded; left > 0; left--) end = numberEnd(bytes, end);
  if (spent > 0) end = numberEnd(bytes, end);
  return end + spent * HINT_LENGTH;
}

/** What the transactions of rows do with a script together. */
export interface RowTotals {
  readonly transactions: number;
  readonly fundedCount: number;
  readonly fundedValue: number;
  readonly spentCount: number;
  readonly spentValue: number;
}

/** Of all rows of a script's first record: quicker than a cursor, which keeps where everything in a row is. @throws DamagedIndexError */
export function totalsOf(key: Buffer, value: Buffer): RowTotals {
  const bytes = recordOf(key, value);
  let [transactions, fundedCount, fundedValue, spentCount, spentValue] = [0, 0, 0, 0, 0];
  const headEnd = numberEnd(bytes, numberEnd(bytes, 0));
  for (let at = headEnd; at < bytes.length || transactions === 0; transactions++) {
    if (at > headEnd) at = numberEnd(bytes, numberEnd(bytes, at));
    const head = bytes[at++] ?? 0; // then the record is too short
    let [funded, spent, amounts] = [head & 7, (head >> 3) & 7, 1];
    if (funded === MANY) funded = integerIn(bytes, at, (at = numberEnd(bytes, at)));
    else amounts = funded;
    if (spent === MANY) spent = integerIn(bytes, at, (at = numberEnd(bytes, at)));
    if (head >> OUTPUT_SHIFT === FAR_OUTPUT) at = numberEnd(bytes, at);
    for (let left = amounts; left > 0; left--) {
      if (amounts > 1) at = numberEnd(bytes, at);
      fundedValue += amountIn(bytes, at, (at = numberEnd(bytes, at)));
    }
    if (spent > 0) spentValue += amountIn(bytes, at, (at = numberEnd(bytes, at)));
    at += spent * HINT_LENGTH;
    fundedCount += funded;
    spentCount += spent;
    if (at > bytes.length) throw damaged(key, 'whole rows', `${at - bytes.length} bytes fewer`);
  }
  return { transactions, fundedCount, fundedValue, spentCount, spentValue };
}

/** Writes the prefix of a row that is not the first of its record, `blocks` after the previous row; returns where the prefix ends. */
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
  /** Whether `takeOutputs` gives the outputs. */
  isListed = false;
  readonly #key: Buffer;
  readonly #reader: RecordReader;
  /** Where the first row begins. */
  readonly #start: number;
  #rowAt = 0;
  #hintsAt = 0;
  /** The index of an only output. */
  #only = 0;
  /** Where several outputs begin. */
  #outputsAt = 0;

  /** @throws DamagedIndexError */
  constructor(key: Buffer, value: Buffer) {
    const reader = new RecordReader(recordOf(key, value));
    if (key.length === ROW_KEY_LENGTH) {
      this.height = key.readUInt32BE(POSITION_AT);
      this.index = key.readUInt16BE(POSITION_AT + 4);
    } else if (key.length === FIRST_KEY_LENGTH) {
      this.height = Math.floor(reader.integer() / 2);
      this.index = reader.integer();
    } else throw damaged(key, `a key of ${FIRST_KEY_LENGTH} or ${ROW_KEY_LENGTH} bytes`, `${key.length}`);
    this.#key = key;
    this.#reader = reader;
    this.#start = reader.offset;
    if (reader.atEnd) throw damaged(key, 'rows', 'none');
  }

  /** Moves to the next row. False: there is none. @throws DamagedIndexError */
  next(): boolean {
    const reader = this.#reader;
    if (reader.atEnd) return false;
    if (reader.offset > this.#start) this.#readPosition();
    this.#rowAt = reader.offset;
    const head = reader.byte();
    const [funded, spent, only] = [head & 7, (head >> 3) & 7, head >> OUTPUT_SHIFT];
    if (head === 0 || (only !== 0 && funded !== 1)) throw damaged(this.#key, 'the first byte of a row', head.toString(16));
    this.fundedCount = funded === MANY ? reader.integer() : funded;
    this.spentCount = spent === MANY ? reader.integer() : spent;
    this.isListed = funded !== MANY;
    this.#only = only === FAR_OUTPUT ? FAR_OUTPUT + reader.integer() : only;
    this.#outputsAt = reader.offset;
    if (funded === 1 || funded === MANY) this.fundedValue = reader.amount();
    else {
      this.fundedValue = 0;
      for (let left = funded; left > 0; left--) {
        reader.integer();
        this.fundedValue += reader.amount();
      }
    }
    this.spentValue = spent === 0 ? 0 : reader.amount();
    this.#hintsAt = reader.skip(this.spentCount * HINT_LENGTH);
    return true;
  }

  /** The row as it is in the record: a view. */
  get bytes(): Buffer {
    return this.#reader.bytes.subarray(this.#rowAt, this.#hintsAt + this.spentCount * HINT_LENGTH);
  }

  /** Calls `take` with each output that pays to the script, in their order; not to be called unless they are listed. */
  takeOutputs(take: (index: number, value: number) => void): void {
    if (this.fundedCount === 1) {
      take(this.#only, this.fundedValue);
      return;
    }
    const reader = new RecordReader(this.#reader.bytes);
    reader.skip(this.#outputsAt);
    for (let left = this.fundedCount, index = -1; left > 0; left--) {
      index += 1 + reader.integer();
      take(index, reader.amount());
    }
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
