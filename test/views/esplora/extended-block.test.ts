import { expect } from 'chai';
import { describe, it } from 'mocha';
import { scanWholeTransaction } from '../../../lib/bitcoin/transaction';
import { extendedBlockText } from '../../../lib/views/esplora/extended-block';
import { chainAActiveBlocks, coreRegtestPrefixes } from '../../support/chain/chain-a';
import { chainAView } from '../chain-a-views';
import { madeTransaction } from '../../support/chain/made-blocks';

describe('a block as mempool’s interface shows it', () => {
  /** With a coinbase that pays to these scripts. */
  const shown = (...scripts: readonly string[]): object => {
    const outputs = scripts.map((hex) => ({ value: 50, script: Buffer.from(hex, 'hex') }));
    const coinbase = scanWholeTransaction(madeTransaction([{ txid: Buffer.alloc(32), index: 0xffff_ffff }], outputs, 0));
    const block = { ...chainAView(chainAActiveBlocks()[1]?.hash ?? ''), length: 285, weight: 1_140 };
    const fees = { totalFees: 0, medianFee: 0, feeRange: [] };
    const sums = { size: 0, transactionsWeight: 0, inputs: 0, outputs: outputs.length, outputValue: 0 };
    const extras = { coinbase, ...fees, ...sums, segwit: { count: 0, size: 0, weight: 0 } };
    return (JSON.parse(extendedBlockText(block, extras, coreRegtestPrefixes).toString()) as { extras: object }).extras;
  };

  it('has each address of the coinbase once, and first that of the first output', () => {
    const [one, two] = [`0014${'11'.repeat(20)}`, `0014${'22'.repeat(20)}`];
    const [first, second] = ['bcrt1qzyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3lgth6c', 'bcrt1qyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zs4w3j0'];
    expect(shown(two, one, two)).to.deep.include({ coinbaseAddress: second, coinbaseAddresses: [second, first] });
    expect(shown('6a', one)).to.deep.include({ coinbaseAddress: null, coinbaseAddresses: [first] });
  });
});
