import { expect } from 'chai';
import { describe, it } from 'mocha';
import { StoreError } from '../../lib/store/errors';
import { nodeWith } from '../support/changed-node';
import { current, expectLevel, newIndex, openNew, reach, withNodeAndIndex } from '../support/indexed-node';
import { mine } from '../support/regtest-node';

describe('an index that fails', () => {
  withNodeAndIndex();

  it('says so, lets the chain go on, and takes nothing down', async () => {
    await mine(current.host, 3);
    let full = false;
    const batch = current.store.batch.bind(current.store);
    current.store.batch = (writes, options) => (full ? Promise.reject(new StoreError('failed', 'no space left on device')) : batch(writes, options));
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

  it('says which block the node no longer has', async () => {
    await mine(current.host, 3);
    const second = await current.node.activeHash(2);
    current.index = newIndex({ node: nodeWith(current.node, { rawBlock: (hash) => (second?.equals(hash) === true ? Promise.resolve(undefined) : current.node.rawBlock(hash)) }) });
    await current.index.open();
    expect(await reach('failed')).to.have.property('message').that.includes('the node has no block at height 2');
  });

  it('says that a block does not fit when building anew did not help', async () => {
    await mine(current.host, 3);
    const second = await current.node.activeHash(2);
    const withoutItsCoinbase = async (hash: Buffer): Promise<Buffer | undefined> => {
      const raw = await current.node.rawBlock(hash);
      return second?.equals(hash) === true && raw !== undefined ? spendingNothing(raw) : raw;
    };
    current.index = newIndex({ node: nodeWith(current.node, { rawBlock: withoutItsCoinbase }) });
    await current.index.open();
    expect(await reach('failed')).to.have.property('message').that.includes('expected a coin there, got none');
    expect(current.log.lines.filter((line) => line.includes('Building the index anew'))).to.have.length(1);
  });
});

/** The block with its coinbase turned into a transaction that spends a coin that never was. */
function spendingNothing(raw: Buffer): Buffer {
  const changed = Buffer.from(raw);
  changed.fill(7, 81 + raw.subarray(81).indexOf(Buffer.alloc(32)), 81 + raw.subarray(81).indexOf(Buffer.alloc(32)) + 32);
  return changed;
}
