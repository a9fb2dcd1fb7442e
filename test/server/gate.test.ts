import { expect } from 'chai';
import { beforeEach, describe, it } from 'mocha';
import { BehaviorSubject } from 'rxjs';
import { Gate, gateStatus, type Warmup } from '../../lib/server/work/gate';
import type { IndexState } from '../../lib/index/types';

describe('gateStatus', () => {
  const node = { height: 1_200, verified: 0.12345 };
  const cases: readonly [index: IndexState, resetting: boolean, text: string][] = [
    [{ phase: 'loading' }, false, 'loading index'],
    [{ phase: 'loading', work: 'migrating index, 1.5%' }, false, 'migrating index, 1.5%'],
    [{ phase: 'indexing', height: 50, target: 200, secondsLeft: undefined }, false, 'indexing, height 50 of 200 (25.0%)'],
    [
      { phase: 'indexing', height: 199_999, target: 200_000, secondsLeft: 0.4 },
      false,
      'indexing, height 199999 of 200000 (99.9%), 1 s left'
    ],
    [{ phase: 'indexing', height: 1, target: 4, secondsLeft: 61 }, false, 'indexing, height 1 of 4 (25.0%), 2 min left'],
    [{ phase: 'indexing', height: 1, target: 4, secondsLeft: 7_200 }, false, 'indexing, height 1 of 4 (25.0%), 2 h 0 min left'],
    [
      {
        phase: 'indexing',
        height: 1,
        target: 4,
        secondsLeft: 2,
        pace: { blocksPerSecond: 2, bytesPerSecond: 41_234_567, coinsPerSecond: 300_000 }
      },
      false,
      'indexing, height 1 of 4 (25.0%), 41.2 MB/s, 300000 coins/s, 2 s left'
    ],
    [{ phase: 'indexing', height: 0, target: 0, secondsLeft: undefined }, false, 'indexing, height 0 of 0 (0.0%)'],
    [{ phase: 'rewinding', height: 9, target: 5 }, false, 'rewinding index, height 9, down to 5'],
    [{ phase: 'failed', message: 'cannot write to /home/satoshi/.bcoin' }, false, 'index failed; the log of the node says why'],
    [{ phase: 'closed' }, false, 'shutting down'],
    [{ phase: 'live', height: 1_200 }, false, 'syncing with the network, height 1200 (12.3%)'],
    [{ phase: 'live', height: 1_200 }, true, 'resetting chain']
  ];
  for (const [index, resetting, text] of cases) {
    it(`says '${text}'`, () => {
      expect(gateStatus(index, node, resetting)).to.equal(text);
    });
  }
});

describe('the gate', () => {
  const LIVE: IndexState = { phase: 'live', height: 7 };
  let state$: BehaviorSubject<IndexState>;
  let synced$: BehaviorSubject<boolean>;
  let node: { synced$: BehaviorSubject<boolean>; resetting: boolean; progress(): { height: number; verified: number } };

  beforeEach(() => {
    state$ = new BehaviorSubject<IndexState>({ phase: 'loading' });
    synced$ = new BehaviorSubject(false);
    node = { synced$, resetting: false, progress: () => ({ height: 7, verified: 0.5 }) };
  });

  const makeGate = (warmup: Warmup, isRehearsed = true): Gate => {
    const gate = new Gate(
      node,
      {
        state$,
        get state() {
          return state$.value;
        }
      },
      warmup
    );
    gate.open();
    if (isRehearsed) gate.endRehearsal();
    return gate;
  };

  it('opens when the node is synced and the index live, in either order', () => {
    for (const steps of [
      [
        () => {
          state$.next(LIVE);
        },
        () => {
          synced$.next(true);
        }
      ],
      [
        () => {
          synced$.next(true);
        },
        () => {
          state$.next(LIVE);
        }
      ]
    ]) {
      state$.next({ phase: 'loading' });
      synced$.next(false);
      const gate = makeGate('synced');
      const opened = steps.map((step) => {
        step();
        return gate.isOpen;
      });
      expect(opened).to.deep.equal([false, true]);
      gate.close();
    }
  });

  it('waits only for the index if configured so', () => {
    const gate = makeGate('indexed');
    expect(gate.isOpen).to.equal(false);
    state$.next(LIVE);
    expect(gate.isOpen).to.equal(true);
  });

  it('closes when either falls behind, and says what is going on', () => {
    const gate = makeGate('synced');
    state$.next(LIVE);
    synced$.next(true);
    state$.next({ phase: 'rewinding', height: 7, target: 3 });
    expect(gate.isOpen).to.equal(false);
    expect(gate.status()).to.equal('rewinding index, height 7, down to 3');
    state$.next(LIVE);
    synced$.next(false);
    expect(gate.isOpen).to.equal(false);
    expect(gate.status()).to.equal('syncing with the network, height 7 (50.0%)');
  });

  it('is closed while the chain is being reset', () => {
    const gate = makeGate('indexed');
    state$.next(LIVE);
    node.resetting = true;
    expect(gate.isOpen).to.equal(false);
    expect(gate.status()).to.equal('resetting chain');
    node.resetting = false;
    expect(gate.isOpen).to.equal(true);
  });

  it('is open to the rehearsal before clients are answered', () => {
    const gate = makeGate('indexed', false);
    const heard: boolean[] = [];
    gate.ready$.subscribe((isReady) => heard.push(isReady));
    expect(gate.isRehearsing).to.equal(false);
    state$.next(LIVE);
    expect([gate.isOpen, gate.isRehearsing, gate.isReady, gate.status()]).to.deep.equal([true, true, false, 'warming up']);
    gate.requireOpen();
    expect(() => {
      gate.requireReady();
    }).to.throw('Service temporarily unavailable: warming up');
    gate.endRehearsal();
    gate.requireReady();
    expect([gate.isRehearsing, gate.isReady]).to.deep.equal([false, true]);
    node.resetting = true;
    expect(gate.isReady).to.equal(false);
    expect(heard).to.deep.equal([false, true]);
  });

  it('tells subscribers the current state and every change, and completes when closed', () => {
    const heard: (boolean | string)[] = [];
    const gate = makeGate('synced');
    gate.ready$.subscribe({ next: (ready) => heard.push(ready), complete: () => heard.push('end') });
    state$.next(LIVE);
    state$.next({ phase: 'live', height: 8 });
    synced$.next(true);
    state$.next({ phase: 'live', height: 9 });
    gate.close();
    expect(heard).to.deep.equal([false, true, false, 'end']);
    expect(state$.observed).to.equal(false);
  });
});
