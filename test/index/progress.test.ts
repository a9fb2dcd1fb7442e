import { expect } from 'chai';
import { describe, it } from 'mocha';
import { Progress, secondsLeft } from '../../lib/index/progress/pace';
import { backfillText, checkingText, duration, migratingText, percent } from '../../lib/index/progress/text';

describe('the pace of the index', () => {
  it('is not known in the first second, nor without a block', () => {
    const progress = new Progress(0, 0);
    expect(progress.pace({ height: 10, bytes: 1_000, coins: 5 }, 999)).to.equal(undefined);
    expect(progress.pace({ height: 0, bytes: 0, coins: 0 }, 5_000)).to.equal(undefined);
  });

  it('is blocks, bytes and coins per second so far', () => {
    expect(new Progress(100, 0).pace({ height: 110, bytes: 3_000, coins: 70 }, 2_000)).to.deep.equal({
      blocksPerSecond: 5,
      bytesPerSecond: 1_500,
      coinsPerSecond: 35
    });
  });

  it('forgets what is long past', () => {
    const progress = new Progress(0, 0);
    let pace;
    for (let second = 1; second <= 60; second++)
      pace = progress.pace({ height: 1_000 * second, bytes: 1_000 * second, coins: 2_000 * second }, 1_000 * second);
    expect(pace).to.deep.equal({ blocksPerSecond: 1_000, bytesPerSecond: 1_000, coinsPerSecond: 2_000 });
    for (let second = 61; second <= 120; second++)
      pace = progress.pace({ height: 60_000 + second - 60, bytes: 60_000, coins: 120_000 }, 1_000 * second);
    expect(pace).to.deep.equal({ blocksPerSecond: 1, bytesPerSecond: 0, coinsPerSecond: 0 });
  });

  it('tells the time left', () => {
    expect(secondsLeft(110, 200, { blocksPerSecond: 5, bytesPerSecond: 0, coinsPerSecond: 0 })).to.equal(18);
    expect(secondsLeft(100, 100, { blocksPerSecond: 50, bytesPerSecond: 0, coinsPerSecond: 0 })).to.equal(0);
    expect(secondsLeft(99, 100, { blocksPerSecond: 50, bytesPerSecond: 0, coinsPerSecond: 0 })).to.equal(1);
  });
});

describe('the text for a migration', () => {
  /** The texts of reports of a migration that started at a time. */
  const texts = (startedMs: number, reports: readonly (readonly [part: number, bytes: number, ms: number])[]): string[] => {
    const way = new Progress(reports[0]?.[0] ?? 0, startedMs);
    return reports.map(([part, bytes, ms]) => migratingText(part, way.pace({ height: part, bytes, coins: 0 }, ms)));
  };

  it('has its part, and speed and time left as soon as they are known', () => {
    expect(
      texts(5_000, [
        [0, 0, 5_100],
        [0.125, 8_200_000, 7_000]
      ])
    ).to.deep.equal(['migrating index, 0.0%', 'migrating index, 12.5%, 4.1 MB/s, 14 s left']);
  });

  it('counts the time from where an interrupted one continues', () => {
    expect(
      texts(0, [
        [0.5, 0, 2_000],
        [0.75, 1_000_000, 10_000]
      ])
    ).to.deep.equal(['migrating index, 50.0%', 'migrating index, 75.0%, 0.1 MB/s, 10 s left']);
  });
});

describe('progress in words', () => {
  it('rounds times up', () => {
    expect([0, 0.2, 59, 60, 61, 3_540, 3_541, 12_000].map(duration)).to.deep.equal([
      '0 s',
      '1 s',
      '59 s',
      '1 min',
      '2 min',
      '59 min',
      '1 h 0 min',
      '3 h 20 min'
    ]);
  });

  it('has all only when nothing is left, and none of nothing', () => {
    expect([percent(0, 0), percent(0, 1), percent(9_999, 10_000), percent(1, 1)]).to.deep.equal(['0.0%', '0.0%', '99.9%', '100.0%']);
    expect(backfillText({ height: 100, from: 99 })).to.equal('0.0% (height 100)');
    expect(backfillText({ height: 50, from: 99 })).to.equal('50.0% (height 50)');
    expect(backfillText({ height: 0, from: 99 })).to.equal('100.0% (height 0)');
  });

  it('counts gigabytes as disks are sold', () => {
    expect(checkingText({ done: 3_200_000_000, total: 12_000_000_000 })).to.equal(
      'checking the files of the index, 3.2 of 12.0 GB (26.6%)'
    );
  });
});
