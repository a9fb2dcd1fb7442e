// Sorts the rows of a partition file into the order of the store: by the hashes of their scripts, and for each script in the order of the
// chain.
//
// A file is read into memory and sorted by a radix sort over 32 bits of the hash, those after the bits that all hashes of the file share.
// The few scripts that have the same 32 bits are then ordered by the whole hash. If a file is too large for memory, its parts are sorted
// one by one, each is written to a separate file (a run), and the runs are merged. So memory is bounded, however many rows a script has.

import { POSITION_LENGTH } from '../../index/records/position';
import { rowEnd } from '../records/row';
import { SCRIPT_HASH_LENGTH } from '../records/script-hasher';
import { ROW_HEAD_LENGTH } from './partition-files';
import { piecesOf, PieceWriter, type PieceFile } from './pieces';

/** A cursor over rows. The bytes of a row do not change when the cursor moves on. */
export interface RowStream {
  readonly bytes: Buffer;
  /** Where the row begins, with its head. */
  readonly start: number;
  readonly end: number;
  /** Moves to the next row. False: there is none. */
  next(): boolean;
}

/** The shortest row with its head: the counts, and one sum. */
const LEAST_ROW = ROW_HEAD_LENGTH + 2;

/** The digits of the radix sort, the lowest first. */
const DIGITS = [
  { shift: 0, mask: 0x7ff },
  { shift: 11, mask: 0x7ff },
  { shift: 22, mask: 0x3ff }
] as const;

/** Sorts one file after another, in the same memory. */
export class RowSorter {
  readonly #mostBytes: number;
  #bytes = Buffer.alloc(0);
  /** The starts of rows, and the bits by which they are sorted; twice, since each pass sorts from one into the other. */
  #columns = [newColumns(0), newColumns(0)] as const;

  /** `mostBytes`: the most bytes of rows that are sorted at once. The columns take at most as much again. */
  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  /**
   * The rows in `pieces`, sorted; valid until the next call. `length`: at least their length; `bits`: how many bits the hashes share;
   * `run`: the file for the run with a number, from 0, if there are too many rows. @throws as `pieces`, Error of the file system
   */
  sort(pieces: Iterable<Buffer>, length: number, bits: number, run: (number: number) => PieceFile): RowStream {
    const queue = new PieceQueue(pieces);
    const first = this.#sortSome(queue, length, bits);
    if (queue.isEmpty()) return first;
    const runs = [runOf(first, run(0))];
    while (!queue.isEmpty()) runs.push(runOf(this.#sortSome(queue, length, bits), run(runs.length)));
    return new MergedRows(runs);
  }

  /** Sorts as many of the next pieces as fit into memory, at least one. */
  #sortSome(queue: PieceQueue, length: number, bits: number): RowStream {
    this.#reserve(Math.max(Math.min(length, this.#mostBytes), queue.next?.length ?? 0));
    const bytes = this.#bytes;
    let end = 0;
    for (let piece = queue.next; piece !== undefined && end + piece.length <= bytes.length; piece = queue.take())
      end += piece.copy(bytes, end);
    const count = this.#readRows(end, bits);
    // One pass for each digit, back and forth between the columns.
    let [from, to] = this.#columns;
    for (const { shift, mask } of DIGITS) {
      sortByDigit(from, to, count, shift, mask);
      [from, to] = [to, from];
    }
    orderAlike(bytes, from, count);
    return new SortedRows(bytes, from.starts, count);
  }

  #readRows(end: number, bits: number): number {
    const bytes = this.#bytes;
    const { starts, keys } = this.#columns[0];
    let count = 0;
    for (let at = 0; at < end; at = rowEnd(bytes, at + ROW_HEAD_LENGTH)) {
      starts[count] = at;
      keys[count++] = (bytes.readUInt32BE(at) << bits) | (bytes.readUInt32BE(at + 4) >>> (32 - bits));
    }
    return count;
  }

  #reserve(length: number): void {
    if (this.#bytes.length >= length) return;
    // The old memory is freed before more is allocated. Pages that are never touched take no memory.
    this.#bytes = Buffer.alloc(0);
    this.#columns = [newColumns(0), newColumns(0)];
    this.#bytes = Buffer.allocUnsafeSlow(length);
    const rows = Math.ceil(length / LEAST_ROW);
    this.#columns = [newColumns(rows), newColumns(rows)];
  }
}

interface Columns {
  readonly starts: Uint32Array;
  readonly keys: Uint32Array;
}

function newColumns(rows: number): Columns {
  return { starts: new Uint32Array(rows), keys: new Uint32Array(rows) };
}

/** Pieces, of which the next one can be looked at before it is taken. */
class PieceQueue {
  next: Buffer | undefined;
  readonly #pieces: Iterator<Buffer>;

  constructor(pieces: Iterable<Buffer>) {
    this.#pieces = pieces[Symbol.iterator]();
    this.take();
  }

  isEmpty(): boolean {
    return this.next === undefined;
  }

  /** Moves to the next piece, and returns it. */
  take(): Buffer | undefined {
    const { done, value } = this.#pieces.next() as IteratorResult<Buffer, undefined>; // pieces end without a value
    return (this.next = done === true ? undefined : value);
  }
}

/** One pass of the radix sort: rows with the same digit stay in their order. */
function sortByDigit(from: Columns, to: Columns, count: number, shift: number, mask: number): void {
  const next = new Uint32Array(mask + 1);
  for (let row = 0; row < count; row++) (next[((from.keys[row] as number) >>> shift) & mask] as number)++; // row < count; the digit is masked
  let sum = 0;
  for (let digit = 0; digit <= mask; digit++) {
    const rows = next[digit] as number; // digit <= mask
    next[digit] = sum;
    sum += rows;
  }
  for (let row = 0; row < count; row++) {
    const key = from.keys[row] as number; // as above
    const place = (next[(key >>> shift) & mask] as number)++; // as above
    to.keys[place] = key;
    to.starts[place] = from.starts[row] as number; // as above
  }
}

/** Sorts rows that have the same key, but different hashes. */
function orderAlike(bytes: Buffer, { starts, keys }: Columns, count: number): void {
  for (let first = 0, next = 0; first < count; first = next) {
    let isMixed = false;
    for (next = first + 1; next < count && keys[next] === keys[first]; next++)
      isMixed ||= compareHashes(bytes, starts[first] as number, bytes, starts[next] as number) !== 0; // both < count
    if (isMixed) starts.subarray(first, next).sort((a, b) => compareHashes(bytes, a, bytes, b) || a - b);
  }
}

/** Compares the hashes of two rows, which begin at `aAt` and `bAt`, as Buffer.compare does. */
export function compareHashes(a: Buffer, aAt: number, b: Buffer, bAt: number): number {
  for (let i = 0; i < SCRIPT_HASH_LENGTH; i++) {
    const difference = (a[aAt + i] as number) - (b[bAt + i] as number); // there are 10
    if (difference !== 0) return difference;
  }
  return 0;
}

class SortedRows implements RowStream {
  readonly bytes: Buffer;
  start = 0;
  end = 0;
  readonly #starts: Uint32Array;
  readonly #count: number;
  #row = 0;

  constructor(bytes: Buffer, starts: Uint32Array, count: number) {
    this.bytes = bytes;
    this.#starts = starts;
    this.#count = count;
  }

  next(): boolean {
    if (this.#row === this.#count) return false;
    this.start = this.#starts[this.#row++] as number; // there are so many
    this.end = rowEnd(this.bytes, this.start + ROW_HEAD_LENGTH);
    return true;
  }
}

/** Writes rows to a file, and reads them from there. */
function runOf(rows: RowStream, file: PieceFile): RowStream {
  const writer = new PieceWriter(file, 0);
  while (rows.next()) {
    const at = writer.reserve(rows.end - rows.start);
    rows.bytes.copy(writer.bytes, at, rows.start, rows.end);
  }
  writer.flush();
  return new PieceRows(piecesOf(file, writer.length));
}

/** The rows in pieces, as they come. */
class PieceRows implements RowStream {
  bytes: Buffer = Buffer.alloc(0);
  start = 0;
  end = 0;
  readonly #pieces: Iterator<Buffer, void>;

  constructor(pieces: Iterator<Buffer, void>) {
    this.#pieces = pieces;
  }

  next(): boolean {
    this.start = this.end;
    if (this.start === this.bytes.length) {
      const { done, value } = this.#pieces.next();
      if (done === true) return false;
      this.bytes = value;
      this.start = 0;
    }
    this.end = rowEnd(this.bytes, this.start + ROW_HEAD_LENGTH);
    return true;
  }
}

/** Merges sorted streams; rows of the same script come stream by stream. */
class MergedRows implements RowStream {
  bytes: Buffer = Buffer.alloc(0);
  start = 0;
  end = 0;
  /** The streams that are not at their end. */
  #streams: RowStream[];
  #last: RowStream | undefined;

  constructor(streams: readonly RowStream[]) {
    this.#streams = streams.filter((stream) => stream.next());
  }

  next(): boolean {
    if (this.#last?.next() === false) this.#streams = this.#streams.filter((stream) => stream !== this.#last);
    let [least] = this.#streams;
    if (least === undefined) return false;
    for (const stream of this.#streams) if (compareHashes(stream.bytes, stream.start, least.bytes, least.start) < 0) least = stream;
    this.#last = least;
    ({ bytes: this.bytes, start: this.start, end: this.end } = least);
    return true;
  }
}

/** The position in the head of the row that begins at `start`. */
export function positionAt(bytes: Buffer, start: number): { readonly height: number; readonly index: number } {
  const at = start + ROW_HEAD_LENGTH - POSITION_LENGTH;
  return { height: bytes.readUInt32BE(at), index: bytes.readUInt16BE(at + 4) };
}
