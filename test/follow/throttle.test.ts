import { expect } from 'chai';
import { describe, it } from 'mocha';
import { Throttle } from '../../lib/follow/throttle';

describe('the throttle of reports', () => {
  it('lets the first one through at once, and then one in each interval', () => {
    const throttle = new Throttle(1_000);
    expect([10, 1_009, 1_010, 1_500, 2_010].map((ms) => throttle.isDue(ms))).to.deep.equal([true, false, true, false, true]);
  });

  it('waits for a whole interval after a restart', () => {
    const throttle = new Throttle(1_000);
    throttle.restart(10);
    expect([1_000, 1_010].map((ms) => throttle.isDue(ms))).to.deep.equal([false, true]);
  });
});
