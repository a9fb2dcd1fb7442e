// A chain of few blocks that has what the layouts of the index treat in a way of their own:
// every kind of script, amounts of all sizes, more than 32 outputs, two coinbases of the same
// txid (BIP30), coins spent in their own block and later. Never to be changed: the stored
// images in test/vectors are of it.

import { scanBlock } from '../../lib/bitcoin/block';
import { blockHash, madeBlock, madeCoinbase, madeTransaction, type MadeInput, type MadeOutput } from './made-blocks';

const output = (value: number, script: string): MadeOutput => ({ value, script: Buffer.from(script, 'hex') });
const HASH = '22'.repeat(20);
const KEY = '11'.repeat(32);

const EVERY_SCRIPT = [
  `76a914${HASH}88ac`, `a914${HASH}87`, `0014${HASH}`, `0020${KEY}`, `5120${KEY}`, `2102${KEY}ac`, `2103${KEY}ac`, `4104${KEY}${KEY}ac`, '', '51',
  `76a914${HASH}88ad`, `2104${KEY}ac`, '6a0401020304', '00'.repeat(10_000), '00'.repeat(10_001), `5121${'02'.repeat(33)}51ae`
];
const AMOUNTS = [0, 1, 7, 8, 10, 99, 546, 1_000, 123_456_789, 5_000_000_000, 2_100_000_000_000_000, Number.MAX_SAFE_INTEGER];

export function layoutChain(): Buffer[] {
  const blocks = [madeBlock(Buffer.alloc(32), [madeCoinbase(255, [output(50, '51')])], 0)];
  const extend = (...transactions: Buffer[]): void => {
    blocks.push(madeBlock(blockHash(blocks.at(-1) as Buffer), transactions, blocks.length)); // never empty
  };
  const coinOf = (height: number, position: number, index: number): MadeInput => {
    const txid = scanBlock(blocks[height] as Buffer).transactions[position]?.txid;
    if (txid === undefined) throw new Error(`no transaction ${position} at height ${height}`);
    return { txid, index };
  };
  const repeated = madeCoinbase(1, Array.from({ length: 40 }, (_, i) => output(i, '51')));
  extend(repeated);
  extend(madeCoinbase(2, [output(1, '51')]), madeTransaction([coinOf(1, 0, 3), coinOf(1, 0, 39)], EVERY_SCRIPT.map((script, i) => output(i + 1, script)), 0));
  extend(madeCoinbase(3, AMOUNTS.map((value) => output(value, `0014${HASH}`))));
  extend(repeated);
  const parent = madeTransaction([coinOf(2, 1, 0), coinOf(4, 0, 5)], Array.from({ length: 70 }, (_, i) => output(i * 1_000, `a914${HASH}87`)), 1);
  const parentTxid = scanBlock(madeBlock(Buffer.alloc(32), [parent], 0)).transactions[0]?.txid as Buffer; // the one there is
  extend(madeCoinbase(4, []), parent, madeTransaction([{ txid: parentTxid, index: 33 }], [output(5, '6a')], 2));
  extend(madeCoinbase(5, [output(0, '6a')]), madeTransaction([coinOf(5, 1, 64), coinOf(5, 1, 0), coinOf(3, 0, 2), coinOf(2, 0, 0)], [output(9, '51')], 3));
  return blocks;
}
