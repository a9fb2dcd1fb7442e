import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { doubleText, JsonWriter } from '../../lib/views/json-writer';

const text = (write: (writer: JsonWriter) => void): string => {
  const writer = new JsonWriter(1);
  write(writer);
  return writer.toString();
};

describe('doubleText', () => {
  it('prints as C prints %.16g', () => {
    const doubles: [number, string][] = [
      [4.6565423739069247e-10, '4.656542373906925e-10'],
      [1, '1'],
      [0, '0'],
      [0.5, '0.5'],
      [100, '100'],
      [16307.420938523983, '16307.42093852398'],
      [0.1, '0.1'],
      [1 / 3, '0.3333333333333333'],
      [2 / 3, '0.6666666666666666'],
      [0.0001, '0.0001'],
      [0.00001, '1e-05'],
      [0.999999999999999889, '0.9999999999999999'],
      [1e15, '1000000000000000'],
      [1e16, '1e+16'],
      [1.5e16, '1.5e+16'],
      [1.25e300, '1.25e+300'],
      [-0.25, '-0.25'],
      [12345.678, '12345.678'],
      [6704632680587.417, '6704632680587.417'],
      [2 ** 53, '9007199254740992']
    ];
    for (const [value, expected] of doubles) expect(doubleText(value), String(value)).to.equal(expected);
  });

  it('takes ties to the even digit, not up', () => {
    expect(doubleText(140000000000000.25)).to.equal('140000000000000.2');
    expect(doubleText(140000000000000.75)).to.equal('140000000000000.8');
    expect(doubleText(140000000000001.25)).to.equal('140000000000001.2');
    expect(doubleText(70368744177664.125)).to.equal('70368744177664.12');
    expect(doubleText(70368744177664.375)).to.equal('70368744177664.38');
  });

  it('keeps sixteen digits of any double', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, min: -1e300, max: 1e300 }), (value) => {
        const printed = doubleText(value);
        expect(Math.abs(Number(printed) - value)).to.be.at.most(Math.abs(value) * 1e-15);
        expect(printed).to.match(/^-?(0|[1-9]\d*)(\.\d*[1-9])?(e[+-]\d{2,3})?$/);
      })
    );
  });
});

describe('JsonWriter', () => {
  it('writes strings that read back as they were, escaped as UniValue does', () => {
    expect(text((writer) => writer.string('a"b\\c/\n\r\t\b\f\u0001\u001f\u007f\u0080\u009f…'))).to.equal(
      '"a\\"b\\\\c/\\n\\r\\t\\b\\f\\u0001\\u001f\\u007f\u0080\u009f…"'
    );
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (value) => {
        expect(JSON.parse(text((writer) => writer.string(value)))).to.equal(value);
      })
    );
  });

  it('writes work as 64 hex digits', () => {
    expect(text((writer) => writer.workString(0x5acn))).to.equal(`"${'5ac'.padStart(64, '0')}"`);
  });
});
