import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { rustDoubleText } from '../../../lib/views/esplora/double';

describe('rustDoubleText', () => {
  it('writes doubles as Rust does', () => {
    const texts: [number, string][] = [
      [0, '0.0'],
      [1, '1.0'],
      [-1.5, '-1.5'],
      [0.1, '0.1'],
      [120, '120.0'],
      [4.656542373906925e-10, '4.656542373906925e-10'],
      [0xffff / 0x7fffff / 2 ** 24, '4.6565423739069247e-10'],
      [126271255279306.97, '126271255279306.97'],
      [0.00001234, '0.00001234'],
      [0.00001, '0.00001'],
      [0.000001, '1e-6'],
      [0.0000012, '1.2e-6'],
      [1e15, '1000000000000000.0'],
      [1e16, '1e16'],
      [1.234e33, '1.234e33'],
      [5e-324, '5e-324'],
      [1.7976931348623157e308, '1.7976931348623157e308']
    ];
    for (const [value, text] of texts) expect(rustDoubleText(value)).to.equal(text);
  });

  it('is read as the same double, and never as an integer', () => {
    fc.assert(
      fc.property(fc.double({ noDefaultInfinity: true, noNaN: true }), (value) => {
        const text = rustDoubleText(value);
        expect(Number(text)).to.equal(value === 0 ? 0 : value);
        expect(JSON.parse(text)).to.equal(value === 0 ? 0 : value);
        expect(text).to.match(/[.e]/);
      })
    );
  });
});
