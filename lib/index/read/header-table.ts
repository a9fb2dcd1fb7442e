// The headers of the active chain in memory: what a reader of many headers would otherwise
// fetch record by record. Two columns in segments of one allocation each, so that a run of
// headers is one slice. Rows are never overwritten, so slices on their way to a client stay
// what they are: after a fork, the segment goes on as a copy.
//
// A block's hash is in the header after it. If the last row's hash is that of the block at
// its height, so are those of all rows below: that is how the table is held against a state
// of the index, whatever happened in between. It is also how a block is found by its hash:
// each segment has a hash table of its rows by the hashes before them.

import { HEADER_LENGTH, previousHashOf } from '../../bitcoin/header';
import { HEADER_RECORD } from '../records/layout';
import type { HeaderRun } from '../types';

/** Chainwork 32, median time past 4, transactions 4. */
const DETAILS_LENGTH = 40;

/** Rows of a segment: 3.9 MB, of which only those in use take memory. */
const SEGMENT_ROWS = 32_768;

/** Twice as many as rows; 16 bits hold a row and one more. */
const SLOTS = SEGMENT_ROWS * 2;

/** Where a header has the hash before it. */
const PREVIOUS_HASH = 4;
const HASH_LENGTH = 32;

interface Segment {
  readonly headers: Buffer;
  readonly details: Buffer;
  /** Rows by the first bytes of their previous hash, each plus one; 0 is free, full ones are followed by the next free one. */
  readonly slots: Uint16Array;
  rows: number;
  /** Rows were dropped from it, and may still be in somebody's hands. */
  sealed: boolean;
}

export class HeaderTable {
  readonly #segments: Segment[] = [];
  #lastHash: Buffer | undefined;

  /** Rows, which is the height of the next one. */
  get length(): number {
    const last = this.#segments.at(-1);
    return last === undefined ? 0 : (this.#segments.length - 1) * SEGMENT_ROWS + last.rows;
  }

  /** Hash of the last row's block. */
  get lastHash(): Buffer | undefined {
    return this.#lastHash;
  }

  /** Adds the header record of the block at height `length`. False when it does not follow the last row. */
  append(record: Buffer): boolean {
    const { hash, header, details } = HEADER_RECORD;
    if (this.#lastHash?.equals(previousHashOf(record.subarray(header.start))) === false) return false;
    const segment = this.#segmentWithRoom();
    record.copy(segment.headers, segment.rows * HEADER_LENGTH, header.start, header.end);
    record.copy(segment.details, segment.rows * DETAILS_LENGTH, details.start, details.end);
    addRow(segment);
    this.#lastHash = Buffer.from(record.subarray(hash.start, hash.end));
    return true;
  }

  /** Drops the rows from height `length` on. */
  truncate(length: number): void {
    if (length >= this.length) return;
    this.#lastHash = length === 0 ? undefined : Buffer.from(this.hashAt(length - 1));
    this.#segments.length = Math.ceil(length / SEGMENT_ROWS);
    const last = this.#segments.at(-1);
    if (last === undefined) return;
    last.rows = length - (this.#segments.length - 1) * SEGMENT_ROWS;
    last.sealed = true;
  }

  /** 32 bytes in wire order, a view. @throws RangeError above the last row */
  hashAt(height: number): Buffer {
    if (this.#lastHash !== undefined && height === this.length - 1) return this.#lastHash;
    return previousHashOf(this.#segmentOf(height + 1).headers.subarray((height + 1) % SEGMENT_ROWS * HEADER_LENGTH));
  }

  /** `hash`: 32 bytes in wire order. Undefined: no row is of that block. */
  heightOf(hash: Buffer): number | undefined {
    if (this.#lastHash?.equals(hash) === true) return this.length - 1;
    // Young blocks are asked for more often.
    for (let i = this.#segments.length - 1; i >= 0; i--) {
      const row = rowAfter(hash, this.#segments[i] as Segment); // below the length
      // No block is before the first one.
      if (row !== undefined) return i === 0 && row === 0 ? undefined : i * SEGMENT_ROWS + row - 1;
    }
    return undefined;
  }

  /** Views of up to `count` rows, at least one: those that lie together. @throws RangeError above the last row */
  run(height: number, count: number): HeaderRun {
    const { headers, details, rows } = this.#segmentOf(height);
    const from = height % SEGMENT_ROWS;
    const to = Math.min(from + count, rows);
    const next = height - from + to;
    return {
      height,
      count: to - from,
      headers: headers.subarray(from * HEADER_LENGTH, to * HEADER_LENGTH),
      details: details.subarray(from * DETAILS_LENGTH, to * DETAILS_LENGTH),
      lastHash: this.hashAt(next - 1),
      nextHash: next < this.length ? this.hashAt(next) : undefined
    };
  }

  #segmentOf(height: number): Segment {
    const segment = this.#segments[Math.floor(height / SEGMENT_ROWS)];
    if (segment === undefined || height >= this.length)
      throw new RangeError(`expected a height below ${this.length}, got ${height}`);
    return segment;
  }

  #segmentWithRoom(): Segment {
    const last = this.#segments.at(-1);
    if (last === undefined || last.rows === SEGMENT_ROWS) {
      const segment = emptySegment();
      this.#segments.push(segment);
      return segment;
    }
    return last.sealed ? this.#segments[this.#segments.length - 1] = copyOf(last) : last;
  }
}

/** The header records of consecutive blocks as a run. */
export function headerRunOf(height: number, records: readonly Buffer[], nextHash: Buffer | undefined): HeaderRun {
  const { hash, header, details } = HEADER_RECORD;
  return {
    height,
    count: records.length,
    headers: Buffer.concat(records.map((record) => record.subarray(header.start, header.end))),
    details: Buffer.concat(records.map((record) => record.subarray(details.start, details.end))),
    lastHash: (records.at(-1) as Buffer).subarray(hash.start, hash.end), // a run has at least one
    nextHash
  };
}

function emptySegment(): Segment {
  return {
    headers: Buffer.allocUnsafeSlow(SEGMENT_ROWS * HEADER_LENGTH),
    details: Buffer.allocUnsafeSlow(SEGMENT_ROWS * DETAILS_LENGTH),
    slots: new Uint16Array(SLOTS),
    rows: 0,
    sealed: false
  };
}

/** Without what its slots still say of rows that were dropped. */
function copyOf({ headers, details, rows }: Segment): Segment {
  const copy = emptySegment();
  headers.copy(copy.headers, 0, 0, rows * HEADER_LENGTH);
  details.copy(copy.details, 0, 0, rows * DETAILS_LENGTH);
  while (copy.rows < rows) addRow(copy);
  return copy;
}

/** Takes the row behind the last one in, whose bytes are there. */
function addRow(segment: Segment): void {
  const { headers, slots, rows } = segment;
  let slot = firstSlot(headers, rows * HEADER_LENGTH + PREVIOUS_HASH);
  while (slots[slot] !== 0) slot = nextSlot(slot);
  slots[slot] = rows + 1;
  segment.rows++;
}

/** The row whose previous block has the hash. */
function rowAfter(hash: Buffer, { headers, slots, rows }: Segment): number | undefined {
  for (let slot = firstSlot(hash, 0); slots[slot] !== 0; slot = nextSlot(slot)) {
    const row = (slots[slot] as number) - 1; // below their number
    const at = row * HEADER_LENGTH + PREVIOUS_HASH;
    if (row < rows && headers.compare(hash, 0, HASH_LENGTH, at, at + HASH_LENGTH) === 0) return row;
  }
  return undefined;
}

/** A hash's first bytes in wire order are its random ones. */
const firstSlot = (bytes: Buffer, at: number): number => bytes.readUInt16LE(at);
const nextSlot = (slot: number): number => (slot + 1) % SLOTS;
