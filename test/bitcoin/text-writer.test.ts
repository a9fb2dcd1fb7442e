import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { TextWriter } from '../../lib/bitcoin/text-writer';
import { runAtOnce } from '../../lib/turns/slices';

/** The text that `write` writes to a writer that has to grow. */
const text = (write: (writer: TextWriter) => void): string => {
  const writer = new TextWriter(1);
  write(writer);
  return writer.toString();
};

describe('TextWriter', () => {
  it('writes amounts with eight decimals', () => {
    const amounts: [number, string][] = [
      [5_000_000_000, '50.00000000'],
      [1, '0.00000001'],
      [0, '0.00000000'],
      [123_456_789_012, '1234.56789012'],
      [99_999_999, '0.99999999'],
      [100_000_000, '1.00000000'],
      [2_100_000_000_000_000, '21000000.00000000'],
      [-1, '-0.00000001'],
      [-150_000_000, '-1.50000000'],
      [Number.MAX_SAFE_INTEGER, '90071992.54740991']
    ];
    for (const [satoshis, expected] of amounts) expect(text((writer) => writer.amount(satoshis))).to.equal(expected);
  });

  it('writes any amount and integer as exact arithmetic does', () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), (value) => {
        const [sign, digits] = [value < 0 ? '-' : '', String(Math.abs(value)).padStart(9, '0')];
        expect(text((writer) => writer.amount(value))).to.equal(`${sign}${digits.slice(0, -8)}.${digits.slice(-8)}`);
        expect(text((writer) => writer.integer(value))).to.equal(String(value));
      })
    );
  });

  it('writes any amount of eight bytes exactly', () => {
    fc.assert(
      fc.property(fc.oneof(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), fc.maxSafeInteger().map(BigInt)), (value) => {
        const bytes = Buffer.alloc(9);
        bytes.writeBigInt64LE(value, 1);
        const [sign, digits] = [value < 0n ? '-' : '', String(value < 0n ? -value : value).padStart(9, '0')];
        expect(text((writer) => writer.amountIn(bytes, 1))).to.equal(`${sign}${digits.slice(0, -8)}.${digits.slice(-8)}`);
      })
    );
  });

  it('writes integers at the limits of 32 bits', () => {
    for (const value of [0, 9, 10, 2 ** 31 - 1, 2 ** 31, 2 ** 31 + 9, 2 ** 32 - 1, 2 ** 32, 99_999_999_999])
      expect(text((writer) => writer.integer(value))).to.equal(String(value));
  });

  it('writes hex of any part, and hashes reversed', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 40, maxLength: 80 }), fc.nat(8), (data, start) => {
        const bytes = Buffer.from(data);
        expect(text((writer) => writer.hex(bytes))).to.equal(bytes.toString('hex'));
        expect(text((writer) => writer.hex(bytes, start, 30))).to.equal(bytes.toString('hex', start, 30));
        expect(text((writer) => writer.displayHex(bytes, start))).to.equal(
          Buffer.from(bytes.subarray(start, start + 32))
            .reverse()
            .toString('hex')
        );
      })
    );
  });

  it('writes the same hex whether or not digits were prepared, however it grows', () => {
    const part = fc.record({ before: fc.nat(40), start: fc.nat(90), length: fc.nat(60) });
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 150, maxLength: 150 }),
        fc.array(part),
        fc.nat(60),
        fc.nat(90),
        (data, parts, from, length) => {
          const bytes = Buffer.from(data);
          const write = (writer: TextWriter, prepared: boolean): void => {
            for (const { before, start, length: count } of parts) {
              if (prepared) runAtOnce(writer.prepareHex(bytes, from, from + length));
              writer.ascii(' '.repeat(before));
              writer.hex(bytes, start, start + count);
              writer.hex(bytes.subarray(start), 0, count);
              writer.hex(Buffer.from(bytes), start, start + count);
            }
          };
          expect(text((writer) => write(writer, true))).to.equal(text((writer) => write(writer, false)));
        }
      )
    );
  });

  it('removes the last characters, and repeats earlier text', () => {
    expect(
      text((writer) => {
        writer.ascii('abc,');
        writer.unwrite(1);
        writer.bytes(Buffer.from('[def]'), 1, 4);
        expect(writer.length).to.equal(6);
      })
    ).to.equal('abcdef');
  });

  it('writes 32 bits as eight hex digits, negative ones as they are stored', () => {
    const values: [number, string][] = [
      [1, '00000001'],
      [-1, 'ffffffff'],
      [-0x8000_0000, '80000000'],
      [0x2000_0000, '20000000'],
      [0xffff_fffe, 'fffffffe']
    ];
    for (const [value, expected] of values) expect(text((writer) => writer.hex32(value))).to.equal(expected);
  });

  it('appends pieces in order, however it grows', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme' })), (pieces) => {
        expect(text((writer) => pieces.forEach((piece) => writer.utf8(piece)))).to.equal(pieces.join(''));
      })
    );
    expect(
      text((writer) => {
        writer.ascii('OP_DUP');
        writer.char(0x20);
        writer.ascii('');
      })
    ).to.equal('OP_DUP ');
  });
});
