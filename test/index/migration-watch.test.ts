import { expect } from 'chai';
import { describe, it } from 'mocha';
import { MigrationWatch } from '../../lib/index/progress/migration-watch';

describe('what is said of a migration', () => {
  const work = (text: string): object => ({ phase: 'loading', work: `migrating index, ${text}` });

  it('is its part, and speed and time left as soon as they are known', () => {
    const watch = new MigrationWatch(5_000);
    expect(watch.state({ part: 0, bytes: 0 }, 5_100)).to.deep.equal(work('0.0%'));
    expect(watch.state({ part: 0.125, bytes: 8_200_000 }, 7_000)).to.deep.equal(work('12.5%, 4.1 MB/s, 14 s left'));
  });

  it('counts the time from where an interrupted one goes on', () => {
    const watch = new MigrationWatch(0);
    expect(watch.state({ part: 0.5, bytes: 0 }, 2_000)).to.deep.equal(work('50.0%'));
    expect(watch.state({ part: 0.75, bytes: 1_000_000 }, 10_000)).to.deep.equal(work('75.0%, 0.1 MB/s, 10 s left'));
  });
});
