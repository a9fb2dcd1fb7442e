import { expect } from 'chai';
import fc from 'fast-check';
import { after, before, describe, it } from 'mocha';
import { BcoinNode } from '../../lib/node/bcoin';
import { feeEstimates, type FeeTarget } from '../../lib/pool/fee-estimates';
import { nodeWith } from '../support/bcoin/changed-node';
import { openRegtestNode } from '../support/bcoin/regtest-node';
import type { PoolInfo, PoolSource } from '../../lib/node/types/pool';
import type { FeeBin } from '../../lib/pool/summary';
import type { TestFullNode } from '../support/bcoin/bcoin';

/** Satoshis per virtual byte. */
const RELAY_RATE = 1;

describe('fee estimates', () => {
  let host: TestFullNode;
  let regtest: BcoinNode;

  before(async () => {
    host = await openRegtestNode();
    regtest = new BcoinNode(host);
  });
  after(() => host.close());

  /** Estimates as on the main network. `rates`: the node's estimates by blocks, in satoshis per 1,000 virtual bytes. */
  function estimates(histogram: readonly FeeBin[], rates: Readonly<Record<number, number>> = {}, minFeeRate?: number): FeeTarget[] {
    const info = (): PoolInfo => ({ ...regtest.pool.info(), ...(minFeeRate !== undefined && { minFeeRate }) });
    const node = nodeWith(regtest, {
      network: { ...regtest.network, chain: 'main' },
      pool: Object.assign(Object.create(regtest.pool) as PoolSource, { info }),
      estimateFee: (blocks) => {
        const within = Object.keys(rates)
          .map(Number)
          .find((one) => one >= blocks);
        return within === undefined ? undefined : { rate: rates[within] as number, blocks: within };
      }
    });
    return feeEstimates(node, { histogram, vsize: histogram.reduce((sum, { vsize }) => sum + vsize, 0) });
  }

  const shown = (targets: readonly FeeTarget[]): string => targets.map(({ blocks, rate }) => `${blocks}: ${rate}`).join(', ');

  /** Bins of half a block each. */
  const pool = (...rates: readonly number[]): FeeBin[] => rates.map((rate) => ({ rate, vsize: 500_000 }));

  const upTo = (from: number, to: number, rate: number): string =>
    Array.from({ length: to - from + 1 }, (_, i) => `${from + i}: ${rate}`).join(', ');

  it('are none on regtest', () => {
    expect(feeEstimates(regtest, { vsize: 4_000_000, histogram: pool(8, 7, 6, 5, 4, 3, 2, 1) })).to.deep.equal([]);
  });

  it('are the relay fee, for long waits only, while neither node nor pool have data', () => {
    expect(shown(estimates([]))).to.equal(`144: ${RELAY_RATE}, 504: ${RELAY_RATE}, 1008: ${RELAY_RATE}`);
    // A pool of one block may not have been filled yet.
    expect(shown(estimates(pool(50, 40)))).to.equal(`144: ${RELAY_RATE}, 504: ${RELAY_RATE}, 1008: ${RELAY_RATE}`);
  });

  it('are not below what a full pool asks for', () => {
    expect(shown(estimates(pool(50, 40, 30), { 6: 2_000 }, 7_200))).to.equal(`${upTo(1, 25, 7.2)}, 144: 7.2, 504: 7.2, 1008: 7.2`);
  });

  it('are the fee rate at the target’s depth in a pool of more than a block', () => {
    expect(shown(estimates(pool(50, 40, 30, 20, 10)))).to.equal(`1: 30, 2: 10, ${upTo(3, 25, 1)}, 144: 1, 504: 1, 1008: 1`);
  });

  it('are the node’s if it has some, and the pool’s beyond', () => {
    const targets = estimates(pool(...Array<number>(60).fill(2)), { 2: 12_345, 6: 4_000 });
    expect(shown(targets)).to.equal(`1: 12.345, 2: 12.345, 3: 4, 4: 4, 5: 4, 6: 4, ${upTo(7, 25, 2)}, 144: 1, 504: 1, 1008: 1`);
    expect(shown(estimates([], { 3: 5_000 }))).to.equal('1: 5, 2: 5, 3: 5, 144: 1, 504: 1, 1008: 1');
  });

  it('are not below those for longer waits, nor below the relay fee', () => {
    expect(shown(estimates(pool(...Array<number>(20).fill(9)), { 2: 3_000 }))).to.equal(
      `${upTo(1, 9, 9)}, ${upTo(10, 25, 1)}, 144: 1, 504: 1, 1008: 1`
    );
    expect(shown(estimates([], { 1: 200 }))).to.equal('1: 1, 144: 1, 504: 1, 1008: 1');
    expect(shown(estimates([], { 1008: 200 }))).to.equal(`${upTo(1, 25, 1)}, 144: 1, 504: 1, 1008: 1`);
    const rate = fc.integer({ min: 1, max: 400 });
    fc.assert(
      fc.property(
        fc.array(rate, { maxLength: 60 }),
        fc.dictionary(fc.integer({ min: 1, max: 15 }).map(String), rate, { maxKeys: 6 }),
        (bins, own) => {
          const targets = estimates(
            pool(...bins.sort((a, b) => b - a)),
            Object.fromEntries(Object.entries(own).map(([blocks, sats]) => [blocks, sats * 100]))
          );
          expect(targets.map(({ blocks }) => blocks)).to.deep.equal([...targets.map(({ blocks }) => blocks)].sort((a, b) => a - b));
          for (const [i, { rate: paid }] of targets.entries()) expect(paid).to.be.at.least(targets[i + 1]?.rate ?? RELAY_RATE);
          expect(targets.slice(-3).map(({ blocks }) => blocks)).to.deep.equal([144, 504, 1_008]);
        }
      )
    );
  });
});
