// The headers of the active chain in memory: what a reader of many headers would otherwise
// fetch record by record. Two columns in segments of one allocation each, so that a run of
// headers is one slice. Rows are never overwritten, so slices on their way to a client stay
// what they are: after a fork, the segment goes on as a copy.
//
// A block's hash is in the header after it. If the last row's hash is that of the block at
// its height, so are those of all rows below: that is how the table is held against a state
// of the index, whatever happened in between.

import { HEADER_LENGTH, previousHashOf } from '../bitcoin/header';
import { HEADER_RECORD } from './layout';
import type { HeaderRun } from './types';

/** Chainwork 32, median time past 4, transactions 4. */
const DETAILS_LENGTH = 40;

/** Rows of a segment: 3.8 MB, of which only those in use take memory. */
const SEGMENT_ROWS = 32_768;

interface Segment {
  readonly headers: Buffer;
  readonly details: Buffer;
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
    segment.rows++;
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
    rows: 0,
    sealed: false
  };
}

function copyOf({ headers, details, rows }: Segment): Segment {
  const copy = emptySegment();
  headers.copy(copy.headers, 0, 0, rows * HEADER_LENGTH);
  details.copy(copy.details, 0, 0, rows * DETAILS_LENGTH);
  copy.rows = rows;
  return copy;
}
