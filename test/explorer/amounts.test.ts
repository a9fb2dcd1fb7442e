import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { amountLine, parseExactly, satsOf, satsOfBtc } from '../../lib/web/browser/parts/amounts';

const anyAmount = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n });

describe('amounts of the pages', () => {
  it('are shown with all decimals, or as whole satoshis', () => {
    expect(amountLine(123_456_789_012n, 'BTC')).to.equal('1,234.56789012 BTC');
    expect(amountLine(5_000_000_000n, 'BTC')).to.equal('50.00000000 BTC');
    expect(amountLine(-1n, 'BTC')).to.equal('−0.00000001 BTC');
    expect(amountLine(123_456_789n, 'sats')).to.equal('123,456,789 sats');
    expect(amountLine(1n, 'sats')).to.equal('1 sat');
  });

  it('are read from decimal texts without loss', () => {
    const shown = (sats: bigint): string => amountLine(sats, 'BTC').replaceAll(',', '').replace('−', '-').replace(' BTC', '');
    fc.assert(fc.property(anyAmount, (sats) => satsOfBtc(shown(sats)) === sats));
    expect(satsOfBtc('1e-8')).to.equal(1n);
    expect(satsOfBtc('20999999.97690000')).to.equal(2_099_999_997_690_000n);
    for (const text of ['', '1.', '.5', '0.000000001', '1e-9', 'NaN', '1,5']) expect(() => satsOfBtc(text), text).to.throw(RangeError);
  });

  it('are whole numbers, never rounded ones', () => {
    expect(satsOf(5)).to.equal(5n);
    expect(satsOf('123456789012345678901')).to.equal(123_456_789_012_345_678_901n);
    expect(() => satsOf(0.5)).to.throw(RangeError);
    expect(() => satsOf(2 ** 53)).to.throw(RangeError);
  });

  it('that a double cannot hold come out of JSON as texts', () => {
    expect(parseExactly('{"a":9007199254740993,"b":[-1234567890123456],"c":12,"d":"9007199254740993","e":0.1}')).to.deep.equal({
      a: '9007199254740993',
      b: ['-1234567890123456'],
      c: 12,
      d: '9007199254740993',
      e: 0.1
    });
    expect(parseExactly('{"value":0.10000000,"n":1,"text":"a \\" 0.5 \\\\"}', { decimals: true })).to.deep.equal({
      value: '0.10000000',
      n: 1,
      text: 'a " 0.5 \\'
    });
  });

  it('leave any other JSON as it is', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 3 }), (text) => {
        if (!/\d{16}|e/i.test(text.replace(/"(?:[^"\\]|\\.)*"/g, '""').replace(/true|false/g, '')))
          expect(parseExactly(text)).to.deep.equal(JSON.parse(text));
      })
    );
  });
});
