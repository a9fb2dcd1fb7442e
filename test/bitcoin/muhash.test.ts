import { expect } from 'chai';
import * as fc from 'fast-check';
import { describe, it } from 'mocha';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { MuHash } from '../../lib/bitcoin/muhash';

/** Elements of Bitcoin Core's test (src/test/crypto_tests.cpp): a number in the first of 32 bytes. */
const element = (number: number): Buffer => Buffer.concat([Buffer.of(number), Buffer.alloc(31)]);

function hashOf(elements: readonly Uint8Array[]): MuHash {
  const set = new MuHash();
  for (const each of elements) set.insert(each);
  return set;
}

describe('MuHash3072', () => {
  it('hashes no element as Bitcoin Core hashes an empty set', () => {
    expect(toDisplayHex(new MuHash().digest())).to.equal('dd5ad2a105c2d29495f577245c357409002329b9f4d6182c0af3dc2f462555c8');
  });

  it('is the same in any order, and when the parts are made separately', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 80 }), { minLength: 1, maxLength: 12 }), fc.nat(12), (elements, cut) => {
        const whole = hashOf(elements).digest();
        expect(hashOf([...elements].reverse()).digest()).to.deep.equal(whole);
        const first = hashOf(elements.slice(0, cut));
        first.combine(hashOf(elements.slice(cut)).part);
        expect(first.digest()).to.deep.equal(whole);
      }),
      { numRuns: 30 }
    );
  });

  it('counts an element that is there twice', () => {
    expect(hashOf([element(1)]).digest()).not.to.deep.equal(hashOf([element(1), element(1)]).digest());
  });
});
