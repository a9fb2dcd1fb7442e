import { expect } from 'chai';
import { describe, it } from 'mocha';
import { jobsOf, type Working } from '../../lib/explorer/jobs';
import type { AddressesState } from '../../lib/addresses/state';
import type { IndexState } from '../../lib/index/types';
import type { ScriptsState } from '../../lib/scripts/types';

const node = { synced: false, progress: () => ({ height: 120_000, verified: 0.25 }) };
const gate = { isReady: false, isRehearsing: false };
const figures = { backfill: undefined, filters: undefined };
const working = (index: IndexState, scripts?: ScriptsState, addresses?: AddressesState): Working => ({
  node,
  index: { state: index, figures },
  gate,
  scripts: scripts && { state: scripts },
  addresses: addresses && { state: addresses }
});

describe('the jobs of a node', () => {
  it('are the chain, the index and the rehearsal, each with how far it is', () => {
    const indexing = { phase: 'indexing', height: 50, target: 200, secondsLeft: 90 } as const;
    expect(jobsOf(working(indexing))).to.deep.equal([
      { name: 'chain', state: 'running', step: 'block 120000', part: 0.25 },
      { name: 'index', state: 'running', step: 'taking in blocks', part: 0.25, done: 50, total: 200, unit: 'blocks', secondsLeft: 90 },
      { name: 'rehearsal', state: 'waiting' }
    ]);
  });

  it('have the steps in which the index by script is filled', () => {
    const live = { phase: 'live', height: 9 } as const;
    const states: readonly [ScriptsState, object][] = [
      [{ phase: 'waiting' }, { state: 'waiting' }],
      [
        { phase: 'partitioning', height: 1, target: 4 },
        { state: 'running', step: 'step 1 of 3, reading blocks', part: 0.25 }
      ],
      [
        { phase: 'sorting', done: 1, total: 2 },
        { state: 'running', step: 'step 2 of 3, sorting', part: 0.5, unit: 'files' }
      ],
      [
        { phase: 'catching-up', height: 3, target: 4 },
        { state: 'running', step: 'step 3 of 3, taking in the last blocks', part: 0.75 }
      ],
      [
        { phase: 'live', height: 4 },
        { state: 'done', part: 1 }
      ],
      [{ phase: 'failed', message: '/secret/path' }, { state: 'failed' }]
    ];
    for (const [state, expected] of states) {
      const job = jobsOf(working(live, state)).find(({ name }) => name === 'scripts');
      expect(job, state.phase).to.deep.include(expected);
      expect(JSON.stringify(job)).not.to.include('secret');
    }
  });

  it('have the list of addresses, if there is one', () => {
    const live = { phase: 'live', height: 9 } as const;
    const states: readonly [AddressesState, object][] = [
      [{ phase: 'loading' }, { state: 'running', step: 'loading' }],
      [{ phase: 'waiting' }, { state: 'waiting' }],
      [
        { phase: 'filling', height: 3, target: 4 },
        { state: 'running', step: 'taking in blocks', part: 0.75, done: 3, total: 4, unit: 'blocks' }
      ],
      [live, { state: 'done', part: 1, done: 9, total: 9, unit: 'blocks' }],
      [{ phase: 'failed', message: '/secret/path' }, { state: 'failed' }],
      [{ phase: 'closed' }, { state: 'failed' }]
    ];
    for (const [state, expected] of states)
      expect(jobsOf(working(live, live, state)).at(-1), state.phase).to.deep.equal({ name: 'addresses', ...expected });
  });

  it('include the backfill and the filters while they are under way', () => {
    const jobs = jobsOf({
      ...working({ phase: 'live', height: 9 }),
      index: { state: { phase: 'live', height: 9 }, figures: { backfill: 0.5, filters: 0.1 } }
    });
    expect(jobs.slice(-2)).to.deep.equal([
      { name: 'backfill', state: 'running', part: 0.5 },
      { name: 'filters', state: 'running', part: 0.1 }
    ]);
  });
});
