import { expect } from 'chai';
import { describe, it } from 'mocha';
import { nextHeader, type HeaderFold } from '../../lib/bitcoin/header';
import { ChainView } from '../../lib/fleet/reader/chain-view';
import { NETWORKS } from '../../lib/fleet/reader/networks';
import { SnapshotReader } from '../../lib/index/read/reader';
import { IndexWriter } from '../../lib/index/write/index-writer';
import { MemoryStore } from '../../lib/store/memory-store';
import { blockHash, madeBlock, madeCoinbase } from '../support/chain/made-blocks';
import { addBlocks } from '../support/index/filled-batch';

/** Of the latest blocks of its index the view knows more than the hashes. */
const LATEST = 4_320;
const HEIGHT = LATEST + 20;

describe('the chain as a reader has it in its index', () => {
  it('has of the latest blocks what they and all below them add up to, and of the others the hashes', async () => {
    const blocks = [madeBlock(Buffer.alloc(32), [madeCoinbase(0, [])], 0)];
    // Times go up and down, as they may.
    for (let height = 1; height <= HEIGHT; height++)
      blocks.push(madeBlock(blockHash(blocks[height - 1] as Buffer), [madeCoinbase(0, [])], height + ((height * 7) % 11)));
    const folds: HeaderFold[] = [];
    for (const raw of blocks) folds.push(nextHeader(folds.at(-1), raw.subarray(0, 80)));
    const store = new MemoryStore();
    await store.open();
    const reader = new SnapshotReader(store, (error) => {
      throw error;
    });
    const writer = new IndexWriter({ store, genesisHash: blockHash(blocks[0] as Buffer), undoDepth: 100, onMove: () => reader.renew() });
    await writer.load();
    const batch = writer.batch();
    await addBlocks(batch, blocks, writer);
    await writer.commit(batch).written;

    const view = reader.read((snapshot) => ChainView.ofIndex(NETWORKS.regtest, snapshot));
    expect(view.tip.height).to.equal(HEIGHT);
    for (const [height, raw] of blocks.entries()) {
      const hash = blockHash(raw);
      expect(view.hashAt(height)).to.deep.equal(hash);
      const expected = { hash, height, header: raw.subarray(0, 80), ...folds[height] };
      expect(view.entry(hash), `height ${height}`).to.deep.equal(height < HEIGHT - LATEST ? undefined : expected);
    }
    await store.close();
  });
});
