import { expect } from 'chai';
import { beforeEach, describe, it } from 'mocha';
import { RollingFloor } from '../../lib/policy/rolling-floor';

const HOUR = 3_600;
const START = 1_800_000_000;

describe('what a pool that was full asks for', () => {
  let floor: RollingFloor;

  beforeEach(() => {
    floor = new RollingFloor(100);
  });

  it('is nothing before something was dropped', () => {
    expect(floor.rate(1, START)).to.equal(0);
    floor.blockCame(START);
    expect(floor.rate(1, START + HOUR)).to.equal(0);
  });

  it('is the highest rate that was dropped, and the incremental rate', () => {
    for (const rate of [900, 700]) floor.evicted(rate);
    expect(floor.rate(1, START)).to.equal(1_000);
  });

  it('does not fall before a block has come', () => {
    floor.evicted(900);
    expect(floor.rate(0, START + 100 * HOUR)).to.equal(1_000);
  });

  for (const [fullness, hours] of [
    [1, 12],
    [0.5, 12],
    [0.49, 6],
    [0.25, 6],
    [0.24, 3],
    [0, 3]
  ] as const)
    it(`halves in ${hours} hours when ${100 * fullness} % of the pool is used`, () => {
      floor.evicted(7_900);
      floor.blockCame(START);
      expect(floor.rate(fullness, START + 10)).to.equal(8_000);
      expect(floor.rate(fullness, START + hours * HOUR)).to.be.closeTo(4_000, 1e-6);
      expect(floor.rate(fullness, START + 3 * hours * HOUR)).to.be.closeTo(1_000, 1e-6);
    });

  it('is not below the incremental rate, and nothing once it would be less than half of that', () => {
    floor.evicted(0);
    floor.blockCame(START);
    expect(floor.rate(1, START + 12 * HOUR)).to.equal(100);
    expect(floor.rate(1, START + 13 * HOUR)).to.equal(0);
  });

  it('is always a whole number, as it is shown', () => {
    floor.evicted(7_000);
    floor.blockCame(START);
    for (let at = START; at < START + HOUR; at += 60) expect(floor.rate(1, at) % 1).to.equal(0);
    expect(floor.rate(1, START + HOUR)).to.be.closeTo(7_100 / 2 ** (1 / 12), 0.5);
  });

  it('goes on falling when no higher rate is dropped again', () => {
    floor.evicted(900);
    floor.blockCame(START);
    floor.evicted(900);
    expect(floor.rate(1, START + 12 * HOUR)).to.equal(500);
  });

  it('waits for another block after something was dropped again', () => {
    floor.evicted(900);
    floor.blockCame(START);
    floor.evicted(1_900);
    expect(floor.rate(1, START + 100 * HOUR)).to.equal(2_000);
  });
});
