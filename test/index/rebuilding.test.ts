import { expect } from 'chai';
import { describe, it } from 'mocha';
import { IndexUnavailableError } from '../../lib/index/errors';
import { coinKey } from '../../lib/index/records/coin-record';
import { headerKey, TIP_KEY } from '../../lib/index/records/chain';
import { GENESIS_KEY } from '../../lib/index/records/layout';
import { undoKey } from '../../lib/index/records/undo-record';
import { StoreError } from '../../lib/store/errors';
import { nodeWith } from '../support/bcoin/changed-node';
import { current, damagedCoin, expectLevel, newIndex, openNew, reach, withNodeAndIndex } from '../support/node/indexed-node';
import { mine } from '../support/bcoin/regtest-node';
import { chainWithSpends, mineCoinbases, reorganize, spend } from '../support/chain/regtest-chain';
import type { ChainIndexerOptions } from '../../lib/index/chain-index';
import type { HostTransaction } from '../../lib/node/host';

describe('an index that cannot continue from its data', () => {
  withNodeAndIndex();

  async function closedIndex(): Promise<void> {
    await chainWithSpends(current.host);
    await current.index.open();
    await reach('live');
    await current.index.close();
    await current.store.open();
  }

  async function expectRebuilt(reason: string, options: Partial<ChainIndexerOptions> = {}): Promise<void> {
    await current.store.close();
    await openNew(options);
    await expectLevel();
    expect(current.log.lines.filter((line) => line.startsWith('warning Rebuilding the index: ')).join()).to.include(reason);
  }

  it('is rebuilt when the undo records do not reach the fork', async () => {
    current.index = newIndex({ undoDepth: 2 });
    await closedIndex();
    await reorganize(current.host, 3, 5);
    await expectRebuilt('within the 2 blocks that can be undone', { undoDepth: 2 });
  });

  it('is rebuilt as often as the chain goes back too deep while it is being built', async () => {
    await mine(current.host, 8);
    current.index = newIndex({ undoDepth: 2 });
    await closedIndex();
    const { height } = current.host.chain;
    await reorganize(current.host, 5, 6);
    const top = await current.node.activeHash(height + 1);
    let moved = false;
    const moveAtTheTop = async (hash: Buffer): Promise<Buffer | undefined> => {
      if (moved || top?.equals(hash) !== true) return current.node.rawBlock(hash);
      moved = true;
      await reorganize(current.host, 6, 7);
      return undefined;
    };
    await openNew({ undoDepth: 2, node: nodeWith(current.node, { rawBlock: moveAtTheTop }) });
    await expectLevel();
    expect(current.log.lines.filter((line) => line.includes('within the 2 blocks that can be undone'))).to.have.length(2);
    expect(new Set(current.log.lines.filter((line) => line.includes('within the 2 blocks')))).to.have.length(1);
  });

  it('is rebuilt from a live state too', async () => {
    current.index = newIndex({ undoDepth: 2 });
    await mine(current.host, 6);
    await current.index.open();
    await reach('live');
    await reorganize(current.host, 4, 5);
    await reach('live');
    await expectLevel();
    expect(current.log.lines.join()).to.include('Rebuilding the index');
  });

  const damages: Readonly<Record<string, () => Promise<void>>> = {
    'a torn tip record': () => current.store.batch([{ type: 'put', key: TIP_KEY, value: Buffer.alloc(20) }], { durable: false }),
    'a missing header at the tip': () =>
      current.store.batch([{ type: 'del', key: headerKey(current.host.chain.height) }], { durable: false }),
    'a damaged record of the network': () =>
      current.store.batch([{ type: 'put', key: GENESIS_KEY, value: Buffer.alloc(36) }], { durable: false })
  };
  for (const [damage, make] of Object.entries(damages)) {
    it(`is rebuilt because of ${damage}`, async () => {
      await closedIndex();
      await make();
      await expectRebuilt('is damaged');
    });
  }

  it('is rebuilt when an undo record that it needs is missing or damaged', async () => {
    await closedIndex();
    const { height } = current.host.chain;
    await current.store.batch([{ type: 'put', key: undoKey(height - 1), value: Buffer.alloc(90) }], { durable: false });
    await reorganize(current.host, 3, 5);
    await expectRebuilt('is damaged');
  });

  it('is rebuilt when a reader meets a damaged record, and answers nothing meanwhile', async () => {
    const txid = await damagedCoin(5);
    expect(() => current.index.reader.read((snapshot) => snapshot.coin(txid, 0))).to.throw(IndexUnavailableError, 'is damaged');
    expect(current.index.state.phase).to.equal('loading');
    await reach('live');
    await expectLevel();
    expect(current.index.reader.read((snapshot) => snapshot.coin(txid, 0)?.height)).to.equal(1);
    expect(current.log.lines.filter((line) => line.startsWith('warning Rebuilding the index: the record under 6f')).length).to.equal(1);
  });

  it('is rebuilt once, however many readers meet the damage and whatever the chain does meanwhile', async () => {
    const txid = await damagedCoin(30);
    for (let i = 0; i < 3; i++)
      expect(() => current.index.reader.read((snapshot) => snapshot.coin(txid, 0))).to.throw(IndexUnavailableError);
    await mine(current.host, 2);
    await reorganize(current.host, 2, 3);
    await reach('live');
    await expectLevel();
    expect(current.log.lines.filter((line) => line.includes('Rebuilding the index')).length).to.equal(1);
  });

  it('is rebuilt again when the same record is found damaged after it was live', async () => {
    await closedIndex();
    await openNew();
    const { height } = current.host.chain;
    for (const times of [1, 2]) {
      await current.store.batch([{ type: 'put', key: undoKey(height - 1), value: Buffer.alloc(90) }], { durable: false });
      const depth = current.host.chain.height - height + 3;
      await reorganize(current.host, depth, depth + 2);
      await reach('live');
      await expectLevel();
      expect(current.log.lines.filter((line) => line.includes('Rebuilding the index'))).to.have.length(times);
    }
  });

  it('does not become live in the block during which a reader meets a damaged record', async () => {
    const txid = await damagedCoin(5);
    const states: string[] = [];
    const takeSnapshot = current.store.snapshot.bind(current.store);
    current.store.snapshot = () => {
      current.store.snapshot = takeSnapshot;
      expect(() => current.index.reader.read((snapshot) => snapshot.coin(txid, 0))).to.throw(IndexUnavailableError);
      current.index.state$.subscribe(({ phase }) => states.push(phase));
      return takeSnapshot();
    };
    await mine(current.host, 1);
    await reach('live');
    await expectLevel();
    expect(states.filter((phase, i) => phase !== states[i - 1])).to.deep.equal(['loading', 'indexing', 'live']);
  });

  it('stops when a reader finds that the store cannot be read', async () => {
    await mine(current.host, 2);
    await current.index.open();
    await reach('live');
    const snapshot = current.store.snapshot.bind(current.store);
    await mine(current.host, 1);
    current.store.snapshot = () => {
      throw new StoreError('failed', 'input/output error');
    };
    expect(() => current.index.reader.read(() => 0)).to.throw(IndexUnavailableError, 'input/output error');
    expect(await reach('failed')).to.have.property('message', 'input/output error');
    current.store.snapshot = snapshot;
    await mine(current.host, 2);
    expect(current.index.state.phase).to.equal('failed');
  });

  it('is rebuilt when the engine finds its files damaged', async () => {
    await mine(current.host, 3);
    await current.index.open();
    await reach('live');
    const snapshot = current.store.snapshot.bind(current.store);
    current.store.snapshot = () => {
      throw new StoreError('corrupt', 'bad block');
    };
    const cleared = current.store.clear.bind(current.store);
    current.store.clear = () => {
      current.store.snapshot = snapshot;
      return cleared();
    };
    await mine(current.host, 1);
    await reach('live');
    await expectLevel();
    expect(current.log.lines.join()).to.include('Rebuilding the index: bad block');
  });

  it('is rebuilt when a coin that is spent is missing, while it follows', async () => {
    const [coinbase] = await mineCoinbases(current.host, 101);
    await current.index.open();
    await reach('live');
    await current.index.close();
    await current.store.open();
    await current.store.batch([{ type: 'del', key: coinKey({ height: 1, index: 0 }, 0) }], { durable: false });
    await current.store.close();
    await openNew();
    await spend(current.host, coinbase as HostTransaction, 5_000_000_000);
    await mine(current.host, 1);
    await reach('live');
    await expectLevel();
    expect(current.log.lines.join()).to.include('expected a coin there, got none');
  });
});
