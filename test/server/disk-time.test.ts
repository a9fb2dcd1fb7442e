import { expect } from 'chai';
import fc from 'fast-check';
import { beforeEach, describe, it } from 'mocha';
import { DiskTime } from '../../lib/server/bounds/disk-time';

describe('the time that requests wait for the disk', () => {
  let idleMs: number;
  let time: DiskTime;

  beforeEach(() => {
    idleMs = 1_000;
    time = new DiskTime(() => idleMs);
  });

  it('costs ten points a millisecond after the first ten milliseconds', () => {
    const end = time.begin();
    idleMs += 35;
    expect(end()).to.equal(250);
  });

  it('costs nothing while nobody waits, and for short waits', () => {
    time.begin()();
    idleMs += 5_000;
    const end = time.begin();
    idleMs += 10;
    expect(end()).to.equal(0);
  });

  it('is shared by those that wait at the same time', () => {
    const first = time.begin();
    idleMs += 100;
    const second = time.begin();
    idleMs += 200;
    expect(first()).to.equal((100 + 100 - 10) * 10);
    idleMs += 50;
    expect(second()).to.equal((100 + 50 - 10) * 10);
  });

  it('never costs all together more than what passed', () => {
    const step = fc.record({ wait: fc.nat(1_000), ends: fc.boolean(), which: fc.nat() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const [began, waiting] = [idleMs, [] as (() => number)[]];
        let points = 0;
        for (const { wait, ends, which } of steps) {
          idleMs += wait;
          if (!ends) waiting.push(time.begin());
          else if (waiting.length > 0) points += (waiting.splice(which % waiting.length, 1)[0] as () => number)();
        }
        for (const end of waiting) points += end();
        expect(points).to.be.at.most((idleMs - began) * 10 + 1e-6);
      })
    );
  });
});
