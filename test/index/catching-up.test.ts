import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { filter, firstValueFrom, Subject } from 'rxjs';
import { nodeWith } from '../support/bcoin/changed-node';
import { current, expectLevel, newIndex, openNew, reach, withNodeAndIndex } from '../support/node/indexed-node';
import { mine } from '../support/bcoin/regtest-node';
import { activeChain, chainWithSpends, reorganize } from '../support/chain/regtest-chain';
import type { IndexedBlock, IndexState } from '../../lib/index/types';
import type { ChainEvent } from '../../lib/node/types/chain';

describe('an index that catches up', () => {
  withNodeAndIndex();

  it("starts from nothing and ends at the node's tip with every coin", async () => {
    await chainWithSpends(current.host);
    await current.index.open();
    await reach('live');
    await expectLevel();
    expect(current.log.lines).to.deep.equal([
      `info Indexing: block 0 of ${current.host.chain.height} (0.0%).`,
      `info The index is at the node's tip, block ${current.host.chain.height}.`
    ]);
  });

  it('does not make open() wait', async () => {
    await mine(current.host, 5);
    await current.index.open();
    expect(current.index.state.phase).to.not.equal('live');
    await reach('live');
  });

  it('continues where it was closed, also when the node went ahead', async () => {
    await mine(current.host, 5);
    await current.index.open();
    await reach('live');
    await current.index.close();
    await mine(current.host, 7);
    current.index = newIndex();
    const blocks: IndexedBlock[] = [];
    current.index.blocks$.subscribe((block) => blocks.push(block));
    await current.index.open();
    await reach('live');
    await expectLevel();
    expect(blocks.map(({ type, block }) => `${type} ${block.height}`)).to.deep.equal(
      [6, 7, 8, 9, 10, 11, 12].map((height) => `connect ${height}`)
    );
  });

  it('does nothing when the node has not moved', async () => {
    await mine(current.host, 5);
    await current.index.open();
    await reach('live');
    await current.index.close();
    current.index = newIndex();
    const states: string[] = [];
    current.index.state$.subscribe(({ phase }) => states.push(phase));
    await current.index.open();
    await reach('live');
    expect(states).to.deep.equal(['loading', 'live']);
  });

  it('rewinds to the fork when the node reorganized meanwhile, without asking the node for blocks', async () => {
    await chainWithSpends(current.host);
    await current.index.open();
    await reach('live');
    await current.index.close();
    await reorganize(current.host, 3, 5);
    await openNew();
    await expectLevel();
  });

  it('rewinds when the node is behind it', async () => {
    await chainWithSpends(current.host);
    await current.index.open();
    await reach('live');
    await current.index.close();
    await current.host.chain.reset(current.host.chain.height - 6);
    await openNew();
    await expectLevel();
  });

  it('misses nothing when blocks come while it catches up', async () => {
    await mine(current.host, 30);
    await current.index.open();
    await mine(current.host, 10);
    await reorganize(current.host, 2, 4);
    await mine(current.host, 10);
    await reach('live');
    await expectLevel();
    await mine(current.host, 1);
    await expectLevel();
  });

  it('does not make the chain wait while it catches up', async () => {
    let letGo: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    await mine(current.host, 3);
    current.index = newIndex({
      node: nodeWith(current.node, {
        rawBlock: async (hash) => {
          await gate;
          return current.node.rawBlock(hash);
        }
      })
    });
    await current.index.open();
    await mine(current.host, 3);
    expect(current.host.chain.height).to.equal(6);
    letGo();
    await reach('live');
    await expectLevel();
  });

  it('says how far it is, from the first block on', async () => {
    await mine(current.host, 30);
    const states: IndexState[] = [];
    current.index.state$.subscribe((state) => states.push(state));
    await current.index.open();
    await reach('live');
    expect(states.slice(0, 2)).to.deep.equal([{ phase: 'loading' }, { phase: 'indexing', height: 0, target: 30, secondsLeft: undefined }]);
  });

  it('turns back with a chain that was reset but has not sent its event yet', async () => {
    await mine(current.host, 40);
    let give: () => void = () => undefined;
    const given = new Promise<void>((resolve) => {
      give = resolve;
    });
    const lowest = 15;
    current.index = newIndex({
      node: nodeWith(current.node, {
        rawBlock: async (hash) => {
          if (((await current.node.entry(hash))?.height ?? 0) >= lowest) await given;
          return current.node.rawBlock(hash);
        }
      })
    });
    await current.index.open();
    await firstValueFrom(current.index.state$.pipe(filter((state) => state.phase === 'indexing')));
    // bcoin looks at the deployments after it has set its new tip and before it sends the event.
    const { chain } = current.host;
    const getDeploymentState = chain.getDeploymentState.bind(chain);
    chain.getDeploymentState = async (): Promise<unknown> => {
      give();
      await setTimeout(100);
      return getDeploymentState();
    };
    await chain.reset(10);
    await reach('live');
    await expectLevel();
  });

  it('waits for a chain that is being reset below it', async () => {
    await mine(current.host, 5);
    const missing = (await activeChain(current.node)).length - 1;
    let resetting = true;
    const chain$ = new Subject<ChainEvent>();
    current.index = newIndex({
      node: nodeWith(current.node, {
        chain$,
        get resetting() {
          return resetting;
        },
        activeHash: (height: number) => (resetting && height === missing ? Promise.resolve(undefined) : current.node.activeHash(height))
      })
    });
    const indexed = firstValueFrom(current.index.tip$.pipe(filter(({ height }) => height === missing - 1)));
    await current.index.open();
    await indexed;
    expect(current.index.state.phase).to.equal('indexing');
    resetting = false;
    chain$.next({ type: 'reset', acknowledge: () => undefined });
    await reach('live');
    await expectLevel();
  });
});
