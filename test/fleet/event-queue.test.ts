// What a node's chain does, until it is in the log: what waits is bounded.

import { expect } from 'chai';
import { after, afterEach, before, beforeEach, describe, it } from 'mocha';
import { map } from 'rxjs';
import { EventQueue } from '../../lib/fleet/feed/event-queue';
import { BcoinNode } from '../../lib/node/bcoin';
import { UnreadableBlockError } from '../../lib/node/errors';
import { nodeWith } from '../support/bcoin/changed-node';
import { Coinbases } from '../support/chain/coinbases';
import { mine, mineOnly, openRegtestNode } from '../support/bcoin/regtest-node';
import { signed } from '../support/chain/signed';
import type { TestFullNode } from '../support/bcoin/bcoin';

const ALL = 1_000;
const MOST_BLOCKS = 144;

/** An output that nobody can spend, with nearly as many bytes as a block may have: OP_RETURN, and one push of them. */
const LARGE_BYTES = 990_000;
const LARGE = Buffer.alloc(LARGE_BYTES);
LARGE.write('6a4e', 'hex');
LARGE.writeUInt32LE(LARGE_BYTES - 6, 2);
/** Anybody can spend what is paid to it. */
const ANYBODY = Buffer.of(0x51);
const SATS = 1_000_000;
/** So many blocks with such an output may wait. */
const FITTING = Math.floor((64 * 1_024 * 1_024) / (LARGE_BYTES + 1_000));

describe('the events of a node that feeds a log', () => {
  let host: TestFullNode;
  let node: BcoinNode;
  let queue: EventQueue;
  let wakes = 0;

  before(async () => {
    host = await openRegtestNode();
    node = new BcoinNode(host);
  });

  beforeEach(() => {
    wakes = 0;
    queue = new EventQueue(node, () => wakes++);
  });

  afterEach(() => queue.close());

  after(() => host.close());

  const reached = (): void => undefined;
  const types = (): string[] => queue.take(ALL).map(({ type }) => type);

  it('are taken with one block at most, which is the last of them', async () => {
    queue.mark({ hasBeat: false, reached });
    await mine(host, 2);
    expect([types(), types(), types()]).to.deep.equal([['mark', 'connect'], ['connect'], []]);
  });

  it('wait for 144 blocks at most, and then are forgotten, but not who waits for them', async () => {
    await mine(host, 60);
    while (!queue.isEmpty) queue.take(ALL);
    queue.mark({ hasBeat: false, reached });
    await mine(host, MOST_BLOCKS);
    expect(queue.hasOverflowed).to.equal(false);
    await mine(host, 1);
    expect(queue.hasOverflowed).to.equal(true);
    await mine(host, 2, (await host.chain.getPrevious(host.chain.tip)) ?? undefined);
    queue.mark({ hasBeat: true, reached });
    expect(queue.take(ALL)).to.deep.equal([
      { type: 'mark', hasBeat: false, reached },
      { type: 'mark', hasBeat: true, reached }
    ]);
    queue.restart();
    await mine(host, 1);
    expect(queue.hasOverflowed).to.equal(false);
    expect(types()).to.deep.equal(['connect']);
  });

  it('are 64 MiB of blocks and transactions at most, not counting what was taken or forgotten', async () => {
    const coinbases = await Coinbases.mine(host, 101);
    let last = coinbases.fresh();
    const mineLarge = async (blocks: number): Promise<void> => {
      for (let i = 0; i < blocks; i++) {
        last = signed(
          coinbases.ring,
          [last],
          [
            [ANYBODY, SATS],
            [LARGE, 0]
          ]
        );
        await mineOnly(host, [last]);
      }
    };
    queue.restart();
    await mineLarge(FITTING);
    queue.take(1);
    await mineLarge(1);
    expect(queue.hasOverflowed).to.equal(false);
    await mineLarge(1);
    expect(queue.hasOverflowed).to.equal(true);
    queue.restart();
    await mineLarge(1);
    expect(queue.hasOverflowed).to.equal(false);
  });

  it('are forgotten as well where the node cannot read a block', async () => {
    const rawBlock = (): never => {
      throw new UnreadableBlockError(Buffer.alloc(32), new Error('the disk is broken'));
    };
    const chain$ = node.chain$.pipe(map((event) => ('rawBlock' in event ? { ...event, rawBlock } : event)));
    const other = new EventQueue(nodeWith(node, { chain$ }), () => wakes++);
    wakes = 0;
    queue.close();
    await mine(host, 1);
    expect([other.hasOverflowed, other.isEmpty, wakes]).to.deep.equal([true, true, 1]);
    other.close();
  });

  it('are none once it was closed', async () => {
    queue.close();
    await mine(host, 1);
    expect(queue.isEmpty).to.equal(true);
    expect(wakes).to.equal(0);
  });
});
