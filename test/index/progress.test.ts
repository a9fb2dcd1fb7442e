import { expect } from 'chai';
import { describe, it } from 'mocha';
import { Progress, secondsLeft } from '../../lib/index/progress/pace';

describe('the pace of the index', () => {
  it('is not known in the first second, nor without a block', () => {
    const progress = new Progress(0, 0);
    expect(progress.pace({ height: 10, bytes: 1_000, coins: 5 }, 999)).to.equal(undefined);
    expect(progress.pace({ height: 0, bytes: 0, coins: 0 }, 5_000)).to.equal(undefined);
  });

  it('is blocks, bytes and coins per second so far', () => {
    expect(new Progress(100, 0).pace({ height: 110, bytes: 3_000, coins: 70 }, 2_000)).to.deep.equal({ blocksPerSecond: 5, bytesPerSecond: 1_500, coinsPerSecond: 35 });
  });

  it('forgets what is over', () => {
    const progress = new Progress(0, 0);
    let pace;
    for (let second = 1; second <= 60; second++) pace = progress.pace({ height: 1_000 * second, bytes: 1_000 * second, coins: 2_000 * second }, 1_000 * second);
    expect(pace).to.deep.equal({ blocksPerSecond: 1_000, bytesPerSecond: 1_000, coinsPerSecond: 2_000 });
    for (let second = 61; second <= 120; second++) pace = progress.pace({ height: 60_000 + second - 60, bytes: 60_000, coins: 120_000 }, 1_000 * second);
    expect(pace).to.deep.equal({ blocksPerSecond: 1, bytesPerSecond: 0, coinsPerSecond: 0 });
  });

  it('says how long it still takes', () => {
    expect(secondsLeft(110, 200, { blocksPerSecond: 5, bytesPerSecond: 0, coinsPerSecond: 0 })).to.equal(18);
    expect(secondsLeft(100, 100, { blocksPerSecond: 50, bytesPerSecond: 0, coinsPerSecond: 0 })).to.equal(0);
    expect(secondsLeft(99, 100, { blocksPerSecond: 50, bytesPerSecond: 0, coinsPerSecond: 0 })).to.equal(1);
  });
});
