// The headers of the active chain in memory: a reader of many headers would otherwise fetch them record by record.
// The writer reads them once when the index is opened, pushes one for each block that is connected, and pops those of
// blocks that are disconnected. They are kept in two columns, cut into segments, so that a run of headers is one slice.
// Bytes that were handed out are never overwritten: after a pop, rows are pushed to a copy of the segment. A hash table
// finds a row by the hash of its block.
//
// A reader may hold an older state of the index. It never looks above its tip, and the rows below stay the same until
// rows are popped; then the table has a new version, and the reader reads from the store instead.

import { HEADER_LENGTH, previousHashOf } from '../../bitcoin/header';
import { DETAILS_LENGTH, detailsIn, HEADER_RECORD } from '../records/chain';
import type { HeaderRun } from '../types';

/** Rows of a segment: 3.9 MB, of which only the rows in use take memory. */
const SEGMENT_ROWS = 32_768;

/** Slots of the hash table at first; it doubles when half of them are taken. A power of two. */
const FIRST_SLOTS = 65_536;

interface Segment {
  readonly headers: Buffer;
  readonly details: Buffer;
}

export class HeaderTable {
  /** Changes whenever rows are popped. As long as it stays the same, existing rows do, too. */
  version = 0;
  readonly #segments: Segment[] = [];
  /** Heights plus one, by the first bytes of the hash; 0: the slot is free. If a slot is taken, the next one is tried. */
  #slots = new Uint32Array(FIRST_SLOTS);
  #length = 0;
  #lastHash: Buffer = Buffer.alloc(0);
  /** Rows were popped from the last segment, and readers may still have them. */
  #isSealed = false;

  /** Number of rows, which is the height of the next one. */
  get length(): number {
    return this.#length;
  }

  /** Adds the header record of the next height. Other heights are ignored: the headers up to them were not read. */
  push(height: number, record: Buffer): void {
    if (height !== this.#length) return;
    const { hash, header, details } = HEADER_RECORD;
    const row = height % SEGMENT_ROWS;
    if (row === 0) this.#segments.push(newSegment());
    else if (this.#isSealed) this.#segments.push(copyOf(this.#segments.pop() as Segment, row)); // it has this row
    this.#isSealed = false;
    const segment = this.#segments.at(-1) as Segment; // see above
    record.copy(segment.headers, row * HEADER_LENGTH, header.start, header.end);
    record.copy(segment.details, row * DETAILS_LENGTH, details.start, details.end);
    this.#lastHash = Buffer.from(record.subarray(hash.start, hash.end));
    this.#length++;
    if (this.#length * 2 <= this.#slots.length) this.#slots[this.#slotOf(this.#lastHash, 0)] = this.#length;
    else {
      this.#slots = new Uint32Array(this.#slots.length * 2);
      for (let at = 0; at < this.#length; at++) this.#slots[this.#slotOf(this.hashAt(at), 0)] = at + 1;
    }
  }

  /** Drops the rows from a height on. */
  pop(height: number): void {
    if (height >= this.#length) return;
    this.version++;
    if (height === 0) this.#slots.fill(0);
    // The last row goes first: no remaining row can have been moved past its slot.
    else for (let at = this.#length - 1; at >= height; at--) this.#slots[this.#slotOf(this.hashAt(at), at + 1)] = 0;
    this.#lastHash = height === 0 ? Buffer.alloc(0) : Buffer.from(this.hashAt(height - 1));
    this.#segments.length = Math.ceil(height / SEGMENT_ROWS);
    this.#isSealed = true;
    this.#length = height;
  }

  /** 32 bytes in wire order, a view. @throws RangeError above the last row */
  hashAt(height: number): Buffer {
    if (height === this.#length - 1) return this.#lastHash;
    // A header has the hash of the header before it.
    return previousHashOf(this.#segmentOf(height + 1).headers.subarray(((height + 1) % SEGMENT_ROWS) * HEADER_LENGTH));
  }

  /** `hash`: 32 bytes in wire order. undefined: no row is of that block. */
  heightOf(hash: Buffer): number | undefined {
    const mask = this.#slots.length - 1;
    for (let slot = hash.readUInt32LE() & mask; ; slot = (slot + 1) & mask) {
      const height = (this.#slots[slot] as number) - 1; // slot is masked
      if (height < 0) return undefined;
      if (this.hashAt(height).equals(hash)) return height;
    }
  }

  /**
   * At most `count` rows, at least one, all of one segment. `length`: number of headers of the reader's chain. @throws RangeError
   * above the last row
   */
  run(height: number, count: number, length: number): HeaderRun {
    const { headers, details } = this.#segmentOf(height);
    const from = height % SEGMENT_ROWS;
    const to = Math.min(from + Math.min(count, length - height), SEGMENT_ROWS);
    const next = height - from + to;
    return {
      height,
      count: to - from,
      headers: headers.subarray(from * HEADER_LENGTH, to * HEADER_LENGTH),
      detailsAt: (i) => detailsIn(details, (from + i) * DETAILS_LENGTH),
      lastHash: this.hashAt(next - 1),
      nextHash: next < length ? this.hashAt(next) : undefined
    };
  }

  /** The first slot with this content, searched from the slot of the hash. */
  #slotOf(hash: Buffer, content: number): number {
    const mask = this.#slots.length - 1;
    let slot = hash.readUInt32LE() & mask;
    while (this.#slots[slot] !== content) slot = (slot + 1) & mask;
    return slot;
  }

  #segmentOf(height: number): Segment {
    const segment = this.#segments[Math.floor(height / SEGMENT_ROWS)];
    if (segment === undefined || height >= this.#length) throw new RangeError(`expected a height below ${this.#length}, got ${height}`);
    return segment;
  }
}

/** The header records of consecutive blocks as a run. */
export function headerRunOf(height: number, records: readonly Buffer[], nextHash: Buffer | undefined): HeaderRun {
  const { hash, header, details } = HEADER_RECORD;
  return {
    height,
    count: records.length,
    headers: Buffer.concat(records.map((record) => record.subarray(header.start, header.end))),
    detailsAt: (i) => detailsIn(records[i] as Buffer, details.start), // one for each
    lastHash: (records.at(-1) as Buffer).subarray(hash.start, hash.end), // a run has at least one
    nextHash
  };
}

function newSegment(): Segment {
  return { headers: Buffer.allocUnsafeSlow(SEGMENT_ROWS * HEADER_LENGTH), details: Buffer.allocUnsafeSlow(SEGMENT_ROWS * DETAILS_LENGTH) };
}

function copyOf({ headers, details }: Segment, rows: number): Segment {
  const copy = newSegment();
  headers.copy(copy.headers, 0, 0, rows * HEADER_LENGTH);
  details.copy(copy.details, 0, 0, rows * DETAILS_LENGTH);
  return copy;
}
