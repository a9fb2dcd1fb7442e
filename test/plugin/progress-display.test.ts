import { Writable } from 'node:stream';
import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { comparedPart } from '../../plugin/cli/index-commands/fresh-index';
import { ProgressDisplay } from '../../plugin/progress';

/** Collects what is written to standard error, which may be a terminal. */
class Written extends Writable {
  readonly columns = 100;
  text = '';

  constructor(readonly isTTY: boolean) {
    super();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}

function shown(isTTY: boolean, show: (display: ProgressDisplay) => void): string {
  const written = new Written(isTTY);
  const display = new ProgressDisplay(written as unknown as NodeJS.WriteStream); // has what is asked of one
  show(display);
  display.end();
  return written.text;
}

const pace = { blocksPerSecond: 1, bytesPerSecond: 41_200_000, coinsPerSecond: 310_000 };

describe('the progress display of the index tools', () => {
  it('is a bar for each piece of work in a terminal', () => {
    expect(
      shown(true, (display) => {
        display.checked({ done: 1, total: 4 });
      })
    ).to.match(/Checking \|.*\| 25%/);
    expect(
      shown(true, (display) => {
        display.note({ phase: 'copying', coins: 1, of: 4 });
      })
    ).to.match(/Copying coins \|.*\| 25% \| 1 of 4/);
    expect(
      shown(true, (display) => {
        display.note({ phase: 'indexing', height: 45, target: 90, secondsLeft: 61, pace });
      })
    ).to.match(/Indexing \|.*\| 50% \| block 45 of 90 \| 41.2 MB\/s, 310000 coins\/s \| 2 min left/);
    expect(
      shown(true, (display) => {
        display.compared(1_234, 0.25);
      })
    ).to.match(/Comparing \|.*\| 25% \| 1234 records/);
  });

  it('is a line elsewhere, but not for work that ends soon', () => {
    expect(
      shown(false, (display) => {
        display.note({ phase: 'copying', coins: 1, of: 4 });
      })
    ).to.equal('Copying coins of the node: 1 of 4 (25.0%).\n');
    expect(
      shown(false, (display) => {
        display.note({ phase: 'indexing', height: 45, target: 90, secondsLeft: 61, pace });
      })
    ).to.equal('Indexing: block 45 of 90 (50.0%), 41.2 MB/s, 310000 coins/s, 2 min left.\n');
    expect(
      shown(false, (display) => {
        display.noteScripts({ phase: 'sorting', done: 1, total: 4 });
        display.noteScripts({ phase: 'catching-up', height: 1, target: 4 });
      })
    ).to.equal('Filling the index by script, sorting 25%.\n');
    expect(
      shown(false, (display) => {
        display.checked({ done: 1, total: 4 });
        display.compared(1_234, 0.25);
      })
    ).to.equal('');
  });

  it('shows errors and warnings on separate lines', () => {
    for (const isTTY of [false, true])
      expect(
        shown(isTTY, (display) => {
          display.checked({ done: 1, total: 4 });
          display.logger.warning('Mind the gap.');
        })
      ).to.match(/(^|\n)Mind the gap\.\n/);
  });
});

describe('the estimated part of a comparison', () => {
  const TIP = 900_000;
  const kinds = { b: 32, d: 0, h: 0, l: 0, o: 2, p: 12 };
  const key = fc
    .tuple(fc.constantFrom(...(Object.keys(kinds) as (keyof typeof kinds)[])), fc.nat(TIP), fc.uint8Array({ minLength: 32, maxLength: 32 }))
    .map(([letter, height, hash]) => {
      const heightBytes = Buffer.alloc(4);
      heightBytes.writeUInt32BE(height);
      const rest =
        kinds[letter] >= 12
          ? Buffer.from(hash).subarray(0, kinds[letter])
          : Buffer.concat([heightBytes, Buffer.from(hash).subarray(0, kinds[letter])]);
      return Buffer.concat([Buffer.from(letter), rest]);
    });

  it('never decreases from one key to the next, and is between 0 and 1', () => {
    fc.assert(
      fc.property(key, key, (a, b) => {
        const [first, second] = a.compare(b) <= 0 ? [a, b] : [b, a];
        expect(comparedPart(first, TIP)).to.be.at.least(0).and.at.most(comparedPart(second, TIP));
        expect(comparedPart(second, TIP)).to.be.at.most(1);
      })
    );
  });

  it('is 0 before the first record of a block, and nearly 1 at the last', () => {
    expect(comparedPart(Buffer.from([0]), TIP)).to.equal(0);
    expect(comparedPart(Buffer.from('B'), TIP)).to.equal(0);
    expect(comparedPart(Buffer.concat([Buffer.from('p'), Buffer.alloc(12, 0xff)]), TIP)).to.be.within(0.99, 1);
  });
});
