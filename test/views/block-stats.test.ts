import { expect } from 'chai';
import { describe, it } from 'mocha';
import { scanBlock } from '../../lib/bitcoin/block';
import { blockSums, type BlockSums } from '../../lib/views/block-stats';
import { finish } from '../support/expectations/finish';
import { madeBlock, madeCoinbase, madeTransaction } from '../support/chain/made-blocks';

/** Of a block with one output. */
function sumsOf(script: Buffer, coinbaseMakesNoCoins = false): BlockSums {
  const block = madeBlock(Buffer.alloc(32), [madeCoinbase(1, [{ value: 50, script }])], 1);
  return finish(blockSums(scanBlock(block), { spent: [], coinbaseMakesNoCoins }));
}

/** Of a block with a transaction of the same weight for each fee. */
function sumsOfFees(fees: readonly number[]): BlockSums {
  const script = Buffer.of(0x51);
  const paying = fees.map((_, i) => madeTransaction([{ txid: Buffer.alloc(32, 1 + i), index: 0 }], [{ value: 50, script }], 0));
  const block = madeBlock(Buffer.alloc(32), [madeCoinbase(1, [{ value: 50, script }]), ...paying], 1);
  const spent = fees.map((fee) => ({ value: 50 + fee, script }));
  return finish(blockSums(scanBlock(block), { spent, coinbaseMakesNoCoins: false }));
}

describe('what the transactions of a block add up to', () => {
  it('has as percentiles the fee rates with which so much of the weight is reached', () => {
    const { total_weight: weight } = sumsOfFees([0]);
    // Rates of 4, 8, 12 and 16 satoshis for each virtual byte, in any order.
    const { feerate_percentiles: rates } = sumsOfFees([3 * weight, weight, 4 * weight, 2 * weight]);
    expect(rates).to.deep.equal([4, 4, 8, 12, 16]);
  });

  it('has averages and the median rounded down', () => {
    const { avgfee, medianfee, avgfeerate } = sumsOfFees([100, 201, 402, 404]);
    expect([avgfee, medianfee, avgfeerate]).to.deep.equal([276, 301, 4]);
  });

  it('counts an output with its value, the length of its script, and what else a coin takes', () => {
    const lengths = { 0: 1, 0xfc: 1, 0xfd: 3, 0xffff: 3, 0x1_0000: 5 }; // bytes in which a CompactSize says the length
    for (const [length, lengthBytes] of Object.entries(lengths)) {
      const sums = sumsOf(Buffer.alloc(Number(length), 0x51));
      expect(sums.utxo_size_inc, length).to.equal(8 + lengthBytes + Number(length) + 40);
    }
  });

  it('has no coin that nobody can spend, and none of a coinbase that makes none', () => {
    const made = [
      sumsOf(Buffer.alloc(10_000, 0x51)),
      sumsOf(Buffer.alloc(10_001, 0x51)),
      sumsOf(Buffer.of(0x6a)),
      sumsOf(Buffer.of(0x51), true)
    ];
    expect(made.map(({ utxo_increase }) => utxo_increase)).to.deep.equal([1, 1, 1, 1]);
    expect(made.map(({ utxo_increase_actual }) => utxo_increase_actual)).to.deep.equal([1, 0, 0, 0]);
    expect(made.map(({ utxo_size_inc_actual }) => utxo_size_inc_actual > 0)).to.deep.equal([true, false, false, false]);
  });
});
