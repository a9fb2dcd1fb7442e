import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { balancesOf, effectOf } from '../../lib/web/browser/explorer/address/balance';
import { periodOf, periodStart } from '../../lib/web/browser/explorer/home/period';
import { bandsOf, barsOf, BLOCK_VSIZE, nextBlock } from '../../lib/web/browser/explorer/pool/bands';
import { Pace } from '../../lib/web/browser/explorer/warm-up/pace';

const anyBands = fc
  .array(fc.record({ rate: fc.double({ min: 0, max: 5_000, noNaN: true }), vsize: fc.integer({ min: 1, max: 400_000 }) }))
  .map((bands) => bands.sort((a, b) => b.rate - a.rate));

describe('the chart of the pool', () => {
  it('has each virtual byte once, and gives the next block the best ones', () => {
    fc.assert(
      fc.property(anyBands, (bands) => {
        const bars = barsOf(bands);
        const all = bands.reduce((sum, { vsize }) => sum + vsize, 0);
        expect(bars.reduce((sum, { vsize }) => sum + vsize, 0)).to.equal(all);
        const taken = bars.reduce((sum, { next }) => sum + next, 0);
        expect(taken).to.equal(Math.min(all, BLOCK_VSIZE));
        expect(nextBlock(bands).vsize).to.equal(taken);
        // Below a bar that the block does not take whole, it takes nothing.
        const part = bars.findLastIndex(({ vsize, next }) => next < vsize);
        expect(bars.slice(0, Math.max(0, part)).every(({ next }) => next === 0)).to.equal(true);
      })
    );
  });

  it('puts transactions into bands by what they pay', () => {
    expect(
      bandsOf([
        { fee: 1_000n, vsize: 100 },
        { fee: 150n, vsize: 100 },
        { fee: 11n, vsize: 1 }
      ])
    ).to.deep.equal([
      { rate: 10, vsize: 101 },
      { rate: 1, vsize: 100 }
    ]);
  });
});

describe('the balance of an address', () => {
  const transaction = (ins: readonly bigint[], outs: readonly bigint[]): Parameters<typeof effectOf>[0] => {
    const output = (value: bigint) => ({ value, script: '', asm: '', kind: 'p2pkh', address: 'own' });
    const inputs = ins.map((value) => ({
      txid: '',
      vout: 0,
      isCoinbase: false,
      script: '',
      asm: '',
      witness: [],
      sequence: 0,
      redeemScript: undefined,
      witnessScript: undefined,
      spent: output(value)
    }));
    return { txid: '', version: 1, locktime: 0, size: 0, weight: 0, fee: 0n, inputs, outputs: outs.map(output), confirmation: undefined };
  };
  const isOwn = ({ address }: { readonly address: string | undefined }): boolean => address === 'own';

  it('changes by what transactions pay to it less what they spend of it', () => {
    expect(effectOf(transaction([5n], [2n, 1n]), isOwn)).to.equal(-2n);
    expect(effectOf(transaction([5n], [2n]), () => false)).to.equal(0n);
  });

  it('goes back from the newest to the oldest transaction', () => {
    const history = [
      { effect: -3n, time: 30 },
      { effect: 5n, time: 20 },
      { effect: 1n, time: 10 }
    ];
    expect(balancesOf(history, 3n)).to.deep.equal([
      { time: 10, sats: 0n },
      { time: 10, sats: 1n },
      { time: 20, sats: 6n },
      { time: 30, sats: 3n }
    ]);
    expect(balancesOf([], 0n)).to.deep.equal([]);
  });
});

describe('the difficulty period', () => {
  it('tells how many blocks are left, and what follows at this pace', () => {
    expect(periodStart(4_031)).to.equal(2_016);
    const first = { height: 2_016, time: 0 };
    expect(periodOf({ height: 2_016 + 1_008, time: 1_008 * 300 }, first)).to.deep.equal({
      mined: 1_009,
      left: 1_007,
      change: 100,
      secondsLeft: 1_007 * 300
    });
    expect(periodOf({ height: 2_020, time: 9 }, first)).to.include({ mined: 5, change: undefined });
    expect(periodOf({ height: 2_100, time: 1 }, first).change).to.equal(300);
  });
});

describe('the time that work takes', () => {
  it('follows from how far it was before', () => {
    const pace = new Pace();
    expect(pace.secondsLeft(0.1, 0)).to.equal(undefined);
    expect(pace.secondsLeft(0.2, 10_000)).to.be.closeTo(80, 1e-6);
    expect(pace.secondsLeft(0.05, 20_000)).to.equal(undefined);
    expect(pace.secondsLeft(0.1, 30_000)).to.be.closeTo(180, 1e-6);
  });
});
