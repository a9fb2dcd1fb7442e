import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { PooledScripts } from '../../lib/answers/scripts/pooled-script';
import { ChainTotals } from '../../lib/answers/scripts/totals';
import { ROWS_PER_PAGE, ScriptHistories } from '../../lib/answers/status/history';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { HistoryTexts } from '../../lib/electrum/methods/history-texts';
import { ROW_POINTS } from '../../lib/electrum/methods/points';
import { BcoinNode } from '../../lib/node/bcoin';
import { ScriptPool } from '../../lib/pool/by-script/script-pool';
import { AnswerCache } from '../../lib/server/cache/answer-cache';
import { blockHash, madeBlock, madeCoinbase } from '../support/chain/made-blocks';
import { openRegtestNode } from '../support/bcoin/regtest-node';
import { ScriptIndex } from '../support/index/script-index';
import { ScriptModel, sha256 } from '../support/index/script-model';
import { unfailing } from '../support/expectations/unfailing';
import type { ElectrumClient } from '../../lib/electrum/method';
import type { TestFullNode } from '../support/bcoin/bcoin';

/** The longest text that is a string has 160 transactions or so. */
const LENGTHS = [0, 1, 2, 150, 160, 170, ROWS_PER_PAGE - 1, ROWS_PER_PAGE, ROWS_PER_PAGE + 1, 2 * ROWS_PER_PAGE, 2 * ROWS_PER_PAGE + 1];

const TIMES = 3;

const scriptOf = (length: number): Buffer => Buffer.from(`a script with ${length}`);

describe('the text of a history', () => {
  let host: TestFullNode;
  let index: ScriptIndex;
  let model: ScriptModel;
  let histories: ScriptHistories;
  let texts: HistoryTexts;

  before(async () => {
    const chain = [madeBlock(Buffer.alloc(32), [madeCoinbase(1, [])], 0)];
    for (let height = 1; height <= Math.max(...LENGTHS); height++) {
      const outputs = LENGTHS.filter((length) => length >= height).map((length) => ({ value: height, script: scriptOf(length) }));
      chain.push(madeBlock(blockHash(chain.at(-1) ?? Buffer.alloc(0)), [madeCoinbase(2, outputs)], height));
    }
    model = new ScriptModel(chain);
    index = await ScriptIndex.open(blockHash(chain[0] ?? Buffer.alloc(0)));
    await index.connect(model.blocks);
    host = await openRegtestNode();
    const cache = new AnswerCache(1 << 24);
    histories = new ScriptHistories(new PooledScripts(new ScriptPool(new BcoinNode(host).pool, unfailing)), new ChainTotals(cache));
    texts = new HistoryTexts(cache, 80_000);
  });
  after(async () => {
    await index.close();
    await host.close();
  });

  it('has every transaction once, however many pages it comes in, made anew and cached', async () => {
    let points = 0;
    const client = { isGone: false, charge: (more: number) => (points += more) } as Partial<ElectrumClient> as ElectrumClient;
    for (let times = 0; times < TIMES; times++)
      for (const length of LENGTHS) {
        const script = sha256(scriptOf(length));
        const text = await index.read((snapshot) => Promise.resolve(texts.of(histories.at(script, snapshot), client)));
        const expected = model.history(script).map(({ position: { height }, txid }) => ({ tx_hash: toDisplayHex(txid), height }));
        expect(JSON.parse(text.toString()), `${length} transactions`).to.deep.equal(expected);
      }
    // As much for a cached one.
    expect(points).to.be.closeTo(TIMES * LENGTHS.reduce((sum, length) => sum + length, 0) * ROW_POINTS, 0.001);
  });
});
