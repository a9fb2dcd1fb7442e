import { createHash } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { fromDisplayHex, hash160, hash256, hash256Of, shortChecksum, toDisplayHex, writePairHash } from '../../lib/bitcoin/hash';

const native = (data: Uint8Array): Buffer => createHash('sha256').update(data).digest();
const bytes = fc.uint8Array({ maxLength: 300 }).map((data) => Buffer.from(data));

describe('hashes', () => {
  it('equal those of node:crypto for every length up to five blocks', () => {
    for (let length = 0; length <= 320; length++) {
      const data = Buffer.alloc(length, length * 7 + 1);
      const twice = native(native(data));
      expect(hash256(data).equals(twice), `${length} bytes`).to.equal(true);
      expect(shortChecksum(data), `${length} bytes`).to.equal(twice.readUInt32BE(0));
    }
  });

  it('equal those of node:crypto for any bytes', () => {
    fc.assert(
      fc.property(bytes, (data) => {
        expect(shortChecksum(data)).to.equal(native(native(data)).readUInt32BE(0));
        expect(hash256(data).equals(native(native(data)))).to.equal(true);
        expect(hash160(data).equals(createHash('ripemd160').update(native(data)).digest())).to.equal(true);
      })
    );
  });

  it('of two hashes are those of the hashes one after the other, wherever they lie', () => {
    const hash = fc.uint8Array({ minLength: 32, maxLength: 32 });
    fc.assert(
      fc.property(hash, hash, fc.nat({ max: 40 }), (left, right, gap) => {
        const to = Buffer.alloc(40, 7);
        writePairHash(Buffer.concat([Buffer.alloc(3), right, Buffer.alloc(gap), left]), 35 + gap, 3, to, 5);
        const expected = hash256(Buffer.concat([left, right]));
        expect(to).to.deep.equal(Buffer.concat([Buffer.alloc(5, 7), expected, Buffer.alloc(3, 7)]));
      })
    );
  });

  it('of parts equal those of the parts joined, also for large parts', () => {
    fc.assert(
      fc.property(fc.array(bytes), (parts) => {
        expect(hash256Of(...parts).equals(hash256(Buffer.concat(parts)))).to.equal(true);
      })
    );
    const large = Buffer.alloc(100_000, 5);
    expect(hash256Of(large, large).equals(hash256(Buffer.concat([large, large])))).to.equal(true);
  });

  it('are displayed in reverse and read back, in either case', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (data) => {
        const hash = Buffer.from(data);
        const text = toDisplayHex(hash);
        expect(text.slice(0, 2)).to.equal(hash.subarray(31).toString('hex'));
        expect(fromDisplayHex(text).equals(hash) && fromDisplayHex(text.toUpperCase()).equals(hash)).to.equal(true);
        expect(hash.equals(data)).to.equal(true);
      })
    );
  });

  it('are read from 64 hex digits and nothing else', () => {
    for (const text of ['', '0'.repeat(63), '0'.repeat(65), `${'0'.repeat(63)}g`, `${'0'.repeat(63)}\u0130`, `0x${'0'.repeat(62)}`])
      expect(() => fromDisplayHex(text), text).to.throw(RangeError, 'expected 64 hex digits');
  });
});
