// What a node's chain does, until it is in the log: what waits is bounded.

import { expect } from 'chai';
import { describe, it } from 'mocha';
import { EventQueue } from '../../lib/fleet/feed/event-queue';
import { BcoinNode } from '../../lib/node/bcoin';
import { mine, openRegtestNode } from '../support/regtest-node';

const ALL = 1_000;

describe('the events of a node that feeds a log', () => {
  it('wait for 144 blocks at most, and then are forgotten, but not who waits for them', async () => {
    const host = await openRegtestNode();
    const queue = new EventQueue(new BcoinNode(host), () => undefined);
    await mine(host, 60);
    while (!queue.isEmpty) queue.take(ALL);
    const reached = (): void => undefined;
    queue.mark({ hasBeat: false, reached });
    await mine(host, 144);
    expect(queue.hasOverflowed).to.equal(false);
    await mine(host, 1);
    expect(queue.hasOverflowed).to.equal(true);
    expect(queue.take(ALL)).to.deep.equal([{ type: 'mark', hasBeat: false, reached }]);
    queue.restart();
    await mine(host, 1);
    expect(queue.hasOverflowed).to.equal(false);
    expect(queue.take(ALL).map(({ type }) => type)).to.deep.equal(['connect']);
    queue.close();
    await host.close();
  });
});
