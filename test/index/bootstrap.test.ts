import { join } from 'node:path';
import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { filter, firstValueFrom } from 'rxjs';
import { scanBlock } from '../../lib/bitcoin/block';
import { BASE_KEY } from '../../lib/index/records/layout';
import { spentBaseKey } from '../../lib/index/records/base-coin';
import { headerKey, TIP_KEY } from '../../lib/index/records/chain';
import { NotYetKnownError } from '../../lib/index/errors';
import { NoNodeError, UnreadableBlockError } from '../../lib/node/errors';
import { BcoinNode } from '../../lib/node/bcoin';
import { DiskStore } from '../../lib/store/disk-store';
import { MemoryStore } from '../../lib/store/memory-store';
import { nodeWith } from '../support/bcoin/changed-node';
import { baseOf, expectRight, expectRightSoFar, newBaseIndex, untilBackfilled, untilLive } from '../support/index/base-index';
import { bcoin, type TestFullNode } from '../support/bcoin/bcoin';
import { COINBASE_SATS } from '../support/chain/coinbases';
import { FAULT, FaultyStore } from '../support/index/faulty-store';
import { newFolder } from '../support/process/folders';
import { MemoryLog } from '../support/process/memory-log';
import { activeChain, chainWithSpends, mineCoinbases, reorganize, spend } from '../support/chain/regtest-chain';
import { mine, openRegtestNode } from '../support/bcoin/regtest-node';
import { expectIndexOf } from '../support/index/utxo-model';
import type { ChainIndexer } from '../../lib/index/chain-index';
import type { Coin } from '../../lib/index/types';
import type { CoinSet } from '../../lib/node/types/coins';
import type { NodeSource } from '../../lib/node/types/source';

describe('an index that starts from the coins of the node', () => {
  let host: TestFullNode;
  let real: NodeSource;
  let node: NodeSource;
  let index: ChainIndexer;
  let log: MemoryLog;
  let store: FaultyStore;
  /** The node does not give blocks below this height: there the backfill stops. */
  let lowestGiven: number;

  beforeEach(async () => {
    host = await openRegtestNode();
    await host.connect();
    lowestGiven = 0;
    real = new BcoinNode(host);
    node = nodeWith(real, {
      rawBlock: async (hash) => (((await real.entry(hash))?.height ?? 0) < lowestGiven ? undefined : real.rawBlock(hash))
    });
    log = new MemoryLog();
    store = new FaultyStore(new MemoryStore());
    await chainWithSpends(host);
    index = newIndex();
  });

  afterEach(async () => {
    await index.close();
    await host.close();
  });

  const newIndex = (
    options: { readonly node?: NodeSource; readonly undoDepth?: number; readonly failurePauseMs?: number } = {}
  ): ChainIndexer => newBaseIndex({ node, store, log, ...options });

  const newBlocksIndex = (): ChainIndexer => newBaseIndex({ node, store, log, bootstrap: 'blocks' });

  const opened = async (): Promise<void> => {
    await index.open();
    await untilLive(index);
  };

  const reopened = async (): Promise<void> => {
    await index.close();
    index = newIndex();
    await opened();
  };

  /** A live index that knows only the coins and the last `blocks` blocks. */
  const openedWith = async (blocks: number): Promise<number> => {
    const { height } = node.tip();
    lowestGiven = height - blocks + 1;
    await opened();
    while (baseOf(store).positionsFrom > lowestGiven) await new Promise(setImmediate);
    return height;
  };

  const said = (text: string): boolean => log.lines.some((line) => line.includes(text));

  it('has every coin from the start, and everything in the end', async () => {
    const height = await openedWith(0);
    expect(baseOf(store)).to.deep.include({ ...node.tip(), positionsFrom: height + 1 });
    expect(index.figures.backfill).to.equal(0);
    await expectRightSoFar(store, real);
    lowestGiven = 0;
    await reopened();
    await expectRight(store, real);
    expect(log.lines.filter((line) => line.startsWith('warning'))).to.deep.equal([]);
  });

  it('says how far it is, and what it does not know yet', async () => {
    const states: string[] = [];
    index.state$.subscribe(({ phase }) => {
      states.push(phase);
    });
    const height = await openedWith(10);
    expect(states).to.include('copying');
    expect(index.reader.read(({ backfilling }) => backfilling)).to.deep.equal({ height: height - 9, from: height });
    lowestGiven = 0;
    await reopened();
    await untilBackfilled(store);
    expect(index.reader.read(({ backfilling }) => backfilling)).to.equal(undefined);
    expect(said('All transactions are known')).to.equal(true);
  });

  it('never reports a transaction that it does not know yet as missing', async () => {
    const height = await openedWith(10);
    const early = await coinbaseAt(3);
    const invented = Buffer.alloc(32, 1);
    const backfill = { height: height - 9, from: height };
    for (const txid of [early, invented]) expect(whatIsSaid(txid)).to.deep.equal([backfill, backfill]);
    const latest = await coinbaseAt(height);
    expect(index.reader.read((snapshot) => snapshot.position(latest)?.block.height)).to.equal(height);
    lowestGiven = 0;
    await reopened();
    await untilBackfilled(store);
    expect(index.reader.read((snapshot) => snapshot.position(early)?.block.height)).to.equal(3);
    expect(index.reader.read((snapshot) => [snapshot.location(invented), snapshot.position(invented)])).to.deep.equal([
      undefined,
      undefined
    ]);
  });

  it('says that it will never know a transaction, on a pruned node', async () => {
    lowestGiven = 50;
    index = newIndex({ node: nodeWith(node, { pruned: true }) });
    await opened();
    await untilBackfilled(store);
    expect(whatIsSaid(await coinbaseAt(3))).to.deep.equal([undefined, undefined]);
  });

  const coinbaseAt = async (height: number): Promise<Buffer> => {
    const raw = await real.rawBlock((await real.activeHash(height)) ?? Buffer.alloc(0));
    return scanBlock(raw ?? Buffer.alloc(0)).transactions[0]?.txid ?? expect.fail('a coinbase');
  };

  /** How far the index says that it is when it is asked for a transaction that it does not know. */
  const whatIsSaid = (txid: Buffer): unknown[] =>
    index.reader.read((snapshot) =>
      (['location', 'position'] as const).map((ask) => {
        try {
          return snapshot[ask](txid) ?? 'nothing';
        } catch (error) {
          if (error instanceof NotYetKnownError) return error.backfill;
          throw error;
        }
      })
    );

  it('emits its first tip', async () => {
    const tips: number[] = [];
    index.tip$.subscribe(({ height }) => {
      tips.push(height);
    });
    await opened();
    expect(tips).to.deep.equal([node.tip().height]);
  });

  it('follows the chain, before and after it knows the positions of transactions', async () => {
    const coinbases = await mineCoinbases(host, 101);
    const known = await openedWith(20);
    await spend(host, coinbases[0] ?? expect.fail('a coinbase'), COINBASE_SATS);
    await mine(host, 3);
    await expectRightSoFar(store, real);
    expect(baseOf(store).height).to.equal(known);
    lowestGiven = 0;
    await reopened();
    await mine(host, 1);
    await expectRight(store, real);
  });

  it('has the coins of the base that a block spent only as long as the block can be undone', async () => {
    const coinbases = await mineCoinbases(host, 101);
    index = newIndex({ undoDepth: 3 });
    await opened();
    await untilBackfilled(store);
    await spend(host, coinbases[0] ?? expect.fail('a coinbase'), COINBASE_SATS);
    await mine(host, 1);
    const key = spentBaseKey(host.chain.height);
    await mine(host, 2);
    expect(store.get(key)).to.not.equal(undefined);
    await mine(host, 1);
    expect(store.get(key)).to.equal(undefined);
  });

  it('undoes blocks of the base when they are backfilled', async () => {
    await opened();
    await untilBackfilled(store);
    const { height } = baseOf(store);
    await reorganize(host, 3, 5);
    await expectRight(store, real);
    expect(baseOf(store).height).to.equal(height - 3);
    await reorganize(host, 9, 10);
    await expectRight(store, real);
    await host.chain.reset(height - 20);
    await expectRight(store, real);
    await mine(host, 30);
    await expectRight(store, real);
    expect(baseOf(store).height).to.equal(height - 20);
    expect(log.lines.filter((line) => line.startsWith('warning'))).to.deep.equal([]);
  });

  it('has no coin of a block of the base that is undone, and has it again with the block', async () => {
    await opened();
    await untilBackfilled(store);
    const last = (await activeChain(real)).at(-1) ?? expect.fail('a block');
    const [coinbase] = scanBlock(last).transactions;
    const coin = (): Coin | undefined => index.reader.read((snapshot) => snapshot.coin(coinbase?.txid ?? expect.fail('a coinbase'), 0));
    const before = coin();
    expect(before).to.include({ height: node.tip().height, coinbase: true });
    await host.chain.reset(node.tip().height - 1);
    await untilLive(index);
    expect(coin()).to.equal(undefined);
    await host.chain.add(bcoin.Block.fromRaw(last));
    await untilLive(index);
    expect(coin()).to.deep.equal(before);
  });

  it('undoes blocks of the base during the backfill', async () => {
    const height = await openedWith(8);
    await reorganize(host, 6, 8);
    expect(baseOf(store)).to.include({ height: height - 6, positionsFrom: height - 7 });
    await expectRightSoFar(store, real);
    lowestGiven = 0;
    await reopened();
    await expectRight(store, real);
  });

  it('copies the coins again when a reorganization goes below what is backfilled', async () => {
    const height = await openedWith(2);
    await reorganize(host, 4, 6);
    lowestGiven = 0;
    await mine(host, 1);
    await untilLive(index);
    await expectRight(store, real);
    // Somewhere between the fork and the new tip.
    expect(baseOf(store).height).to.be.at.least(height - 4);
    expect(said('warning Rebuilding the index: expected an undo record')).to.equal(true);
  });

  it('copies the coins again when a reorganization goes deeper than the undo records', async () => {
    index = newIndex({ undoDepth: 3 });
    await opened();
    await untilBackfilled(store);
    const { height } = baseOf(store);
    await reorganize(host, 3, 4);
    await expectRight(store, real);
    expect(baseOf(store).height).to.equal(height - 3);
    await reorganize(host, 4, 6);
    await untilLive(index);
    await expectRight(store, real);
    expect(baseOf(store).height).to.be.greaterThan(height - 3);
    expect(said('warning Rebuilding the index')).to.equal(true);
  });

  it('lets the chain continue, and is rebuilt, when the backfill meets damage while a block waits for its turn', async () => {
    let isAsked: () => void = () => undefined;
    let give: () => void = () => undefined;
    const asked = new Promise<void>((resolve) => {
      isAsked = resolve;
    });
    const given = new Promise<void>((resolve) => {
      give = resolve;
    });
    index = newIndex({
      node: nodeWith(node, {
        rawBlock: async (hash) => {
          isAsked();
          await given;
          return real.rawBlock(hash);
        }
      })
    });
    await opened();
    await asked;
    const { height } = node.tip();
    await store.batch([{ type: 'put', key: headerKey(height - 1), value: Buffer.alloc(172) }], { durable: false });
    const told = new Promise<void>((resolve) => {
      host.chain.prependListener('connect', () => {
        resolve();
      });
    });
    const mined = mine(host, 1);
    await told;
    // By now the chain waits for the index, which waits for the node's block.
    await new Promise(setImmediate);
    expect(node.tip().height).to.equal(height + 1);
    give();
    await mined;
    await untilLive(index);
    await untilBackfilled(store);
    await expectRight(store, node);
    expect(log.lines.filter((line) => line.includes('Rebuilding the index'))).to.have.length(1);
  });

  it('resumes the backfill where it was', async () => {
    const height = await openedWith(30);
    await reopened();
    expect(baseOf(store).positionsFrom).to.equal(height - 29);
    lowestGiven = height - 60;
    await reopened();
    while (baseOf(store).positionsFrom > lowestGiven) await new Promise(setImmediate);
    await expectRightSoFar(store, real);
    lowestGiven = 0;
    await reopened();
    await expectRight(store, real);
  });

  const [torn, away] = [new UnreadableBlockError(Buffer.alloc(32, 7), new Error('torn')), new NoNodeError('no node answers: timeout')];
  for (const [what, call, error] of [
    ['an earlier block is torn', 'rawBlock', torn],
    ['no node gives it an earlier block', 'rawBlock', away],
    ['no node says what an earlier block spends', 'spentCoins', away]
  ] as const)
    it(`answers although ${what}, and goes on with the backfill after a later block`, async () => {
      const { height } = node.tip();
      // The last four blocks spend something.
      const faulty = height - 3;
      let fails = true;
      const given = async <T>(hash: Buffer, read: (hash: Buffer) => Promise<T>): Promise<T> => {
        if (fails && ((await real.entry(hash))?.height ?? 0) <= faulty) throw error;
        return read(hash);
      };
      const phases: string[] = [];
      index = newIndex({ node: nodeWith(real, { pruned: true, [call]: (hash: Buffer) => given<unknown>(hash, (of) => real[call](of)) }) });
      index.state$.subscribe(({ phase }) => phases.push(phase));
      await opened();
      const words = `Transactions are known from block ${faulty + 1} up for now: ${error.message}.`;
      while (!said(words)) await new Promise(setImmediate);
      await mine(host, 1);
      await firstValueFrom(index.tip$.pipe(filter((tip) => tip.height === height + 1)));
      expect(baseOf(store)).to.include({ positionsFrom: faulty + 1, ended: false });
      fails = false;
      await mine(host, 1);
      await expectRight(store, real);
      expect(phases).to.not.include('failed');
      expect(log.lines.filter((line) => line.includes(words))).to.have.length(1);
    });

  it('starts the copy over when it was interrupted', async () => {
    // Three writes prepare the store; then come the base, headers, coins and the tip.
    for (const batches of [4, 5, 6]) {
      store.fail('batch', batches);
      await index.open();
      while (index.state.phase !== 'failed') await new Promise(setImmediate);
      await index.close();
      store.heal();
      index = newIndex();
    }
    await opened();
    await expectRight(store, real);
    expect(said('warning Copying the coins of the node was interrupted. What was copied is deleted.')).to.equal(true);
    expect(said(FAULT)).to.equal(true);
  });

  it('is damaged, and no unfinished copy, when it has blocks above the base, but no tip', async () => {
    await opened();
    await mine(host, 1);
    await expectRight(store, real);
    await index.close();
    await store.open();
    await store.batch([{ type: 'del', key: TIP_KEY }], { durable: false });
    await store.close();
    index = newIndex();
    await opened();
    await expectRight(store, real);
    expect(said('warning Rebuilding the index: ')).to.equal(true);
    expect(said('warning Copying the coins of the node was interrupted.')).to.equal(false);
  });

  it('starts the copy over by itself once the disk has space, however often it was full before', async () => {
    let failures = 0;
    // After the base and the headers, also when the store was emptied before.
    const fillDisk = (): void => {
      store.fail('batch', failures === 0 ? 5 : 4);
    };
    fillDisk();
    index = newIndex({ failurePauseMs: 1 });
    const isFull = index.state$.pipe(filter(({ phase }) => phase === 'failed')).subscribe(() => {
      failures++;
      if (failures < 4) fillDisk();
      else store.heal();
    });
    await index.open();
    await firstValueFrom(index.state$.pipe(filter(({ phase }) => phase === 'live')));
    isFull.unsubscribe();
    expect(failures).to.equal(4);
    await expectRight(store, real);
  });

  it('has no coin of a copy that failed because the node could not read one, and that was spent before the next', async () => {
    const coinbases = await mineCoinbases(host, 101);
    const last = coinbases[0] ?? expect.fail('a coinbase');
    let isTorn = true;
    index = newIndex({
      failurePauseMs: 1,
      node: withCoinSet(node, (set) => {
        const coins = set.coins.bind(set);
        return Object.assign(set, {
          async *coins() {
            yield* coins();
            if (!isTorn) return;
            isTorn = false;
            await spend(host, last, COINBASE_SATS);
            await mine(host, 1);
            throw new Error('Corruption: block checksum mismatch');
          }
        });
      })
    });
    await index.open();
    await firstValueFrom(index.state$.pipe(filter(({ phase }) => phase === 'live')));
    await expectRight(store, real);
  });

  it('equals the state after the blocks of the chain when the chain moves while the coins are copied', async () => {
    const moving = movingDuring(node, async () => {
      await mine(host, 2);
    });
    index = newIndex({ node: moving });
    await opened();
    await expectRight(store, real);
    expect(baseOf(store).height).to.equal(node.tip().height - 2);
  });

  it('equals the state after the blocks of the chain when the base is reorganized away while the coins are copied', async () => {
    const moving = movingDuring(node, () => reorganize(host, 2, 3));
    index = newIndex({ node: moving });
    await opened();
    await expectRight(store, real);
  });

  it('equals the state after the blocks of the chain when the chain is reset while the coins are copied', async () => {
    const moving = movingDuring(node, () => host.chain.reset(node.tip().height - 5));
    index = newIndex({ node: moving });
    await opened();
    await expectRight(store, real);
  });

  it('leaves an existing index alone', async () => {
    index = newBlocksIndex();
    await opened();
    await reopened();
    expect(store.get(BASE_KEY)).to.equal(undefined);
    await expectIndexOf(store, await activeChain(real));
  });

  it('stays what it is without the option', async () => {
    await openedWith(10);
    await index.close();
    lowestGiven = 0;
    index = newBlocksIndex();
    await opened();
    await expectRight(store, real);
  });

  for (const [what, wrong] of [
    ['count', (set: CoinSet) => ({ count: set.count + 1 })],
    ['total amount', (set: CoinSet) => ({ value: set.value - 1 })]
  ] as const) {
    it(`is built from blocks when the ${what} of the coins is not what the node has counted`, async () => {
      index = newIndex({ node: withCoinSet(node, (set) => Object.assign(set, wrong(set))) });
      await opened();
      expect(store.get(BASE_KEY)).to.equal(undefined);
      await expectIndexOf(store, await activeChain(real));
      expect(log.lines.find((line) => line.startsWith('warning'))).to.match(
        /^warning Building the index from blocks: expected \d+ coins of \d+ satoshis at height 108, as the node has counted them, got \d+ of \d+\.$/
      );
    });
  }

  it('is built from blocks when the coins are worth more than was ever created', async () => {
    const network = { ...node.network, halvingInterval: 10 };
    index = newIndex({ node: nodeWith(node, { network }) });
    await opened();
    expect(store.get(BASE_KEY)).to.equal(undefined);
    expect(said('all that was ever created')).to.equal(true);
  });

  it('says that the coins cannot be trusted, on a pruned node', async () => {
    const pruned = withCoinSet(node, (set) => Object.assign(set, { count: 0 }));
    lowestGiven = 50;
    index = newIndex({ node: nodeWith(pruned, { pruned: true }) });
    await index.open();
    while (index.state.phase !== 'failed') await new Promise(setImmediate);
    expect(index.state)
      .to.have.property('message')
      .that.matches(
        /^the node has no block at height 0, which the index needs: it was pruned, and its coins cannot be taken: expected 0 coins/
      );
    expect(store.get(TIP_KEY)).to.equal(undefined);
  });

  it('ends the backfill at the lowest block of a pruned node', async () => {
    lowestGiven = 50;
    index = newIndex({ node: nodeWith(node, { pruned: true }) });
    await opened();
    await untilBackfilled(store);
    expect(baseOf(store)).to.include({ positionsFrom: 50, ended: true });
    await expectRightSoFar(store, real);
    await mine(host, 2);
    await expectRightSoFar(store, real);
    expect(index.reader.read(({ backfilling }) => backfilling)).to.equal(undefined);
    expect(said('Transactions are known from block 50 up')).to.equal(true);
  });

  it('equals the state after the blocks of the chain on disk as in memory', async () => {
    const folder = await newFolder();
    store = new FaultyStore(new DiskStore(join(folder, 'index')));
    index = newIndex();
    await opened();
    await expectRight(store, real);
    await index.close();
  });
});

function withCoinSet(node: NodeSource, change: (set: CoinSet) => CoinSet): NodeSource {
  return nodeWith(node, { openCoinSet: async () => change(await node.openCoinSet()) });
}

/** Something happens to the chain once, between the headers and the coins of the first copy. */
function movingDuring(node: NodeSource, move: () => Promise<unknown>): NodeSource {
  let moved = false;
  return withCoinSet(node, (set) => {
    const coins = set.coins.bind(set);
    return Object.assign(set, {
      async *coins() {
        if (!moved) await move();
        moved = true;
        yield* coins();
      }
    });
  });
}
