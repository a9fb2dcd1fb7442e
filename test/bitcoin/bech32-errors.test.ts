import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { locateErrors } from '../../lib/bitcoin/bech32-errors';
import { writeSegwitAddress } from '../../lib/bitcoin/bech32';
import { TextWriter } from '../../lib/bitcoin/text-writer';

const ALPHABET = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';

const address = fc.tuple(fc.constantFrom(0, 1, 16), fc.uint8Array({ minLength: 20, maxLength: 20 })).map(([version, program]) => {
  const writer = new TextWriter();
  writeSegwitAddress(writer, 'bc', version, Buffer.from(program));
  return { text: writer.toString(), name: version === 0 ? 'Bech32' : 'Bech32m' };
});

/** Writes another character at a place. */
const wrong = (text: string, place: number, by: number): string => {
  const symbol = ALPHABET.indexOf(text.charAt(place));
  return `${text.slice(0, place)}${ALPHABET.charAt((symbol + by) % 32)}${text.slice(place + 1)}`;
};

describe('errors in a bech32 text', () => {
  it('are found, one or two of them', () => {
    const change = fc.record({ at: fc.nat(37), by: fc.integer({ min: 1, max: 31 }) });
    fc.assert(
      fc.property(address, fc.uniqueArray(change, { minLength: 1, maxLength: 2, selector: ({ at }) => at }), ({ text, name }, changes) => {
        const places = changes.map(({ at }) => 3 + at).sort((a, b) => a - b);
        const changed = changes.reduce((left, { at, by }) => wrong(left, 3 + at, by), text);
        const found = locateErrors(changed);
        // Two errors may look like one or two of the other checksum.
        if (found.message === `Invalid ${name} checksum`) expect(found.places).to.deep.equal(places);
        else expect(changes).to.have.length(2);
      }),
      { numRuns: 50 }
    );
  });

  it('are said in the words of Bitcoin Core', () => {
    expect(locateErrors('bc1')).to.deep.equal({ message: 'Invalid separator position', places: [2] });
    expect(locateErrors('qqqq')).to.deep.equal({ message: 'Missing separator', places: [] });
    expect(locateErrors('bc1QqQq')).to.deep.equal({ message: 'Invalid character or mixed case', places: [3, 5] });
    expect(locateErrors(`bc1${'q'.repeat(90)}`)).to.deep.equal({ message: 'Bech32 string too long', places: [90, 91, 92] });
    expect(locateErrors('bc1qqqqqqqqqb')).to.deep.equal({ message: 'Invalid Base 32 character', places: [12] });
  });
});
