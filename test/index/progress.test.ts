import { expect } from 'chai';
import { describe, it } from 'mocha';
import { Progress, secondsLeft } from '../../lib/index/progress';

describe('the pace of the index', () => {
  it('is not known in the first second, nor without a block', () => {
    const progress = new Progress(0, 0);
    expect(progress.pace(10, 1_000, 999)).to.equal(undefined);
    expect(progress.pace(0, 0, 5_000)).to.equal(undefined);
  });

  it('is blocks and bytes per second so far', () => {
    expect(new Progress(100, 0).pace(110, 3_000, 2_000)).to.deep.equal({ blocksPerSecond: 5, bytesPerSecond: 1_500 });
  });

  it('forgets what is over', () => {
    const progress = new Progress(0, 0);
    let pace;
    for (let second = 1; second <= 60; second++) pace = progress.pace(1_000 * second, 1_000 * second, 1_000 * second);
    expect(pace).to.deep.equal({ blocksPerSecond: 1_000, bytesPerSecond: 1_000 });
    for (let second = 61; second <= 120; second++) pace = progress.pace(60_000 + second - 60, 60_000, 1_000 * second);
    expect(pace).to.deep.equal({ blocksPerSecond: 1, bytesPerSecond: 0 });
  });

  it('says how long it still takes', () => {
    expect(secondsLeft(110, 200, { blocksPerSecond: 5, bytesPerSecond: 0 })).to.equal(18);
    expect(secondsLeft(100, 100, { blocksPerSecond: 50, bytesPerSecond: 0 })).to.equal(0);
    expect(secondsLeft(99, 100, { blocksPerSecond: 50, bytesPerSecond: 0 })).to.equal(1);
  });
});
