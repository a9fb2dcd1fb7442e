import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { filter, firstValueFrom } from 'rxjs';
import { DamagedIndexError } from '../../lib/follow/errors';
import { IndexUnavailableError } from '../../lib/index/errors';
import { GENESIS_KEY, putRecord } from '../../lib/index/records/layout';
import { allowEarlySpends, allowSpendsAsShipped } from '../support/chain/early-spends';
import { newFolder } from '../support/process/folders';
import { IndexWalk } from '../support/index/walk';
import { spendingBlocks } from '../support/chain/mined-blocks';
import type { ChainIndex } from '../../lib/index/types';

const UNDO_DEPTH = 6;

describe('an index by script that is switched off and on again', function () {
  this.timeout(300_000);
  before(allowEarlySpends);
  after(allowSpendsAsShipped);
  let folder: string;
  let walk: IndexWalk;
  let said = 0;

  before(async () => {
    folder = await newFolder();
    walk = await IndexWalk.open({ folder: join(folder, 'a'), undoDepth: UNDO_DEPTH, scripts: true });
    await walk.expectRight();
  });
  after(() => walk.close());

  /** Reasons for which the index was filled again since the last call. */
  const reasons = (): string[] => {
    const first = said;
    said = walk.log.lines.length;
    return walk.reasonsSince(first, walk.scripts);
  };
  const off = async (): Promise<void> => {
    await walk.step({ do: 'restart', scripts: false, closed: undefined, opened: undefined });
    expect(reasons()).to.deep.equal([]);
  };
  const on = (): Promise<void> => walk.step({ do: 'restart', scripts: true, closed: undefined, opened: undefined });

  it('catches up with blocks that came meanwhile', async () => {
    await off();
    await walk.step({ do: 'mine', plans: spendingBlocks(9) });
    await on();
    expect(reasons()).to.deep.equal([]);
  });

  it('follows a reorganization that it can undo', async () => {
    await off();
    await walk.step({ do: 'fork', back: UNDO_DEPTH, plans: spendingBlocks(UNDO_DEPTH + 2) });
    await on();
    expect(reasons()).to.deep.equal([]);
  });

  it('follows a chain that became shorter', async () => {
    await off();
    await walk.step({ do: 'reset', back: UNDO_DEPTH });
    await on();
    expect(reasons()).to.deep.equal([]);
  });

  it('is filled again after a reorganization that it cannot undo', async () => {
    await walk.step({ do: 'mine', plans: spendingBlocks(UNDO_DEPTH + 1) });
    const { height } = walk.node.tip();
    await off();
    await walk.step({ do: 'reset', back: UNDO_DEPTH });
    await walk.step({ do: 'fork', back: 1, plans: spendingBlocks(2) });
    await on();
    expect(reasons()).to.deep.equal([`expected an undo record for height ${height - UNDO_DEPTH}, got none.`]);
  });

  it('is filled again when it belongs to another chain, or to another network', async () => {
    const other = await IndexWalk.open({ folder: join(folder, 'b'), undoDepth: UNDO_DEPTH, turn: 1, scripts: true });
    await other.step({ do: 'fork', back: 20, plans: spendingBlocks(22) });
    await other.closeIndexes();
    for (const folders of [['scripts'], ['scripts', 'index']]) {
      await walk.closeIndexes();
      for (const name of folders) {
        await rm(join(folder, 'a', name), { recursive: true });
        await cp(join(folder, 'b', name), join(folder, 'a', name), { recursive: true });
      }
      await on();
      expect(reasons().at(-1)).to.match(/^expected an undo record for height \d+, got none\.$/);
    }
    await other.close();

    await walk.closeIndexes();
    const { store } = walk.scripts;
    await store.open();
    await store.batch([putRecord(GENESIS_KEY, Buffer.alloc(32, 1))], { durable: false });
    await store.close();
    await on();
    const [reason, ...others] = reasons();
    expect(others).to.deep.equal([]);
    expect(reason).to.match(/^the index by script is of another network: expected the genesis block [0-9a-f]{64}, got (01){32}\.$/);
  });

  it('forgets a filling when the chain has become too short for one', async () => {
    await walk.closeIndexes();
    const { store } = walk.scripts;
    await store.open();
    await store.clear();
    await store.close();
    await walk.openIndexes();
    await firstValueFrom(walk.scripts.indexer.state$.pipe(filter(({ phase }) => phase === 'sorting')));
    await walk.step({ do: 'restart', closed: { do: 'reset', back: walk.node.tip().height - 3 }, opened: undefined });
    expect(reasons()).to.deep.equal([]);
  });
});

describe('an index by script beside the main index', function () {
  this.timeout(300_000);
  let walk: IndexWalk;

  before(async () => {
    walk = await IndexWalk.open({ undoDepth: UNDO_DEPTH, scripts: true });
    await walk.expectRight();
  });
  after(() => walk.close());

  it('is filled again, to the rows of the blocks of the chain, when a reader meets damage while a block is connected', async () => {
    const { store, indexer } = walk.scripts;
    const batch = store.batch.bind(store);
    let met = 0;
    store.batch = async (writes, options) => {
      store.batch = batch;
      const damage = indexer.reader.read(() => Promise.reject(new DamagedIndexError('a reader met damage')));
      await damage.catch(() => met++);
      for (let turns = 0; turns < 100; turns++) await setImmediate();
      await batch(writes, options);
    };
    await walk.step({ do: 'mine', plans: spendingBlocks(1) });
    expect(met).to.equal(1);
    expect(walk.reasonsSince(0, walk.scripts)).to.deep.equal(['a reader met damage.']);
  });

  it('continues when the main index could not be read for a moment', async () => {
    const { scripts } = walk;
    await walk.step({ do: 'restart', scripts: false, closed: undefined, opened: { do: 'mine', plans: spendingBlocks(3) } });
    const index = walk.main.indexer;
    let reads = 0;
    const reader: ChainIndex['reader'] = {
      read: (use) => {
        if (++reads === 5) throw new IndexUnavailableError('the index is not open');
        return index.reader.read(use);
      },
      hold: () => index.reader.hold()
    };
    const unsteady: ChainIndex = {
      state$: index.state$,
      tip$: index.tip$,
      blocks$: index.blocks$,
      get state() {
        return index.state;
      },
      addFollower: (follower) => {
        index.addFollower(follower);
      },
      reader,
      latest: reader
    };
    scripts.open(unsteady);
    await scripts.expectRight(await walk.activeChain());
    expect(reads).to.be.greaterThan(5);
  });
});
