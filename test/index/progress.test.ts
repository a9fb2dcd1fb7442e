import { expect } from 'chai';
import { describe, it } from 'mocha';
import { Progress } from '../../lib/index/progress';

describe('the time that is left', () => {
  it('is not known in the first second, nor without a block', () => {
    const progress = new Progress(0, 0);
    expect(progress.secondsLeft(10, 100, 999)).to.equal(undefined);
    expect(progress.secondsLeft(0, 100, 5_000)).to.equal(undefined);
  });

  it('follows from the blocks per second so far', () => {
    expect(new Progress(100, 0).secondsLeft(110, 200, 2_000)).to.equal(18);
    expect(new Progress(0, 0).secondsLeft(100, 100, 2_000)).to.equal(0);
  });

  it('forgets a pace that is over', () => {
    const progress = new Progress(0, 0);
    let left: number | undefined;
    for (let second = 1; second <= 60; second++) left = progress.secondsLeft(1_000 * second, 100_000, 1_000 * second);
    expect(left).to.equal(40);
    for (let second = 61; second <= 120; second++) left = progress.secondsLeft(60_000 + second - 60, 100_000, 1_000 * second);
    expect(left).to.equal(100_000 - 60_060);
  });
});
