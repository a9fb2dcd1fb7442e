import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { hash256 } from '../../lib/bitcoin/hash';
import { HeaderTable } from '../../lib/index/read/header-table';
import { encodeHeader } from '../../lib/index/records/chain';
import type { HeaderRun } from '../../lib/index/types';

/** The record of a header that follows `previousHash`; `salt` tells forks apart. */
function recordAfter(previousHash: Buffer, height: number, salt: number): Buffer {
  const header = Buffer.alloc(80, salt);
  previousHash.copy(header, 4);
  header.writeUInt32LE(height, 76);
  return encodeHeader({
    hash: hash256(header),
    height,
    header,
    chainwork: BigInt(height + 1) << 70n,
    medianTime: height + salt,
    transactionCount: height % 7,
    chainTransactions: height,
    chainBytes: height
  });
}

function extend(table: HeaderTable, chain: Buffer[], count: number, salt: number): void {
  for (let i = 0; i < count; i++) {
    const previous = chain.at(-1)?.subarray(0, 32) ?? Buffer.alloc(32);
    const record = recordAfter(previous, chain.length, salt);
    table.push(chain.length, record);
    chain.push(record);
  }
}

/** The details of all headers, as in records. */
function detailsOf({ count, detailsAt }: HeaderRun): Buffer {
  const numbers = Buffer.alloc(8);
  return Buffer.concat(
    Array.from({ length: count }, (_, i) => {
      const { chainwork, medianTime, transactionCount } = detailsAt(i);
      numbers.writeUInt32BE(transactionCount, numbers.writeUInt32BE(medianTime));
      return Buffer.concat([chainwork, numbers]);
    })
  );
}

/** The rows of the table for a chain or its first blocks, run by run, in the form of records. */
function expectRows(table: HeaderTable, chain: readonly Buffer[], count: number): void {
  const hashOf = (height: number): Buffer | undefined => chain[height]?.subarray(0, 32);
  for (let height = 0; height < chain.length;) {
    expect(table.hashAt(height)).to.deep.equal(hashOf(height));
    expect(table.heightOf(table.hashAt(height))).to.equal(height);
    const run = table.run(height, count, chain.length);
    const records = chain.slice(height, height + run.count);
    expect(run.count).to.be.within(1, count);
    expect(run.headers.equals(Buffer.concat(records.map((record) => record.subarray(32, 112))))).to.equal(true);
    expect(detailsOf(run).equals(Buffer.concat(records.map((record) => record.subarray(112, 152))))).to.equal(true);
    height += run.count;
    expect(run.lastHash).to.deep.equal(hashOf(height - 1));
    expect(run.nextHash).to.deep.equal(hashOf(height));
  }
}

describe('the table of headers', () => {
  it('holds the right rows after any history of blocks and forks, and has a new version when rows are gone', () => {
    const step = fc.record({ left: fc.nat(100), add: fc.nat(12) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), fc.integer({ min: 1, max: 9 }), (steps, count) => {
        const table = new HeaderTable();
        const chain: Buffer[] = [];
        steps.forEach(({ left, add }, salt) => {
          const { version } = table;
          const isCut = left < chain.length;
          table.pop(left);
          for (const record of chain.splice(left)) expect(table.heightOf(record.subarray(0, 32))).to.equal(undefined);
          expect(table.version).to.equal(isCut ? version + 1 : version);
          expectRows(table, chain, count);
          const before = [...chain];
          extend(table, chain, add, salt);
          expect(table.version).to.equal(isCut ? version + 1 : version);
          expect(table.length).to.equal(chain.length);
          expectRows(table, chain, count);
          expectRows(table, before, count);
        });
      })
    );
  });

  it('works across the end of a segment, up and down', () => {
    const table = new HeaderTable();
    const chain: Buffer[] = [];
    extend(table, chain, 32_800, 1);
    expectRows(table, chain, 2_000);
    for (const length of [32_790, 32_768, 32_767]) {
      table.pop(length);
      chain.length = length;
      extend(table, chain, 20, length);
      expectRows(table, chain, 40_000);
    }
  });

  it('never changes bytes that it has handed out', () => {
    const table = new HeaderTable();
    const chain: Buffer[] = [];
    extend(table, chain, 20, 1);
    const before = table.run(5, 15, 20);
    const shown = (): Buffer[] => [before.headers, detailsOf(before), before.lastHash].map((bytes) => Buffer.from(bytes));
    const copies = shown();
    table.pop(8);
    chain.length = 8;
    extend(table, chain, 30, 2);
    expect(shown()).to.deep.equal(copies);
  });

  it('ignores a header that is not the next one', () => {
    const table = new HeaderTable();
    const chain: Buffer[] = [];
    extend(table, chain, 3, 1);
    for (const height of [2, 4]) table.push(height, recordAfter(Buffer.alloc(32, 9), height, 1));
    expectRows(table, chain, 3);
    expect(table.length).to.equal(3);
    expect(() => table.run(3, 1, 4)).to.throw(RangeError);
    expect(() => table.hashAt(3)).to.throw(RangeError);
  });
});
