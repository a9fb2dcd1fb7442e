import { expect } from 'chai';
import { describe, it } from 'mocha';
import { totalSubsidy } from '../../lib/bitcoin/subsidy';

const MAIN = 210_000;
const REGTEST = 150;

describe('the total that blocks may have created', () => {
  it('is 0 at the genesis block, whose output is not a coin, and grows by 50 bitcoins with each block after it', () => {
    expect([0, 1, 2, MAIN - 1].map((height) => totalSubsidy(height, MAIN))).to.deep.equal([0, 50e8, 100e8, (MAIN - 1) * 50e8]);
  });

  it('grows by half as much after every halving, in whole satoshis', () => {
    expect(totalSubsidy(MAIN, MAIN) - totalSubsidy(MAIN - 1, MAIN)).to.equal(25e8);
    expect(totalSubsidy(32 * MAIN, MAIN) - totalSubsidy(32 * MAIN - 1, MAIN)).to.equal(1);
    expect(totalSubsidy(REGTEST, REGTEST)).to.equal((REGTEST - 1) * 50e8 + 25e8);
  });

  it('stops growing a little below 21 million bitcoins', () => {
    for (const height of [33 * MAIN - 1, 33 * MAIN, 0xffff_ffff]) expect(totalSubsidy(height, MAIN)).to.equal(2_099_994_997_690_000);
  });
});
