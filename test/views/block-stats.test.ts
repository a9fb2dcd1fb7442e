import { expect } from 'chai';
import { describe, it } from 'mocha';
import { scanBlock } from '../../lib/bitcoin/block';
import { blockSums, type BlockSums } from '../../lib/views/block-stats';
import { finish } from '../support/finish';
import { madeBlock, madeCoinbase } from '../support/made-blocks';

/** Of a block with one output. */
function sumsOf(script: Buffer, coinbaseMakesNoCoins = false): BlockSums {
  const block = madeBlock(Buffer.alloc(32), [madeCoinbase(1, [{ value: 50, script }])], 1);
  return finish(blockSums(scanBlock(block), { spent: [], coinbaseMakesNoCoins }));
}

describe('what the transactions of a block add up to', () => {
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
