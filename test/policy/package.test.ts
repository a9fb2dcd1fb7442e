import { expect } from 'chai';
import { describe, it } from 'mocha';
import { WEIGHT_PER_VBYTE, type ScannedTransaction } from '../../lib/bitcoin/transaction';
import { isChildWithParents, packageFault } from '../../lib/policy/package';
import { input, offered } from './offered';

/** A transaction without witness of this weight; `number`: of the outpoint that it spends. */
function weighing(weight: number, number: number): ScannedTransaction {
  const parts = (length: number): ScannedTransaction =>
    offered({ inputs: [input(number)], outputs: [{ value: 0, script: Buffer.alloc(length) }] }).transaction;
  // Long enough for its length to be written in five bytes.
  const long = parts(0x1_0000);
  return parts(0x1_0000 + (weight - long.weight) / WEIGHT_PER_VBYTE);
}

describe('a package', () => {
  it('has a weight of 404,000 at most, if it is more than one transaction', () => {
    const small = offered({ inputs: [input(1)] }).transaction;
    const left = 404_000 - small.weight;
    expect(packageFault([weighing(left, 2), small])).to.equal(undefined);
    expect(packageFault([weighing(left + WEIGHT_PER_VBYTE, 2), small])).to.equal('package-too-large');
    expect(packageFault([weighing(404_000 + WEIGHT_PER_VBYTE, 2)])).to.equal(undefined);
  });

  it('has each transaction once, parents first, and spends nothing twice', () => {
    const [one, other] = [offered({ inputs: [input(1)] }).transaction, offered({ inputs: [input(2)] }).transaction];
    const ofOne = { ...input(0), outpoint: Buffer.concat([one.txid, Buffer.alloc(4)]) };
    const child = offered({ inputs: [ofOne] }).transaction;
    const sibling = offered({ inputs: [ofOne], outputs: [] }).transaction;
    expect(packageFault([one, child, other])).to.equal(undefined);
    expect(packageFault([one, other, one])).to.equal('package-contains-duplicates');
    expect(packageFault([child, one])).to.equal('package-not-sorted');
    expect(packageFault([one, child, sibling])).to.equal('conflict-in-package');
    // As for Bitcoin Core, which could not tell such ones apart.
    expect(packageFault([offered({ inputs: [], outputs: [] }).transaction])).to.equal('conflict-in-package');
  });

  it('is a child with its parents, which do not spend from each other, or something else', () => {
    const spending = (...parents: readonly ScannedTransaction[]): ScannedTransaction =>
      offered({
        inputs: [input(++made), ...parents.map(({ txid }) => ({ ...input(0), outpoint: Buffer.concat([txid, Buffer.alloc(4)]) }))]
      }).transaction;
    let made = 0;
    const [one, other] = [spending(), spending()];
    const ofOne = spending(one);
    expect(isChildWithParents([one, ofOne])).to.equal(true);
    expect(isChildWithParents([one, other, spending(one, other)])).to.equal(true);
    for (const all of [
      [one, other],
      [one, other, spending(one)],
      [one, ofOne, spending(one, ofOne)],
      [one, ofOne, spending(ofOne)]
    ])
      expect(isChildWithParents(all)).to.equal(false);
  });
});
