import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { SubscribedScript, type StatusListener, type KnownStatus } from '../../../lib/answers/status/subscribed-script';
import { testScale, testSeed } from '../../support/process/scale';
import { unfailing } from '../../support/expectations/unfailing';
import { collectGarbage } from '../../support/process/garbage';
import type { RowTransaction } from '../../../lib/scripts/types';

const seed = testSeed();
const LISTENERS = 3;
const MOST_ROWS = 64;

type Step =
  | { readonly do: 'change'; readonly status: string }
  /** A listener asks, or the answer to an earlier question is ready. */
  | { readonly do: 'ask' | 'leave'; readonly listener: number }
  | { readonly do: 'answer'; readonly pick: number }
  /** The notifier begins a pass, or ends the one that is under way. */
  | { readonly do: 'pass' };

const listener = fc.nat({ max: LISTENERS - 1 });
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constant('change' as const), status: fc.constantFrom('', 'a', 'b') }),
  fc.record({ do: fc.constant('ask' as const), listener }),
  fc.record({ do: fc.constant('answer' as const), pick: fc.nat({ max: 5 }) }),
  fc.record({ do: fc.constant('pass' as const) }),
  fc.record({ do: fc.constant('leave' as const), listener })
);

describe('a script with subscribers', () => {
  it(`tells each what it does not know, nothing twice, and nothing that is older (TEST_SEED=${seed})`, () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 10, maxLength: 40 }), (steps) => {
        const subscribed = new SubscribedScript('script');
        const listeners = Array.from({ length: LISTENERS }, (): StatusListener => ({ changed: () => undefined, failed: unfailing }));
        const known = new Map<StatusListener, KnownStatus>();
        const asked: { readonly by: StatusListener; readonly found: KnownStatus }[] = [];
        let present = '';
        let passes = 0;
        let passing: KnownStatus | undefined;
        const found = (): KnownStatus => ({ status: present, pass: ++passes });
        for (const one of steps) {
          if (one.do === 'change') present = one.status;
          else if (one.do === 'ask') asked.push({ by: listeners[one.listener] as StatusListener, found: found() });
          else if (one.do === 'leave') {
            const leaving = listeners[one.listener] as StatusListener;
            subscribed.delete(leaving);
            known.delete(leaving);
          } else if (one.do === 'answer') {
            const [answered] = asked.splice(one.pick % Math.max(1, asked.length), 1);
            if (answered === undefined) continue;
            subscribed.add(answered.by);
            const status = subscribed.answered(answered.by, answered.found);
            const isLater = subscribed.pass > answered.found.pass;
            expect(status).to.equal(isLater ? subscribed.status : answered.found.status);
            known.set(answered.by, { status, pass: isLater ? subscribed.pass : answered.found.pass });
          } else if (passing === undefined) passing = found();
          else {
            const { status, pass } = passing;
            passing = undefined;
            const due = [...known].filter(([, own]) => own.pass < pass && own.status !== status);
            expect(subscribed.settle(status, pass)).to.have.members(due.map(([by]) => by));
            for (const [by, own] of known) if (own.pass < pass) known.set(by, { status, pass });
          }
          expect(subscribed.isLeft).to.equal(known.size === 0);
        }
      }),
      { numRuns: 1_000 * testScale(), seed }
    );
  });

  it('keeps no listener in memory that has left', async () => {
    const subscribed = new SubscribedScript('script');
    const subscribe = (status: string, pass: number): StatusListener => {
      const one: StatusListener = { changed: () => undefined, failed: unfailing };
      subscribed.add(one);
      subscribed.answered(one, { status, pass });
      return one;
    };
    subscribe('a', 1);
    const left = ((): WeakRef<StatusListener> => {
      const leaving = subscribe('b', 2);
      subscribed.delete(leaving);
      return new WeakRef(leaving);
    })();
    await setImmediate();
    collectGarbage();
    expect(left.deref()).to.equal(undefined);
    expect(subscribed.isLeft).to.equal(false);
  });

  it('keeps the rows of blocks above the one up to which it was read, and gives them up when there are more than 64', () => {
    const rowsAt = (height: number, count: number): RowTransaction[] =>
      Array.from({ length: count }, (_, index) => ({ position: { height, index }, txid: Buffer.alloc(32) }));
    const blockAt = (height: number): { hash: Buffer; height: number } => ({ hash: Buffer.alloc(32, height), height });
    const subscribed = new SubscribedScript('script');
    subscribed.addRows(blockAt(1), rowsAt(1, 1));
    expect(subscribed).to.deep.include({ since: undefined, rows: [] });
    subscribed.readUpTo(blockAt(2), false);
    subscribed.addRows(blockAt(2), rowsAt(2, 1));
    subscribed.addRows(blockAt(3), rowsAt(3, 1));
    subscribed.addRows(blockAt(4), rowsAt(4, MOST_ROWS - 1));
    expect(subscribed).to.deep.include({ since: blockAt(2), rows: [...rowsAt(3, 1), ...rowsAt(4, MOST_ROWS - 1)] });
    subscribed.addRows(blockAt(5), rowsAt(5, 1));
    expect(subscribed).to.deep.include({ since: undefined, rows: [] });
  });
});
