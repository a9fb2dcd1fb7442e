import { expect } from 'chai';
import { beforeEach, describe, it } from 'mocha';
import { Pending } from '../../../lib/answers/updates/pending';
import { caught } from '../../support/expectations/caught';

const MOST = 3;

describe('what is pending for the next pass', () => {
  let wakes: number;
  let pending: Pending<number>;

  beforeEach(() => {
    wakes = 0;
    pending = new Pending<number>(MOST, { wake: () => wakes++ });
  });

  /** What a pass collects, all of which is handled. */
  async function passed(): Promise<number[]> {
    const found: number[] = [];
    await pending.collect(
      (item) => item,
      (collected) => {
        for (const [item] of collected) {
          found.push(item);
          pending.handled(item);
        }
        return Promise.resolve();
      }
    )();
    return found;
  }

  it('is collected once, whatever happens to it before, a limited number in each pass, and asks for passes until all is', async () => {
    for (const item of [1, 2, 3, 4, 2, 1]) pending.add(item);
    wakes = 0;
    expect([await passed(), wakes]).to.deep.equal([[1, 2, 3], 1]);
    expect([await passed(), wakes]).to.deep.equal([[4], 1]);
    expect(await passed()).to.deep.equal([]);
  });

  it('asks for a pass', () => {
    pending.add(1);
    expect(wakes).to.equal(1);
  });

  it('is pending until it is handled, and again if it changes before', async () => {
    pending.add(1);
    const handle = pending.collect(
      (item) => item,
      (collected) => {
        expect(pending.has(1)).to.equal(true);
        pending.add(1);
        for (const [item] of collected) pending.handled(item);
        return Promise.resolve();
      }
    );
    expect(pending.has(1)).to.equal(true);
    await handle();
    expect(pending.has(1)).to.equal(true);
    expect(await passed()).to.deep.equal([1]);
    expect(pending.has(1)).to.equal(false);
  });

  it('is collected again if it was not handled because of an error, unless it was deleted meanwhile', async () => {
    for (const item of [1, 2, 3]) pending.add(item);
    const handle = pending.collect(
      (item) => item,
      async () => {
        pending.handled(1);
        await Promise.resolve();
        pending.delete(3);
        throw new Error('a fault');
      }
    );
    expect(await caught(handle())).to.include({ message: 'a fault' });
    expect(await passed()).to.deep.equal([2]);
  });

  it('is not collected if it was deleted before', async () => {
    for (const item of [1, 2]) pending.add(item);
    pending.delete(1);
    expect(pending.has(1)).to.equal(false);
    expect(await passed()).to.deep.equal([2]);
  });
});
