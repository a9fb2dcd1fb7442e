import { expect } from 'chai';
import { describe, it } from 'mocha';
import { StateLog } from '../../lib/index/progress/log';
import { MemoryLog } from '../support/process/memory-log';
import type { IndexState } from '../../lib/index/types';

function linesFor(states: readonly IndexState[]): readonly string[] {
  const log = new MemoryLog();
  const stateLog = new StateLog(log);
  for (const state of states) stateLog.note(state);
  return log.lines;
}

describe('the log of the index', () => {
  it('has a sentence for each phase', () => {
    expect(
      linesFor([
        { phase: 'loading', work: 'migrating index, 1.5%' },
        { phase: 'rewinding', height: 9, target: 6 },
        { phase: 'copying', coins: 12_345_678, of: 80_000_000 },
        { phase: 'indexing', height: 6, target: 9, secondsLeft: undefined },
        { phase: 'live', height: 9 },
        { phase: 'loading' },
        {
          phase: 'indexing',
          height: 25,
          target: 100,
          secondsLeft: 7,
          pace: { blocksPerSecond: 10.7, bytesPerSecond: 12_340_000, coinsPerSecond: 98_765.4 }
        }
      ])
    ).to.deep.equal([
      'info Migrating index, 1.5%.',
      'info Rewinding the index: block 9, down to 6.',
      'info Copying coins of the node: 12345678 of 80000000 (15.4%).',
      'info Indexing: block 6 of 9 (66.6%).',
      "info The index is at the node's tip, block 9.",
      'info Indexing: block 25 of 100 (25.0%), 12.3 MB/s, 98765 coins/s, 7 s left.'
    ]);
  });

  it('does not have every block', () => {
    expect(linesFor([{ phase: 'loading' }])).to.deep.equal([]);
    expect(
      linesFor([
        { phase: 'live', height: 1 },
        { phase: 'live', height: 2 }
      ])
    ).to.have.length(1);
    const turns = [1, 2, 3].flatMap((height): IndexState[] => [
      { phase: 'indexing', height, target: height, secondsLeft: undefined },
      { phase: 'live', height }
    ]);
    expect(linesFor(turns), 'a download').to.have.length(2);
    expect(linesFor([1, 2, 3].map((height) => ({ phase: 'indexing', height, target: 3, secondsLeft: 1 })))).to.have.length(1);
  });
});
