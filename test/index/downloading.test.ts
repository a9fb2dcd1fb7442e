import { expect } from 'chai';
import { beforeEach, describe, it } from 'mocha';
import { filter, firstValueFrom } from 'rxjs';
import { withoutLongTimers } from '../support/process/clock';
import { nodeWith } from '../support/bcoin/changed-node';
import { current, expectLevel, newIndex, reach, withNodeAndIndex } from '../support/node/indexed-node';
import { chainWithSpends, reorganize } from '../support/chain/regtest-chain';
import { mine } from '../support/bcoin/regtest-node';
import type { IndexState } from '../../lib/index/types';

describe('an index of a node that downloads the chain', () => {
  withNodeAndIndex();
  let synced: boolean;
  /** For each write of the store, whether it was forced to the disk. */
  let durable: boolean[];

  const untilLevel = async (): Promise<void> => {
    const { index, host } = current;
    await firstValueFrom(index.state$.pipe(filter((state) => state.phase === 'live' && state.height === host.chain.height)));
    await expectLevel();
  };

  beforeEach(async () => {
    // On 1.0.2 a reset does not reach the pool while the node is not connected.
    await current.host.connect();
    synced = false;
    const node = nodeWith(current.node, {
      get synced() {
        return synced;
      }
    });
    current.index = newIndex({ node });
    await current.index.open();
    await reach('live');
    durable = [];
    const batch = current.store.batch.bind(current.store);
    current.store.batch = async (writes, options): Promise<void> => {
      durable.push(options.durable);
      await batch(writes, options);
    };
  });

  it('forces no block to the disk, and does not let the chain wait', async () => {
    const letGo: (() => void)[] = [];
    const batch = current.store.batch.bind(current.store);
    current.store.batch = async (writes, options): Promise<void> => {
      await new Promise<void>((resolve) => letGo.push(resolve));
      await batch(writes, options);
    };
    // Nothing is written until all blocks are there.
    await chainWithSpends(current.host);
    expect(current.index.state.phase).to.equal('indexing');
    current.store.batch = batch;
    for (const go of letGo) go();
    await untilLevel();
    await mine(current.host, 150);
    await untilLevel();
    expect(durable.length).to.be.least(1);
    expect(durable).to.not.include(true);
    expect(current.log.lines.filter((line) => line.includes('error'))).to.deep.equal([]);
  });

  it('says that it is behind before the chain continues', async () => {
    const said: IndexState['phase'][] = [];
    current.index.state$.subscribe(({ phase }) => said.push(phase));
    await mine(current.host, 1);
    expect(said.slice(0, 2)).to.deep.equal(['live', 'indexing']);
    await untilLevel();
  });

  it('follows reorganizations and resets', async () => {
    await mine(current.host, 30);
    await reorganize(current.host, 3, 5);
    await untilLevel();
    await current.host.chain.reset(10);
    await untilLevel();
    await mine(current.host, 5);
    await reorganize(current.host, 4, 6);
    await untilLevel();
  });

  it('follows in lockstep once the node is synced', async () => {
    await mine(current.host, 20);
    synced = true;
    await untilLevel();
    durable = [];
    for (let i = 0; i < 3; i++) {
      await mine(current.host, 1);
      await expectLevel();
    }
    expect(durable).to.deep.equal([true, true, true]);
  });

  it('can be closed during the pause between batches, without waiting for its end', async () => {
    const restore = withoutLongTimers(500);
    try {
      await mine(current.host, 1);
      expect(current.index.state.phase).to.equal('indexing');
      await current.index.close();
    } finally {
      restore();
    }
    expect(durable).to.deep.equal([]);
    await mine(current.host, 1);
    expect(current.host.chain.height).to.equal(2);
  });
});
