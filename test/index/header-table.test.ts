import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { hash256 } from '../../lib/bitcoin/hash';
import { HeaderTable } from '../../lib/index/read/header-table';
import { encodeHeader } from '../../lib/index/records/layout';

/** The record of a header that follows `previousHash`; `salt` tells forks apart. */
function recordAfter(previousHash: Buffer, height: number, salt: number): Buffer {
  const header = Buffer.alloc(80, salt);
  previousHash.copy(header, 4);
  header.writeUInt32LE(height, 76);
  return encodeHeader({
    hash: hash256(header), height, header, chainwork: BigInt(height + 1) << 70n, medianTime: height + salt, transactionCount: height % 7,
    chainTransactions: height, chainBytes: height
  });
}

function extend(table: HeaderTable, chain: Buffer[], count: number, salt: number): void {
  for (let i = 0; i < count; i++) {
    const previous = chain.at(-1)?.subarray(0, 32) ?? Buffer.alloc(32);
    const record = recordAfter(previous, chain.length, salt);
    chain.push(record);
    expect(table.append(record)).to.equal(true);
  }
}

/** All rows, run by run, as records hold them. */
function expectRows(table: HeaderTable, chain: readonly Buffer[], count: number): void {
  expect(table.length).to.equal(chain.length);
  expect(table.lastHash).to.deep.equal(chain.at(-1)?.subarray(0, 32));
  for (let height = 0; height < chain.length;) {
    const run = table.run(height, count);
    const records = chain.slice(height, height + run.count);
    expect(run.count).to.be.within(1, count);
    expect(run.headers.equals(Buffer.concat(records.map((record) => record.subarray(32, 112))))).to.equal(true);
    expect(run.details.equals(Buffer.concat(records.map((record) => record.subarray(112, 152))))).to.equal(true);
    height += run.count;
    expect(run.lastHash).to.deep.equal(chain[height - 1]?.subarray(0, 32));
    expect(run.nextHash).to.deep.equal(chain[height]?.subarray(0, 32));
  }
}

/** The blocks of the chain are found by hash, `others` and what is before the first one are not. */
function expectHeights(table: HeaderTable, chain: readonly Buffer[], others: readonly Buffer[]): void {
  const heightOf = (record: Buffer): number | undefined => table.heightOf(record.subarray(0, 32));
  expect(chain.map(heightOf)).to.deep.equal(chain.map((_, height) => height));
  expect(others.map(heightOf)).to.deep.equal(others.map(() => undefined));
  expect(table.heightOf(Buffer.alloc(32))).to.equal(undefined);
}

describe('the table of headers', () => {
  it('holds the rows of any history of blocks and forks', () => {
    const step = fc.record({ keep: fc.nat(100), add: fc.nat(12) });
    fc.assert(fc.property(fc.array(step, { maxLength: 12 }), fc.integer({ min: 1, max: 9 }), (steps, count) => {
      const table = new HeaderTable();
      const chain: Buffer[] = [];
      const gone: Buffer[] = [];
      steps.forEach(({ keep, add }, salt) => {
        table.truncate(keep);
        gone.push(...chain.splice(keep));
        expectHeights(table, chain, gone);
        extend(table, chain, add, salt);
        expectRows(table, chain, count);
        expectHeights(table, chain, gone);
      });
    }));
  });

  it('goes on over the end of a segment, and back', () => {
    const table = new HeaderTable();
    const chain: Buffer[] = [];
    extend(table, chain, 32_800, 1);
    expectRows(table, chain, 2_000);
    for (const length of [32_790, 32_768, 32_767]) {
      table.truncate(length);
      chain.length = length;
      extend(table, chain, 20, length);
      expectRows(table, chain, 40_000);
      expectHeights(table, chain, []);
    }
  });

  it('never changes bytes that it has handed out', () => {
    const table = new HeaderTable();
    const chain: Buffer[] = [];
    extend(table, chain, 20, 1);
    const before = table.run(5, 15);
    const copies = [before.headers, before.details, before.lastHash].map((bytes) => Buffer.from(bytes));
    table.truncate(8);
    chain.length = 8;
    extend(table, chain, 30, 2);
    expect([before.headers, before.details, before.lastHash]).to.deep.equal(copies);
  });

  it('takes no header that does not follow its last one', () => {
    const table = new HeaderTable();
    extend(table, [], 3, 1);
    expect(table.append(recordAfter(Buffer.alloc(32, 9), 3, 1))).to.equal(false);
    expect(table.length).to.equal(3);
    expect(() => table.run(3, 1)).to.throw(RangeError);
  });
});
