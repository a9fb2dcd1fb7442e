import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { hexLine } from '../../lib/views/hex';
import { finish } from '../support/expectations/finish';

describe('hexLine', () => {
  it('writes any bytes as lowercase hex and a line feed', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.nat(7), (bytes, start) => {
        const view = Buffer.from(bytes).subarray(start);
        expect(finish(hexLine(view)).toString()).to.equal(`${view.toString('hex')}\n`);
      })
    );
  });

  it('writes only a line feed for no bytes', () => {
    expect(finish(hexLine(Buffer.alloc(0))).toString()).to.equal('\n');
  });

  it('yields within long bytes, and writes all their digits', () => {
    const bytes = Buffer.from(Uint8Array.from({ length: 300_001 }, (_, i) => i * 31));
    const view = hexLine(bytes);
    expect(view.next().done).to.equal(false);
    expect(finish(view).toString()).to.equal(`${bytes.toString('hex')}\n`);
  });
});
