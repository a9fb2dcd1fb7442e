import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { txidsIn } from '../../lib/bitcoin/block';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { utxoHash } from '../../lib/index/utxo-hash/utxo-hash';
import { IndexWriter } from '../../lib/index/write/index-writer';
import { MemoryStore } from '../../lib/store/memory-store';
import { runAtOnce } from '../../lib/turns/slices';
import { chainAActiveBlocks, chainAFolder } from '../support/chain/chain-a';
import { blockHash } from '../support/chain/made-blocks';

/** What Bitcoin Core's `gettxoutsetinfo muhash` answered about chain A. */
interface RecordedHash {
  readonly height: number;
  readonly muhash: string;
  readonly txouts: number;
  readonly total_amount: string;
}

const recorded = JSON.parse(readFileSync(join(chainAFolder, 'muhash.json'), 'utf8')) as readonly RecordedHash[];

describe('the hash of the coins of an index', () => {
  const store = new MemoryStore();
  let writer: IndexWriter;

  before(async () => {
    await store.open();
    const [genesis] = chainAActiveBlocks();
    writer = new IndexWriter({
      store,
      genesisHash: blockHash(genesis?.raw ?? expect.fail('a genesis block')),
      undoDepth: 1_000,
      onMove: () => undefined
    });
    await writer.load();
  });
  after(() => store.close());

  async function hashNow(): Promise<Omit<RecordedHash, 'height'>> {
    const snapshot = store.snapshot();
    try {
      const { muhash, coins, satoshis } = await utxoHash(snapshot, {
        txidsOf: (height) => Promise.resolve(runAtOnce(txidsIn((chainAActiveBlocks()[height] ?? expect.fail('a block')).raw))),
        onRecord: () => undefined
      });
      return { muhash: toDisplayHex(muhash), txouts: coins, total_amount: (Number(satoshis) / 1e8).toFixed(8) };
    } finally {
      snapshot.close();
    }
  }

  const recordedAt = (at: number): Omit<RecordedHash, 'height'> => {
    const { muhash, txouts, total_amount } = recorded.find(({ height }) => height === at) ?? expect.fail('a record');
    return { muhash, txouts, total_amount };
  };

  it('is that of Bitcoin Core at 13 heights of chain A', async () => {
    let compared = 0;
    for (const { height, raw } of chainAActiveBlocks()) {
      await writer.apply(raw);
      if (!recorded.some((each) => each.height === height)) continue;
      expect(await hashNow(), `height ${height}`).to.deep.equal(recordedAt(height));
      compared++;
    }
    expect(compared).to.equal(13);
  });

  it('is that of an earlier block again after blocks were undone', async () => {
    const heights = recorded.map(({ height }) => height);
    const lower = heights.at(-2) ?? expect.fail('two heights');
    while ((writer.tip?.height ?? 0) > lower) await writer.undo();
    expect(await hashNow()).to.deep.equal(recordedAt(lower));
  });
});
