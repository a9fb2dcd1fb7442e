import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { HttpError } from '../../lib/server/errors';
import { WorkQueue, type Lane } from '../../lib/server/work/work-queue';
import { ClientGoneError } from '../../lib/turns/client';
import { caught } from '../support/expectations/caught';

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
  it('hands the client to the work, and returns its result', async () => {
    expect(await new WorkQueue(1, 1).run({ isGone: false, name: 'me' }, ({ name }) => Promise.resolve(name), 'small')).to.equal('me');
  });

  it('refuses no requests that come together and do not have to wait', async () => {
    const queue = new WorkQueue(2, 1);
    const results = Array.from({ length: 100 }, (_, i) => queue.run(here, () => Promise.resolve(i), i % 3 === 0 ? 'heavy' : 'small'));
    expect(await Promise.all(results)).to.deep.equal(Array.from({ length: 100 }, (_, i) => i));
  });

  it('works on as many requests as it has slots, and starts the next when one is done', async () => {
    const queue = new WorkQueue(2, 2);
    const jobs = [new Job(), new Job(), new Job()] as const;
    const results = jobs.map((job) => queue.run(job, job.work, 'small'));
    expect(jobs.map(({ started }) => started)).to.deep.equal([true, true, false]);
    jobs[1].finish('second');
    expect(await results[1]).to.equal('second');
    await new Promise(setImmediate);
    expect(jobs[2].started).to.equal(true);
    jobs[0].finish('first');
    jobs[2].finish('third');
    expect(await Promise.all(results)).to.deep.equal(['first', 'second', 'third']);
  });

  it('refuses what its queue does not hold, with Bitcoin Core’s message', async () => {
    const queue = new WorkQueue(1, 1);
    const [first, second, third] = [new Job(), new Job(), new Job()];
    const results = [queue.run(first, first.work, 'small'), queue.run(second, second.work, 'small')];
    const refused = await caught(queue.run(third, third.work, 'small'));
    expect(refused).to.be.instanceOf(HttpError).with.property('status', 500);
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
    expect(
      await caught(
        queue.run(
          here,
          () => {
            throw new Error('at once');
          },
          'small'
        )
      )
    ).to.have.property('message', 'at once');
    const job = new Job();
    const result = queue.run(job, job.work, 'small');
    job.fail(new Error('later'));
    expect(await caught(result)).to.have.property('message', 'later');
    expect(await queue.run(here, () => Promise.resolve('next'), 'small')).to.equal('next');
  });

  it('gives a free slot to heavy work that comes while other heavy work begins, without waiting for the end of that', async () => {
    const queue = new WorkQueue(3, 3);
    const [first, second, begins, comes] = [new Job(), new Job(), new Job(), new Job()];
    const results = [first, second, begins].map((job) => queue.run(job, job.work, 'heavy'));
    expect(begins.started).to.equal(false);
    for (const [i, job] of [first, second].entries()) {
      job.finish('done');
      await results[i];
    }
    results.push(queue.run(comes, comes.work, 'heavy'));
    expect([begins.started, comes.started]).to.deep.equal([false, false]);
    for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate);
    expect([begins.started, comes.started]).to.deep.equal([true, true]);
    for (const job of [begins, comes]) job.finish('done');
    expect(await Promise.all(results)).to.deep.equal(Array(4).fill('done'));
  });

  it('skips clients that left before their turn', async () => {
    const queue = new WorkQueue(1, 3);
    const [first, gone, last] = [new Job(), new ImpatientJob(), new Job()];
    const results = [first, gone, last].map((job) => queue.run(job, job.work, 'small'));
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
    const results = [working, gone, waiting].map((job) => queue.run(job, job.work, 'small'));
    gone.isGone = true;
    results.push(queue.run(next, next.work, 'small'));
    expect(await caught(Promise.resolve(results[1]))).to.be.instanceOf(ClientGoneError);
    expect(await caught(queue.run(here, () => Promise.resolve('one more'), 'small'))).to.have.property(
      'message',
      'Work queue depth exceeded'
    );
    for (const job of [working, waiting, next]) {
      job.finish('in turn');
      await new Promise(setImmediate);
    }
    expect(await Promise.all([results[0], results[2], results[3]])).to.deep.equal(['in turn', 'in turn', 'in turn']);
  });

  it('refuses all waiting requests when it is closed, and all later ones', async () => {
    const queue = new WorkQueue(1, 1);
    const [working, waiting] = [new Job(), new Job()];
    const results = [queue.run(working, working.work, 'small'), queue.run(waiting, waiting.work, 'small')];
    queue.close();
    expect(await caught(Promise.resolve(results[1])))
      .to.be.instanceOf(HttpError)
      .with.property('status', 503);
    expect(await caught(queue.run(here, () => Promise.resolve('late'), 'small')))
      .to.be.instanceOf(HttpError)
      .with.property('message')
      .that.includes('shutting down');
    working.finish('done');
    expect(await results[0]).to.equal('done');
  });

  describe('with heavy work', () => {
    const run = (queue: WorkQueue, job: Job, lane: Lane): Promise<string> => queue.run(job, job.work, lane);
    const started = (jobs: readonly Job[]): boolean[] => jobs.map((job) => job.started);
    const turn = async (): Promise<void> => {
      for (let i = 0; i < 2; i++) await new Promise(setImmediate);
    };

    it('begins what waited in turns of its own, also when nothing of it takes time', async () => {
      const queue = new WorkQueue(1, 10);
      let turns = 0;
      let isOver = false;
      const next = (): void => {
        turns++;
        if (!isOver) setImmediate(next);
      };
      setImmediate(next);
      const began = await Promise.all(Array.from({ length: 10 }, () => queue.run(here, () => Promise.resolve(turns), 'heavy')));
      isOver = true;
      expect(new Set(began).size).to.equal(10);
    });

    it('begins in the order in which it came, also when several slots become free in one turn', async () => {
      const queue = new WorkQueue(3, 10);
      const began: string[] = [];
      const note = (name: string) => (): Promise<void> => Promise.resolve(void began.push(name));
      const holders = [new Job(), new Job()] as const;
      const held = holders.map((job) => run(queue, job, 'heavy'));
      const waited = queue.run(here, note('waited'), 'heavy');
      for (const job of holders) job.finish('done');
      await Promise.all(held);
      const later = [queue.runAtOnce(here, note('second'), 'heavy'), queue.run(here, note('third'), 'heavy')];
      await Promise.all([waited, ...later]);
      expect(began).to.deep.equal(['waited', 'second', 'third']);
    });

    it('leaves the last slot to small requests', async () => {
      const queue = new WorkQueue(3, 3);
      const jobs = [new Job(), new Job(), new Job()] as const;
      const results = jobs.map((job) => run(queue, job, 'heavy'));
      expect(started(jobs)).to.deep.equal([true, true, false]);
      expect(await queue.run(here, () => Promise.resolve('small'), 'small')).to.equal('small');
      await turn();
      expect(jobs[2].started).to.equal(false);
      jobs[0].finish('one');
      await turn();
      expect(jobs[2].started).to.equal(true);
      for (const job of jobs) job.finish('done');
      expect(await Promise.all(results)).to.deep.equal(['one', 'done', 'done']);
    });

    it('works on a heavy request if there is only one slot', async () => {
      expect(await new WorkQueue(1, 1).run(here, () => Promise.resolve('heavy'), 'heavy')).to.equal('heavy');
    });

    it('never refuses a small request because of heavy ones: the heavy one that came last gives up its place', async () => {
      const queue = new WorkQueue(1, 2);
      const [working, older, younger, small] = [new Job(), new Job(), new Job(), new Job()];
      const results = [working, older, younger].map((job) => run(queue, job, 'heavy'));
      const waiting = run(queue, small, 'small');
      const displaced = await caught(Promise.resolve(results[2]));
      expect(displaced).to.be.instanceOf(HttpError).with.property('status', 500);
      expect(displaced).to.have.property('message', 'Work queue depth exceeded');
      expect(await caught(run(queue, new Job(), 'heavy'))).to.have.property('message', 'Work queue depth exceeded');
      for (const job of [working, small, older]) {
        job.finish('in turn');
        await turn();
      }
      expect(await Promise.all([results[0], waiting, results[1]])).to.deep.equal(['in turn', 'in turn', 'in turn']);
      expect(younger.started).to.equal(false);
    });

    it('refuses a small request when small ones fill the queue', async () => {
      const queue = new WorkQueue(1, 1);
      const [heavy, small] = [new Job(), new Job()];
      const results = [run(queue, heavy, 'heavy'), run(queue, small, 'small')];
      expect(await caught(run(queue, new Job(), 'small'))).to.have.property('message', 'Work queue depth exceeded');
      heavy.finish('heavy');
      await turn();
      small.finish('small');
      expect(await Promise.all(results)).to.deep.equal(['heavy', 'small']);
    });

    it('takes turns when both wait for the only slot', async () => {
      const queue = new WorkQueue(1, 6);
      const order: string[] = [];
      const first = new Job();
      const results = [run(queue, first, 'heavy')];
      for (const lane of ['heavy', 'heavy', 'small', 'small'] as const)
        results.push(
          queue.run(
            here,
            () => {
              order.push(lane);
              return Promise.resolve(lane);
            },
            lane
          )
        );
      first.finish('first');
      await Promise.all(results);
      expect(order).to.deep.equal(['small', 'heavy', 'small', 'heavy']);
    });
  });

  it('lets patient callers wait beyond its places, which they neither take nor give up', async () => {
    const queue = new WorkQueue(1, 1);
    const order: string[] = [];
    const run = (name: string, patience: 'bounded' | 'patient'): Promise<void> =>
      queue.run(
        here,
        async () => {
          order.push(name);
          await new Promise(setImmediate);
        },
        'heavy',
        patience
      );
    const runs = [run('first', 'patient'), run('a', 'patient'), run('b', 'patient'), run('bounded', 'bounded')];
    // The bounded heavy request gives up the only place to the small one.
    const small = queue.run(here, () => Promise.resolve(order.push('small')), 'small');
    const outcomes = await Promise.allSettled([...runs, small]);
    expect(outcomes.map(({ status }) => status)).to.deep.equal(['fulfilled', 'fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
    expect(order).to.have.members(['first', 'small', 'a', 'b']);
  });

  it('never works on more requests than it has slots, answers each once, and is empty in the end', async () => {
    const lane = fc.constantFrom<Lane>('small', 'heavy');
    const rounds = fc.array(fc.tuple(fc.nat({ max: 3 }), lane), { minLength: 1, maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 8 }), rounds, async (slots, depth, requests) => {
        const queue = new WorkQueue(slots, depth);
        const busy = { small: 0, heavy: 0 };
        const most = { all: 0, heavy: 0 };
        const refused = { small: 0, heavy: 0 };
        const work = async (delay: number, which: Lane): Promise<void> => {
          busy[which]++;
          most.all = Math.max(most.all, busy.small + busy.heavy);
          most.heavy = Math.max(most.heavy, busy.heavy);
          for (let i = 0; i < delay; i++) await new Promise(setImmediate);
          busy[which]--;
        };
        await Promise.all(
          requests.map(async ([delay, which]) => {
            if (delay === 0) await new Promise(setImmediate);
            await queue
              .run(here, () => (delay === 3 ? Promise.resolve() : work(delay, which)), which)
              .catch(() => {
                refused[which]++;
              });
          })
        );
        expect(most.all).to.be.at.most(slots);
        expect(most.heavy).to.be.at.most(Math.max(1, slots - 1));
        expect(busy).to.deep.equal({ small: 0, heavy: 0 });
        expect(refused.small + refused.heavy).to.be.at.most(Math.max(0, requests.length - depth - 1));
        expect(refused.small).to.be.at.most(Math.max(0, requests.filter(([, which]) => which === 'small').length - depth));
        expect(await queue.run(here, () => Promise.resolve('free'), 'small')).to.equal('free');
        expect(await queue.run(here, () => Promise.resolve('free'), 'heavy')).to.equal('free');
      }),
      { numRuns: 50 }
    );
  });
});
