import { expect } from 'chai';
import { describe, it } from 'mocha';
import { map } from 'rxjs';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { UnreadableBlockError } from '../../lib/node/errors';
import { StoreError } from '../../lib/store/errors';
import { nodeWith } from '../support/bcoin/changed-node';
import { current, expectLevel, newIndex, openNew, reach, withNodeAndIndex } from '../support/node/indexed-node';
import { mine } from '../support/bcoin/regtest-node';
import { until } from '../support/expectations/until';
import { replaceStoredBlock } from '../support/bcoin/stored-block';

describe('an index that fails', () => {
  withNodeAndIndex();

  it('says so, lets the chain continue, and takes nothing else down', async () => {
    await mine(current.host, 3);
    let full = false;
    const batch = current.store.batch.bind(current.store);
    current.store.batch = (writes, options) =>
      full ? Promise.reject(new StoreError('failed', 'no space left on device')) : batch(writes, options);
    await current.index.open();
    await reach('live');
    full = true;
    await mine(current.host, 3);
    expect(current.index.state).to.deep.equal({ phase: 'failed', message: 'no space left on device' });
    expect(current.log.lines.at(-1)).to.match(/^error The index stopped at block 3 \([0-9a-f]{64}\): no space left on device\.$/);
    full = false;
    await mine(current.host, 1);
    await current.host.chain.reset(2);
    expect(current.index.state.phase).to.equal('failed');
    await current.index.close();
    await openNew();
    await expectLevel();
  });

  it('tries again by itself, and says the same failure once', async () => {
    await mine(current.host, 3);
    let full = true;
    let refused = 0;
    const { store } = current;
    const [batch, close] = [store.batch.bind(store), store.close.bind(store)];
    // As LevelDB does: after a write that has failed, all are refused until the store is opened again.
    store.batch = (writes, options) => {
      if (!full && refused === 0) return batch(writes, options);
      refused++;
      return Promise.reject(new StoreError('failed', 'no space left on device'));
    };
    store.close = async () => {
      if (!full) refused = 0;
      await close();
    };
    current.index = newIndex({ failurePauseMs: 10 });
    await current.index.open();
    await reach('failed');
    await until(() => refused > 3);
    full = false;
    await reach('live');
    await expectLevel();
    const line = 'The index was not opened: no space left on device.';
    expect(current.log.lines.filter((each) => each.includes('no space left'))).to.deep.equal([`error ${line}`]);
    full = true;
    await mine(current.host, 1);
    await until(() => refused > 3);
    full = false;
    await reach('live');
    await expectLevel();
    // A failure after the index was live again is another one, even with the same words.
    full = true;
    await mine(current.host, 1);
    await until(() => refused > 3);
    full = false;
    await reach('live');
    for (const height of [3, 4])
      expect(current.log.lines.filter((each) => each.includes(`The index stopped at block ${height}`))).to.have.length(1);
  });

  it('says which block the node no longer has', async () => {
    await mine(current.host, 3);
    const second = await current.node.activeHash(2);
    current.index = newIndex({
      node: nodeWith(current.node, {
        rawBlock: (hash) => (second?.equals(hash) === true ? Promise.resolve(undefined) : current.node.rawBlock(hash))
      })
    });
    await current.index.open();
    expect(await reach('failed'))
      .to.have.property('message')
      .that.includes('the node has no block at height 2');
  });

  it('names a block that cannot be read, and continues when the chain has moved and the block can be read', async () => {
    const [, second] = await mine(current.host, 3);
    const hash = second?.hash() ?? Buffer.alloc(32);
    const stored = await replaceStoredBlock(current.host, hash, (bytes) => bytes.subarray(0, 81));
    const message = `block ${toDisplayHex(hash)} cannot be read: expected 4 more bytes at byte 81, got 0`;
    await current.index.open();
    expect(await reach('failed'))
      .to.have.property('message')
      .that.equals(message);
    await mine(current.host, 2);
    expect(await reach('failed'))
      .to.have.property('message')
      .that.equals(message);
    await replaceStoredBlock(current.host, hash, () => stored);
    await mine(current.host, 1);
    await reach('live');
    await expectLevel();
    expect(current.log.lines.filter((line) => line.includes(message))).to.have.length(1);
  });

  it('continues after a block that could not be read when it came', async () => {
    await mine(current.host, 3);
    let isTorn = false;
    const chain$ = current.node.chain$.pipe(
      map((event) => {
        if (event.type !== 'connect' || !isTorn) return event;
        return {
          ...event,
          rawBlock: () => {
            throw new UnreadableBlockError(event.block.hash, 'torn');
          }
        };
      })
    );
    current.index = newIndex({ node: nodeWith(current.node, { chain$ }) });
    await current.index.open();
    await reach('live');
    isTorn = true;
    const [torn] = await mine(current.host, 1);
    expect(current.index.state).to.deep.equal({
      phase: 'failed',
      message: `block ${toDisplayHex(torn?.hash() ?? Buffer.alloc(32))} cannot be read: torn`
    });
    await mine(current.host, 1);
    await reach('live');
    await expectLevel();
  });

  it('says that a block does not fit when a rebuild did not help', async () => {
    await mine(current.host, 3);
    const second = await current.node.activeHash(2);
    const withoutItsCoinbase = async (hash: Buffer): Promise<Buffer | undefined> => {
      const raw = await current.node.rawBlock(hash);
      return second?.equals(hash) === true && raw !== undefined ? spendingNothing(raw) : raw;
    };
    current.index = newIndex({ node: nodeWith(current.node, { rawBlock: withoutItsCoinbase }) });
    await current.index.open();
    expect(await reach('failed'))
      .to.have.property('message')
      .that.includes('expected a coin there, got none');
    expect(current.log.lines.filter((line) => line.includes('Rebuilding the index'))).to.have.length(1);
  });
});

/** The block with its coinbase turned into a transaction that spends a coin that never existed. */
function spendingNothing(raw: Buffer): Buffer {
  const changed = Buffer.from(raw);
  changed.fill(7, 81 + raw.subarray(81).indexOf(Buffer.alloc(32)), 81 + raw.subarray(81).indexOf(Buffer.alloc(32)) + 32);
  return changed;
}
