import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { hexLine } from '../../lib/views/hex';

describe('hexLine', () => {
  it('writes any bytes as lowercase hex and a line feed', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), fc.nat(7), (bytes, start) => {
      const view = Buffer.from(bytes).subarray(start);
      expect(hexLine(view).toString()).to.equal(`${view.toString('hex')}\n`);
    }));
  });

  it('writes nothing as a line feed alone', () => {
    expect(hexLine(Buffer.alloc(0)).toString()).to.equal('\n');
  });
});
