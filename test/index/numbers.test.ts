import { expect } from 'chai';
import { describe, it } from 'mocha';
import { DamagedIndexError } from '../../lib/follow/errors';
import {
  amountIn,
  integerIn,
  LONGEST_AMOUNT,
  LONGEST_INTEGER,
  numberEnd,
  RecordReader,
  writeAmount,
  writeInteger
} from '../../lib/index/records/numbers';

/** On both sides of each length in bits, and with zeros at the end. */
const NUMBERS = [
  0,
  ...Array.from({ length: 53 }, (_, bits) => [2 ** bits - 1, 2 ** bits, 2 ** bits + 1]).flat(),
  ...Array.from({ length: 16 }, (_, zeros) => [10 ** zeros, 7 * 10 ** zeros, 8 * 10 ** zeros]).flat(),
  Number.MAX_SAFE_INTEGER
];

describe('numbers in records', () => {
  for (const [kind, write, readIn, read, longest] of [
    ['integers', writeInteger, integerIn, (reader: RecordReader) => reader.integer(), LONGEST_INTEGER],
    ['amounts', writeAmount, amountIn, (reader: RecordReader) => reader.amount(), LONGEST_AMOUNT]
  ] as const) {
    it(`are read as they were written: ${kind} of every length`, () => {
      for (const number of NUMBERS) {
        // What is around the number is not read.
        const bytes = Buffer.alloc(longest + 2, 0xff);
        const end = write(bytes, 1, number);
        expect(end - 1, `bytes of ${number}`).to.be.within(1, longest);
        expect(numberEnd(bytes, 1), `end of ${number}`).to.equal(end);
        expect(readIn(bytes, 1, end)).to.equal(number);
        const reader = new RecordReader(bytes.subarray(1, end));
        expect(read(reader)).to.equal(number);
        expect(reader.atEnd, `all of ${number}`).to.equal(true);
        for (let cut = 1; cut < end; cut++)
          expect(() => read(new RecordReader(bytes.subarray(1, cut))), `${number} cut off`).to.throw(DamagedIndexError);
      }
    });
  }

  it('are refused when they are larger than any that is written', () => {
    const bytes = Buffer.from('ffffffffffffff1f', 'hex');
    expect(() => new RecordReader(bytes).integer()).to.throw(DamagedIndexError, 'expected an integer below 2^53 at byte 0, got more');
    expect(new RecordReader(Buffer.from('ffffffffffffff0f', 'hex')).integer()).to.equal(2 ** 53 - 1);
  });
});
