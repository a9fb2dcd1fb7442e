import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { readableRuns, safeText, textOfHex } from '../../lib/web/browser/parts/texts';
import { duration, relativeTime } from '../../lib/web/browser/parts/times';

const hexOf = (text: string): string => Buffer.from(text).toString('hex');

describe('texts of strangers', () => {
  it('show what cannot be seen, or turns the rest around, as dots', () => {
    expect(safeText('a\u0000b\u202ec\u2066d\u200be\ufefff\ud800g\u2028h\u{e0041}i')).to.equal('a·b·c·d·e·f·g·h·i');
    expect(safeText('Grüße, 世界 €')).to.equal('Grüße, 世界 €');
  });

  it('never have control characters or lone surrogates left', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(safeText(text)).not.to.match(/[\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069]/u);
      }),
      { numRuns: 30 }
    );
  });

  it('have no piles of marks that would be drawn over other lines', () => {
    expect(safeText(`Z${'\u0301'.repeat(60)}a`)).to.equal(`Z${'\u0301'.repeat(4)}·a`);
    expect(safeText('Việt שָׁלוֹם')).to.equal('Việt שָׁלוֹם');
  });

  it('are cut', () => {
    expect(safeText('abcdef', 3)).to.equal('abc…');
  });

  it('are read from hex if they are texts', () => {
    expect(textOfHex(hexOf('<b>hello</b>'))).to.equal('<b>hello</b>');
    expect(textOfHex('')).to.equal(undefined);
    expect(textOfHex('zz')).to.equal(undefined);
    expect(textOfHex('ff00fe01fd02')).to.equal(undefined);
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        textOfHex(Buffer.from(bytes).toString('hex'));
      })
    );
  });

  it('of coinbases are their readable runs', () => {
    expect(readableRuns(`03a1b2c3${hexOf('/slush/')}00ff${hexOf('abc')}00${hexOf('mined by')}`)).to.equal('/slush/ mined by');
  });
});

describe('times of the pages', () => {
  it('say how long ago something was', () => {
    expect([0, 59, 60, 3_600 * 5, 86_400 * 3].map((ago) => relativeTime(1_000_000 - ago, 1_000_000))).to.deep.equal([
      'just now',
      'just now',
      '1 minute ago',
      '5 hours ago',
      '3 days ago'
    ]);
  });

  it('say how long something takes', () => {
    expect([4.2, 61, 7_260, 200_000].map(duration)).to.deep.equal(['5 s', '2 min', '2 h 1 min', '2 d 7 h']);
  });
});
