import { expect } from 'chai';
import { describe, it } from 'mocha';
import { blockFigures } from '../../../lib/answers/blocks/block-figures';
import { scanWholeTransaction } from '../../../lib/bitcoin/transaction';
import { finish } from '../../support/expectations/finish';
import { madeCoinbase, plainTransaction } from '../../support/chain/made-blocks';
import type { SpentNodeCoin } from '../../../lib/node/types/coins';

const WORTH = 1_000_000;

const coin = (value: number): SpentNodeCoin => ({ value, height: 1, coinbase: false, script: Buffer.from([0x51]) });

const coinbaseOf = (value: number): Buffer => madeCoinbase(1, [{ value, script: Buffer.from([0x51]) }]);

const blockOf = (transactions: readonly Buffer[]): Buffer =>
  Buffer.concat([Buffer.alloc(80), Buffer.from([transactions.length]), ...transactions]);

describe('the figures of a block', () => {
  it('are those of its transactions; who only together pays what made the miner take them has one rate', () => {
    const confirmed = [1, 2].map((n) => Buffer.alloc(32, n));
    const parent = plainTransaction(confirmed.slice(0, 1), WORTH - 10);
    const child = plainTransaction([scanWholeTransaction(parent).txid], WORTH - 10 - 9_990);
    const other = plainTransaction(confirmed.slice(1), WORTH - 4_000);
    const raw = blockOf([coinbaseOf(5_000_014_000), parent, other, child]);
    const figures = finish(blockFigures(raw, [coin(WORTH), coin(WORTH), coin(WORTH - 10)]));
    expect(figures).to.include({ totalFees: 14_000, inputs: 3, outputs: 7, length: raw.length, weight: 4 * raw.length });
    const together = 10_000 / ((2 * parent.length * 4) / 4);
    expect(figures.transactions.map(({ fee, rate }) => [fee, rate])).to.deep.equal([
      [0, 0],
      [10, together],
      [4_000, 4_000 / other.length],
      [9_990, together]
    ]);
    expect(figures.statistics.range).to.include(together);
  });

  it('of a coinbase alone are nothing', () => {
    const figures = finish(blockFigures(blockOf([coinbaseOf(5_000_000_000)]), []));
    expect(figures).to.include({ totalFees: 0, inputs: 0, outputs: 1, size: 0, outputValue: 0 });
  });
});
