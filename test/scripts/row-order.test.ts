import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { beforeEach, describe, it } from 'mocha';
import { IndexError } from '../../lib/follow/errors';
import { RowCursor, writeRow } from '../../lib/scripts/records/row';
import { groupedRows } from '../../lib/scripts/fill/grouped-rows';
import { RowSorter } from '../../lib/scripts/fill/row-order';
import { newFolder } from '../support/process/folders';

interface MadeRow {
  readonly hash: Buffer;
  readonly height: number;
  readonly index: number;
  readonly value: number;
}

/** Scripts whose hashes have the same beginning: all of the first four bytes, and more. */
const hash = fc
  .record({
    start: fc.constantFrom('0000', '0001', '00ff'),
    middle: fc.constantFrom('000000', '800000', '0000ff'),
    end: fc.nat({ max: 4 })
  })
  .map(({ start, middle, end }) => Buffer.from(`${start}${middle}aabbccdd${String(end).padStart(2, '0')}`, 'hex'));

/** Rows in the order of the chain. */
const rows: fc.Arbitrary<MadeRow[]> = fc
  .array(fc.record({ hash, blocks: fc.nat({ max: 2 }), value: fc.nat({ max: 10 ** 9 }) }), { maxLength: 400 })
  .map((list) => {
    let height = 0;
    return list.map(({ blocks, ...row }, index) => ({ ...row, height: (height += blocks), index }));
  });

function bytesOf({ hash: script, height, index, value }: MadeRow): Buffer {
  const bytes = Buffer.alloc(64);
  script.copy(bytes);
  bytes.writeUInt32BE(height, 10);
  bytes.writeUInt16BE(index, 14);
  const end = writeRow(bytes, 16, { fundedCount: 1, fundedValue: value, outputs: [0, value], spentCount: 2, spentValue: 5 });
  bytes.writeUInt32BE(value % 2 ** 32, end);
  return bytes.subarray(0, end + 4);
}

/** Pieces of a few rows each. */
function piecesOf(list: readonly MadeRow[], each: number): Buffer[] {
  const pieces: Buffer[] = [];
  for (let at = 0; at < list.length; at += each) pieces.push(Buffer.concat(list.slice(at, at + each).map(bytesOf)));
  return pieces;
}

describe('rows of a partition file', () => {
  let folder: string;

  beforeEach(async () => {
    folder = await newFolder();
  });

  const run = (number: number): { path: string; secret: Buffer } => ({ path: join(folder, `run${number}`), secret: Buffer.alloc(32) });

  function* sorted(list: readonly MadeRow[], each: number, sorter: RowSorter): Generator<string, void> {
    const pieces = piecesOf(list, each);
    const stream = sorter.sort(pieces, Buffer.concat(pieces).length, 8, run);
    while (stream.next()) yield stream.bytes.toString('hex', stream.start, stream.end);
  }

  /** Array.sort is stable. */
  const expectedOf = (list: readonly MadeRow[]): string[] =>
    [...list].sort((a, b) => a.hash.compare(b.hash)).map((row) => bytesOf(row).toString('hex'));

  it('are sorted by script, and those of a script stay in the order of the chain', () => {
    const sorter = new RowSorter(1_000_000);
    fc.assert(
      fc.property(rows, fc.integer({ min: 1, max: 50 }), (list, each) => {
        expect([...sorted(list, each, sorter)]).to.deep.equal(expectedOf(list));
      }),
      { numRuns: 60 }
    );
    expect(readdirSync(folder)).to.deep.equal([]);
  });

  it('are sorted likewise when there are more than fit into memory', () => {
    const many: MadeRow[] = Array.from({ length: 200 }, (_, index) => ({
      hash: Buffer.alloc(10, index % 7),
      height: 0,
      index,
      value: index
    }));
    fc.assert(
      fc.property(rows, fc.integer({ min: 1, max: 50 }), fc.integer({ min: 1, max: 3_000 }), (list, each, most) => {
        expect([...sorted(list, each, new RowSorter(most))]).to.deep.equal(expectedOf(list));
      }),
      // The random lists may all be short.
      { numRuns: 40, examples: [[many, 10, 1_000]] }
    );
    expect(readdirSync(folder)).to.not.deep.equal([]);
  });

  it('share records, at most 128 of a script', () => {
    fc.assert(
      fc.property(rows, (list) => {
        // Few scripts, so that some have many rows.
        const few = list.map((row) => ({ ...row, hash: Buffer.alloc(10, row.index % 3) }));
        const pieces = piecesOf(few, 10);
        const stream = new RowSorter(1_000_000).sort(pieces, 1_000_000, 8, run);
        const found: unknown[] = [];
        const sizes = new Map<string, number[]>();
        for (const write of groupedRows(stream)) {
          if (write.type !== 'put') throw new Error('expected a record');
          const cursor = new RowCursor(Buffer.from(write.key), Buffer.from(write.value));
          const script = write.key.toString('hex', 1, 11);
          let size = 0;
          for (; cursor.next(); size++) {
            const { height, index, fundedCount, fundedValue, spentCount, spentValue } = cursor;
            expect([fundedCount, spentCount, spentValue]).to.deep.equal([1, 2, 5]);
            found.push([script, height, index, fundedValue]);
          }
          sizes.set(script, [...(sizes.get(script) ?? []), size]);
        }
        const expected = [...few].sort((a, b) => a.hash.compare(b.hash));
        expect(found).to.deep.equal(expected.map((row) => [row.hash.toString('hex'), row.height, row.index, row.value]));
        for (const counts of sizes.values()) expect(counts.slice(0, -1).every((count) => count === 128)).to.equal(true);
      }),
      { numRuns: 60 }
    );
  });

  it('are refused when they are not in the order of the chain', () => {
    const row = { hash: Buffer.alloc(10), height: 5, index: 3, value: 1 };
    for (const other of [
      { height: 5, index: 3 },
      { height: 5, index: 2 },
      { height: 4, index: 9 }
    ]) {
      const pieces = piecesOf([row, { ...row, ...other }], 2);
      const stream = new RowSorter(1_000).sort(pieces, 1_000, 8, run);
      expect(() => [...groupedRows(stream)]).to.throw(IndexError, 'not in its order');
    }
  });
});
