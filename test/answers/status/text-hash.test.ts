import { hash } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { TextHash } from '../../../lib/answers/status/text-hash';

describe('the hash of a text that grows', () => {
  const pieces = fc.array(
    fc.nat({ max: 700 }).map((length) => 'a line '.repeat(100).slice(0, length)),
    { maxLength: 8 }
  );

  it('is the hash of all pieces, short or long, whatever is appended to earlier states', () => {
    fc.assert(
      fc.property(pieces, fc.nat({ max: 8 }), (all, at) => {
        const before = all.slice(0, at).reduce((text, piece) => text.plus(Buffer.from(piece)), TextHash.EMPTY);
        const whole = all.slice(at).reduce((text, piece) => text.plus(Buffer.from(piece)), before);
        expect(whole.digest()).to.equal(hash('sha256', all.join(''), 'binary'));
        expect(before.digest()).to.equal(hash('sha256', all.slice(0, at).join(''), 'binary'));
        expect(whole.isEmpty).to.equal(all.join('') === '');
      })
    );
  });
});
