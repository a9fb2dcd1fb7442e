import { expect } from 'chai';
import { describe, it } from 'mocha';
import { checkDustPaysNothing, spendsAllDust, type DustyParent } from '../../lib/policy/dust';
import { candidate, input, offered, P2WPKH } from './offered';
import { refusalOf } from './refusal-of';

const LEAST = 294;

describe('a transaction with dust', () => {
  it('pays no fee, by which it would be mined without what spends the dust', () => {
    const paying = (fee: number, value: number): unknown =>
      refusalOf(() => {
        checkDustPaysNothing(candidate({ outputs: [{ value, script: P2WPKH }] }, [{ value: value + fee }]));
      });
    expect(paying(0, LEAST - 1)).to.equal(undefined);
    expect(paying(1, LEAST - 1)).to.equal('dust, tx with dust output must be 0-fee');
    expect(paying(1, LEAST)).to.equal(undefined);
  });

  it('is spent by a child that takes all of its dust, as of each of its parents', () => {
    const [one, other] = [offered({ inputs: [input(1)] }), offered({ inputs: [input(2)] })];
    const child = offered({
      inputs: [
        [one.txid, 3],
        [other.txid, 5]
      ].map(([txid, index]) => ({ ...input(0), outpoint: outpointOf(txid as Buffer, index as number) }))
    });
    const parent = ({ txid }: { readonly txid: Buffer }, ...dust: number[]): DustyParent => ({ txid, dust });
    expect(spendsAllDust(child, [parent(one, 3), parent(other, 5)])).to.equal(true);
    expect(spendsAllDust(child, [parent(one), parent(other)])).to.equal(true);
    for (const parents of [
      [parent(one, 4)],
      [parent(one, 5)],
      [parent(one, 3, 4)],
      [parent(one, 3), parent(other, 3)],
      [parent(one, 3), parent(other, 6)]
    ])
      expect(spendsAllDust(child, parents)).to.equal(false);
  });
});

function outpointOf(txid: Buffer, index: number): Buffer {
  const outpoint = Buffer.alloc(36);
  outpoint.writeUInt32LE(index, txid.copy(outpoint));
  return outpoint;
}
