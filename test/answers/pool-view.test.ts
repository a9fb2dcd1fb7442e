import { expect } from 'chai';
import { describe, it } from 'mocha';
import { PoolView } from '../../lib/answers/pool/pool-view';
import { caught } from '../support/expectations/caught';

describe('a view of the pool', () => {
  const pool = { revision: 1, size: 1 };

  function* slow(): Generator<void, number> {
    const { revision } = pool;
    const end = performance.now() + 2;
    while (performance.now() < end) yield;
    yield;
    return revision;
  }

  it('is made once for each state, and again for clients that ask after the pool has changed', async () => {
    let made = 0;
    const view = new PoolView(pool, () => {
      made++;
      return slow();
    });
    const get = async (): Promise<number> => view.get();
    const first = [get(), get()];
    const before = pool.revision++;
    const second = [get(), get()];
    expect(await Promise.all(first)).to.deep.equal([before, before]);
    expect(await Promise.all(second)).to.deep.equal([before + 1, before + 1]);
    expect(await view.get()).to.equal(before + 1);
    expect(made).to.equal(2);
  });

  it('may be out of date for a while if the pool is large, but not if it is small', async () => {
    let now = 0;
    const view = new PoolView(pool, slow, { lateMs: 10_000, now: () => now });
    const seen: number[] = [];
    for (const size of [5_000, 5_001]) {
      pool.size = size;
      pool.revision++;
      now += 10_000;
      const { revision } = pool;
      seen.push((await view.get()) - revision);
      pool.revision++;
      now += 9_999;
      seen.push((await view.get()) - revision);
      now += 1;
      seen.push((await view.get()) - revision);
    }
    expect(seen).to.deep.equal([0, 1, 1, 0, 0, 1]);
  });

  it('is made again after a failure', async () => {
    let fails = true;
    const view = new PoolView(pool, function* () {
      yield;
      if (fails) throw new RangeError('no');
      return 'made';
    });
    const get = async (): Promise<string> => view.get();
    const errors = await Promise.all([caught(get()), caught(get())]);
    expect(errors.map((error) => (error as Error).message)).to.deep.equal(['no', 'no']);
    fails = false;
    expect(await view.get()).to.equal('made');
  });
});
