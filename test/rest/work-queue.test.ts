import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { ClientGoneError, RestError } from '../../lib/rest/errors';
import { WorkQueue } from '../../lib/rest/work-queue';
import { caught } from '../support/caught';

/** Work that ends when it is told to. */
class Job {
  readonly isGone: boolean = false;
  started = false;
  finish: (value: string) => void = () => undefined;
  fail: (error: Error) => void = () => undefined;

  readonly work = (): Promise<string> => {
    this.started = true;
    return new Promise((resolve, reject) => {
      this.finish = resolve;
      this.fail = reject;
    });
  };
}

class ImpatientJob extends Job {
  override isGone = false;
}

const here = { isGone: false };

describe('the work queue', () => {
  it('answers work that needs no waiting without a promise', () => {
    expect(new WorkQueue(1, 1).run(here, () => 'done')).to.equal('done');
  });

  it('hands the client to the work', () => {
    expect(new WorkQueue(1, 1).run({ isGone: false, name: 'me' }, ({ name }) => name)).to.equal('me');
  });

  it('works on as many as it has slots, and lets the next in when one is done', async () => {
    const queue = new WorkQueue(2, 2);
    const jobs = [new Job(), new Job(), new Job()] as const;
    const results = jobs.map((job) => Promise.resolve(queue.run(job, job.work)));
    expect(jobs.map(({ started }) => started)).to.deep.equal([true, true, false]);
    jobs[1].finish('second');
    expect(await results[1]).to.equal('second');
    await new Promise(setImmediate);
    expect(jobs[2].started).to.equal(true);
    jobs[0].finish('first');
    jobs[2].finish('third');
    expect(await Promise.all(results)).to.deep.equal(['first', 'second', 'third']);
  });

  it('refuses what its queue does not hold, with the message of the contract', async () => {
    const queue = new WorkQueue(1, 1);
    const [first, second, third] = [new Job(), new Job(), new Job()];
    const results = [queue.run(first, first.work), queue.run(second, second.work)];
    const refused = await caught(Promise.resolve(queue.run(third, third.work)));
    expect(refused).to.be.instanceOf(RestError).with.property('status', 500);
    expect(refused).to.have.property('message', 'Work queue depth exceeded');
    expect(third.started).to.equal(false);
    first.finish('first');
    await results[0];
    await new Promise(setImmediate);
    second.finish('second');
    expect(await results[1]).to.equal('second');
  });

  it('frees the slot of work that fails, at once or later', async () => {
    const queue = new WorkQueue(1, 1);
    expect(() => queue.run(here, () => { throw new Error('at once'); })).to.throw('at once');
    const job = new Job();
    const result = queue.run(job, job.work);
    job.fail(new Error('later'));
    expect(await caught(Promise.resolve(result))).to.have.property('message', 'later');
    expect(queue.run(here, () => 'next')).to.equal('next');
  });

  it('skips clients that left before their turn', async () => {
    const queue = new WorkQueue(1, 3);
    const [first, gone, last] = [new Job(), new ImpatientJob(), new Job()];
    const results = [first, gone, last].map((job) => queue.run(job, job.work));
    gone.isGone = true;
    first.finish('first');
    expect(await caught(Promise.resolve(results[1]))).to.be.instanceOf(ClientGoneError);
    expect(gone.started).to.equal(false);
    expect(last.started).to.equal(true);
    last.finish('last');
    expect(await results[2]).to.equal('last');
  });

  it('gives the places of clients that left to others at once', async () => {
    const queue = new WorkQueue(1, 2);
    const [working, gone, waiting, next] = [new Job(), new ImpatientJob(), new Job(), new Job()];
    const results = [working, gone, waiting].map((job) => queue.run(job, job.work));
    gone.isGone = true;
    results.push(queue.run(next, next.work));
    expect(await caught(Promise.resolve(results[1]))).to.be.instanceOf(ClientGoneError);
    expect(await caught(Promise.resolve(queue.run(here, () => 'one more')))).to.have.property('message', 'Work queue depth exceeded');
    for (const job of [working, waiting, next]) {
      job.finish('in turn');
      await new Promise(setImmediate);
    }
    expect(await Promise.all([results[0], results[2], results[3]])).to.deep.equal(['in turn', 'in turn', 'in turn']);
  });

  it('refuses those who wait when it is closed, and everybody after them', async () => {
    const queue = new WorkQueue(1, 1);
    const [working, waiting] = [new Job(), new Job()];
    const results = [queue.run(working, working.work), queue.run(waiting, waiting.work)];
    queue.close();
    expect(await caught(Promise.resolve(results[1]))).to.be.instanceOf(RestError).with.property('status', 503);
    expect(() => queue.run(here, () => 'late')).to.throw(RestError, 'shutting down');
    working.finish('done');
    expect(await results[0]).to.equal('done');
  });

  it('never works on more than it has slots, answers everybody once, and is empty in the end', async () => {
    const rounds = fc.array(fc.nat({ max: 3 }), { minLength: 1, maxLength: 60 });
    await fc.assert(fc.asyncProperty(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 8 }), rounds, async (slots, depth, delays) => {
      const queue = new WorkQueue(slots, depth);
      let [busy, most, refused] = [0, 0, 0];
      const work = async (delay: number): Promise<void> => {
        most = Math.max(most, ++busy);
        for (let i = 0; i < delay; i++) await new Promise(setImmediate);
        busy--;
      };
      await Promise.all(delays.map(async (delay) => {
        if (delay === 0) await new Promise(setImmediate);
        await Promise.resolve(queue.run(here, () => delay === 3 ? undefined : work(delay))).catch(() => { refused++; });
      }));
      expect(most).to.be.at.most(slots);
      expect(busy).to.equal(0);
      expect(refused).to.be.at.most(Math.max(0, delays.length - slots - depth));
      expect(queue.run(here, () => 'free')).to.equal('free');
    }), { numRuns: 50 });
  });
});
