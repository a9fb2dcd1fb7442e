import { expect } from 'chai';
import { describe, it } from 'mocha';
import { deploymentInfoJson } from '../../lib/views/deployment-info';
import type { SignalledFork } from '../../lib/node/types/soft-forks';

describe('a soft fork for which blocks signal', () => {
  const FORK: SignalledFork = {
    id: 'testdummy',
    bit: 28,
    startTime: 0n,
    timeout: 0xffff_ffffn,
    status: 'started',
    nextStatus: 'started',
    since: 144,
    activeSince: undefined,
    signals: [],
    period: 10,
    threshold: 8
  };
  const shown = (fork: Partial<SignalledFork>): unknown => {
    const info = {
      hash: Buffer.alloc(32),
      height: 200,
      scriptFlags: [],
      buried: [{ id: 'csv', height: 432 }],
      signalled: [{ ...FORK, ...fork }]
    };
    const { deployments } = JSON.parse(deploymentInfoJson(info).toString()) as { deployments: { testdummy: { bip9: object } } };
    return deployments.testdummy.bip9;
  };

  it('is possible in this period as long as no more blocks lack the signal than may', () => {
    const possible = (signals: readonly boolean[]): unknown =>
      (shown({ signals }) as { statistics: { possible: unknown } }).statistics.possible;
    expect(possible([false, true, false])).to.equal(true);
    expect(possible([false, true, false, false])).to.equal(false);
  });

  it('has no threshold once it is reached', () => {
    const signals = Array<boolean>(10).fill(true);
    const statistics = { period: 10, elapsed: 10, count: 10 };
    expect(shown({ status: 'locked_in', signals })).to.deep.include({ statistics, signalling: '#'.repeat(10) });
  });
});
