import { createHash, randomBytes } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { DamagedIndexError } from '../../lib/follow/errors';
import { putRecord } from '../../lib/index/records/layout';
import {
  firstKey,
  FURTHER_ROW_OVERHEAD,
  HINT_LENGTH,
  MOST_ROWS,
  ROW_OVERHEAD,
  RowCursor,
  rowEnd,
  rowKey,
  rowsBelow,
  rowsFrom,
  totalsOf,
  writeFirstHead,
  writeFurther,
  writeRow,
  type RowTotals
} from '../../lib/scripts/records/row';
import { SCRIPT_HASH_LENGTH, ScriptHasher } from '../../lib/scripts/records/script-hasher';
import type { Position } from '../../lib/index/types';

interface Row {
  readonly funded: { readonly count: number; readonly value: number };
  /** Index and value of each output. */
  readonly outputs: readonly number[];
  readonly spent: { readonly count: number; readonly value: number };
  readonly hints: readonly number[];
}

const value = fc.oneof(
  fc.nat({ max: Number.MAX_SAFE_INTEGER }),
  fc.nat({ max: 21_000_000 }).map((coins) => coins * 100_000_000),
  fc.constant(Number.MAX_SAFE_INTEGER)
);
const hint = fc.nat({ max: 0xffff });
const anyRow: fc.Arbitrary<Row> = fc
  .record({
    funded: fc.record({ count: fc.oneof(fc.nat({ max: 8 }), fc.nat({ max: 100_000 })), value }),
    listed: fc.option(
      fc.uniqueArray(fc.tuple(fc.oneof(fc.nat({ max: 4 }), fc.nat({ max: 1_000_000 })), fc.nat({ max: 10 ** 15 })), {
        selector: ([index]) => index,
        minLength: 1,
        maxLength: 6
      }),
      { nil: undefined }
    ),
    // From 128 on their number takes two bytes.
    hints: fc.oneof({ weight: 9, arbitrary: fc.array(hint, { maxLength: 20 }) }, fc.array(hint, { minLength: 120, maxLength: 300 })),
    spentValue: value
  })
  .filter(({ funded, hints }) => funded.count + hints.length > 0)
  .map(({ funded, listed, hints, spentValue }) => ({
    ...(listed === undefined
      ? { funded: funded.count === 0 ? { count: 0, value: 0 } : funded, outputs: [] }
      : {
          funded: { count: listed.length, value: listed.reduce((sum, [, each]) => sum + each, 0) },
          outputs: listed.sort(([a], [b]) => a - b).flat()
        }),
    spent: { count: hints.length, value: hints.length === 0 ? 0 : spentValue },
    hints
  }));

const anyPosition: fc.Arbitrary<Position> = fc.record({ height: fc.nat({ max: 0xffff_fffe }), index: fc.nat({ max: 0xffff }) });
const anyHash = fc.uint8Array({ minLength: 10, maxLength: 10 }).map((bytes) => Buffer.from(bytes));

function encoded({ funded, outputs, spent, hints }: Row): Buffer {
  const bytes = Buffer.alloc(ROW_OVERHEAD + hints.length * HINT_LENGTH);
  let end = writeRow(bytes, 0, {
    fundedCount: funded.count,
    fundedValue: funded.value,
    outputs,
    spentCount: spent.count,
    spentValue: spent.value
  });
  for (const hint of hints) end = bytes.writeUInt16BE(hint, end);
  return bytes.subarray(0, end);
}

/** Rows of one script at ascending positions. */
const anyGroup = fc
  .tuple(
    fc.record({ height: fc.nat({ max: 1_000_000 }), index: fc.nat({ max: 0xffff }) }),
    fc.array(fc.tuple(anyRow, fc.oneof(fc.constant(0), fc.nat({ max: 1_000_000 })), fc.nat({ max: 0xffff })), {
      minLength: 1,
      maxLength: MOST_ROWS
    })
  )
  .map(([start, rows]) => {
    let last = start;
    const placed: { readonly row: Row; readonly position: Position }[] = [];
    for (const [i, [row, blocks, index]] of rows.entries()) {
      const next = blocks === 0 ? { height: last.height, index: last.index + 1 } : { height: last.height + blocks, index };
      if (next.index > 0xffff) break;
      if (i > 0) last = next;
      placed.push({ row, position: last });
    }
    return placed;
  })
  .filter((group) => group.length > 0);

function record(group: readonly { readonly row: Row; readonly position: Position }[]): Buffer {
  let last = group[0]?.position;
  return Buffer.concat(
    group.flatMap(({ row, position }) => {
      const before = Buffer.alloc(FURTHER_ROW_OVERHEAD);
      const end = position === last ? 0 : writeFurther(before, 0, position.height - (last?.height ?? 0), position.index);
      last = position;
      return [before.subarray(0, end), encoded(row)];
    })
  );
}

const hash = Buffer.alloc(SCRIPT_HASH_LENGTH, 7);
const cursorOver = (bytes: Buffer, position: Position = { height: 1, index: 2 }): RowCursor => {
  const { key, value: stored } = putRecord(rowKey(hash, position), bytes);
  return new RowCursor(key, stored);
};
/** The totals of a first record with these rows, after its head. */
const totals = (rows: Buffer, position: Position = { height: 1, index: 2 }): RowTotals => {
  const head = Buffer.alloc(FURTHER_ROW_OVERHEAD);
  const { key, value: stored } = putRecord(
    firstKey(hash),
    Buffer.concat([head.subarray(0, writeFirstHead(head, 0, position, true)), rows])
  );
  return totalsOf(key, stored);
};
const readAll = (cursor: RowCursor): void => {
  while (cursor.next());
};

describe('rows of scripts', () => {
  it('are read as they were written, alone and together', () => {
    fc.assert(
      fc.property(anyGroup, (group) => {
        const cursor = cursorOver(record(group), group[0]?.position);
        for (const { row, position } of group) {
          expect(cursor.next()).to.equal(true);
          const { height, index, fundedCount, fundedValue, isListed, spentCount, spentValue } = cursor;
          expect({ height, index }).to.deep.equal(position);
          expect({ count: fundedCount, value: fundedValue }).to.deep.equal(row.funded);
          const outputs: number[] = [];
          if (isListed) cursor.takeOutputs((...output) => outputs.push(...output));
          expect(outputs).to.deep.equal(row.outputs);
          expect({ count: spentCount, value: spentValue }).to.deep.equal(row.spent);
          for (const hint of row.hints) expect(cursor.hasHint(new Set([hint]))).to.equal(true);
          const other = [0, 1, 0xffff].filter((hint) => !row.hints.includes(hint));
          for (const hint of other) expect(cursor.hasHint(new Set([hint]))).to.equal(false);
        }
        expect(cursor.next()).to.equal(false);
      })
    );
  });

  it('end where rowEnd says when they follow one another', () => {
    fc.assert(
      fc.property(fc.array(anyRow, { minLength: 1, maxLength: 10 }), (rows) => {
        const bytes = Buffer.concat(rows.map(encoded));
        let at = 0;
        for (const row of rows) {
          expect(rowEnd(bytes, at)).to.equal(at + encoded(row).length);
          at += encoded(row).length;
        }
      })
    );
  });

  it('add up to the same whether they are read one by one or together', () => {
    fc.assert(
      fc.property(anyGroup, (group) => {
        const sum = (of: (row: Row) => number): number => group.reduce((before, { row }) => before + of(row), 0);
        const [fundedValue, spentValue] = [sum(({ funded }) => funded.value), sum(({ spent }) => spent.value)];
        // Larger sums are refused.
        fc.pre(Number.isSafeInteger(fundedValue) && Number.isSafeInteger(spentValue));
        expect(totals(record(group), group[0]?.position)).to.deep.equal({
          transactions: group.length,
          fundedCount: sum(({ funded }) => funded.count),
          fundedValue,
          spentCount: sum(({ spent }) => spent.count),
          spentValue
        });
      })
    );
  });

  it('take 1 byte, an amount and 2 bytes for each input, and more for several outputs', () => {
    const nothing = { spent: { count: 0, value: 0 }, hints: [] };
    const paid = (outputs: readonly number[], count: number, value: number): string =>
      encoded({ funded: { count, value }, outputs, ...nothing }).toString('hex');
    expect(paid([0, 5_000_000_000], 1, 5_000_000_000)).to.equal('0159');
    expect(paid([2, 5_000_000_000], 1, 5_000_000_000)).to.equal('8159');
    expect(paid([3, 5_000_000_000], 1, 5_000_000_000)).to.equal('c1' + '00' + '59');
    expect(paid([1, 10, 4, 5_000_000_000], 2, 5_000_000_010)).to.equal('02' + '0111' + '0259');
    expect(paid([], 1, 10)).to.equal('07' + '01' + '11');
    expect(paid([], 7, 0)).to.equal('070700');
    const both = { funded: { count: 6, value: 123_456_789 }, outputs: [], spent: { count: 2, value: 10 }, hints: [0x0102, 0xfffe] };
    expect(encoded(both).toString('hex')).to.equal('17' + '06' + 'd0a2f3ad07' + '11' + '0102fffe');
  });

  it('are refused wherever their bytes end too early', () => {
    const first = {
      row: { funded: { count: 9, value: 123_456 }, outputs: [], spent: { count: 1, value: 77 }, hints: [3] },
      position: { height: 1, index: 2 }
    };
    const bytes = record([first, { ...first, position: { height: 300, index: 500 } }]);
    const one = encoded(first.row).length;
    for (let length = 0; length < bytes.length; length++)
      if (length !== one)
        for (const read of [() => readAll(cursorOver(bytes.subarray(0, length))), () => totals(bytes.subarray(0, length))])
          expect(read, `${length} bytes`).to.throw(DamagedIndexError);
  });

  it('are refused when a row is empty, and when they do not ascend', () => {
    const row = encoded({ funded: { count: 1, value: 1 }, outputs: [0, 1], spent: { count: 0, value: 0 }, hints: [] });
    for (const bytes of [[0], [0x48, 0], [0x42, 0, 0, 0, 0], [...row, 0, 2, ...row], [...row, 0, 1, ...row]])
      expect(() => readAll(cursorOver(Buffer.from(bytes))), String(bytes)).to.throw(DamagedIndexError);
    readAll(cursorOver(Buffer.from([...row, 0, 3, ...row, 1, 0, ...row])));
  });

  it('are found in ranges of positions', () => {
    fc.assert(
      fc.property(anyHash, anyPosition, anyPosition, (script, one, other) => {
        const isBelow = one.height < other.height || (one.height === other.height && one.index < other.index);
        const key = rowKey(script, one);
        const holds = ({ gte, lt }: { gte: Buffer; lt: Buffer }): boolean => key.compare(gte) >= 0 && key.compare(lt) < 0;
        expect(holds(rowsBelow(script, other))).to.equal(isBelow);
        expect(holds(rowsFrom(script, other))).to.equal(!isBelow);
        expect(holds(rowsFrom(script))).to.equal(true);
      })
    );
  });
});

describe('hashes of scripts and hints of outpoints', () => {
  it('are the first bytes of SHA-256 of the secret and the script hash or outpoint', () => {
    const secret = randomBytes(32);
    const hasher = new ScriptHasher(secret);
    const start = (bytes: Uint8Array, length: number): Buffer =>
      createHash('sha256').update(secret).update(bytes).digest().subarray(0, length);
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), fc.nat({ max: 0xffff_ffff }), (bytes, index) => {
        expect(hasher.hash(bytes)).to.deep.equal(start(bytes, 10));
        const written = Buffer.alloc(12);
        hasher.writeHash(Buffer.from(bytes).toString('latin1'), written, 1);
        expect(written.subarray(1, 11)).to.deep.equal(start(bytes, 10));
        const outpoint = Buffer.concat([bytes, Buffer.alloc(4)]);
        outpoint.writeUInt32LE(index, 32);
        expect(hasher.hint(bytes, index)).to.equal(start(outpoint, 2).readUInt16BE());
        expect(hasher.hintAt(Buffer.concat([Buffer.from('x'), outpoint]), 1)).to.equal(hasher.hint(bytes, index));
        expect(new ScriptHasher(hasher.secret).hash(bytes)).to.deep.equal(hasher.hash(bytes));
      })
    );
  });
});
