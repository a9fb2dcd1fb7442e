// The target of the next block, with the vectors of Bitcoin Core's own test (pow_tests.cpp), which are blocks of the main network.

import { expect } from 'chai';
import { describe, it } from 'mocha';
import { nextBits, retargetInterval } from '../../lib/bitcoin/retarget';
import { compactOf, targetOf } from '../../lib/bitcoin/work';

const header = (time: number, bits: number): Buffer => {
  const bytes = Buffer.alloc(80);
  bytes.writeUInt32LE(time, 68);
  bytes.writeUInt32LE(bits, 72);
  return bytes;
};

/** The bits after a period that began and ended at these times. */
const after = (first: number, height: number, last: number, bits: number): number =>
  nextBits('main', height + 1, last, (at) => header(at === height ? last : first, bits));

describe('the target of the next block', () => {
  it('follows the time that the last blocks took, within limits', () => {
    expect(after(1_261_130_161, 32_255, 1_262_152_739, 0x1d00_ffff)).to.equal(0x1d00_d86a);
    expect(after(1_231_006_505, 2_015, 1_233_061_996, 0x1d00_ffff)).to.equal(0x1d00_ffff);
    expect(after(1_279_008_237, 68_543, 1_279_297_671, 0x1c05_a3f4)).to.equal(0x1c01_68fd);
    expect(after(1_263_163_443, 46_367, 1_269_211_443, 0x1c38_7f6f)).to.equal(0x1d00_e1fd);
  });

  it('stays the same in between, and is the easiest after a break on test networks', () => {
    const chain = (at: number): Buffer => header(1_000 + at, at % 7 === 0 ? 0x1d00_ffff : 0x1c05_a3f4);
    expect(nextBits('main', 100, 9_999_999, chain)).to.equal(0x1c05_a3f4);
    expect(nextBits('test', 100, 9_999_999, chain)).to.equal(0x1d00_ffff);
    // Late is more than twenty minutes after the last block.
    expect([2_299, 2_300].map((time) => nextBits('test', 100, time, chain))).to.deep.equal([0x1c05_a3f4, 0x1d00_ffff]);
    // The last block was a late one.
    expect(nextBits('test', 99, 1_100, chain)).to.equal(0x1c05_a3f4);
    expect(nextBits('regtest', retargetInterval('regtest'), 0, () => header(5, 0x207f_ffff))).to.equal(0x207f_ffff);
  });

  it('has a compact form', () => {
    for (const bits of [0x1d00_ffff, 0x1c05_a3f4, 0x207f_ffff, 0x0300_8000 + 0x1_0000, 0x1700_ffff])
      expect(compactOf(targetOf(bits)), bits.toString(16)).to.equal(bits);
    expect(compactOf(0x80n)).to.equal(0x0200_8000);
  });
});
