import { expect } from 'chai';
import * as fc from 'fast-check';
import { describe, it } from 'mocha';
import { beatOf } from '../../lib/fleet/feed/beat';
import { Beats } from '../../lib/fleet/reader/beats';
import { BcoinNode } from '../../lib/node/bcoin';
import { nodeWith } from '../support/bcoin/changed-node';
import { openRegtestNode } from '../support/bcoin/regtest-node';
import { anyBeat } from './any-record';
import type { FeeEstimate } from '../../lib/node/types/source';

const STALE_MS = 60_000;

/** After a beat with these fee estimates. */
function estimates(fees: readonly FeeEstimate[], mostFeeBlocks: number): (FeeEstimate | undefined)[] {
  const beats = new Beats(STALE_MS);
  const [beat = expect.fail('a beat')] = fc.sample(anyBeat, 1);
  beats.note({ ...beat, fees, mostFeeBlocks }, true);
  return [1, 2, 3, 4, 5, 6, 7].map((blocks) => beats.estimateFee(blocks));
}

describe('the fee estimates in a beat', () => {
  it('are all that the node has, each once', async () => {
    const host = await openRegtestNode();
    let rates: readonly (number | undefined)[] = [undefined, 900, 900, undefined, 500, undefined];
    const estimateFee = (blocks: number): FeeEstimate | undefined => {
      const within = rates.findIndex((rate, i) => rate !== undefined && i + 1 >= blocks);
      return within < 0 ? undefined : { rate: rates[within] ?? 0, blocks: within + 1 };
    };
    const node = nodeWith(new BcoinNode(host), { mostFeeBlocks: rates.length, estimateFee });
    const fees = (): readonly FeeEstimate[] => beatOf({ node, warnings: () => [], release: '1.2.3' }, node.tip()).fees;
    expect(fees()).to.deep.equal([
      { rate: 900, blocks: 2 },
      { rate: 900, blocks: 3 },
      { rate: 500, blocks: 5 }
    ]);
    rates = [undefined, undefined, undefined, undefined, 500, 400];
    expect(fees()).to.deep.equal([
      { rate: 500, blocks: 5 },
      { rate: 400, blocks: 6 }
    ]);
    await host.close();
  });
});

describe('a beat', () => {
  it('has twenty warnings of the chain at most', async () => {
    const host = await openRegtestNode();
    const node = new BcoinNode(host);
    const warnings = Array.from({ length: 21 }, (_, i) => `warning ${i}`);
    const beat = beatOf({ node, warnings: () => warnings, release: '1.2.3' }, node.tip());
    expect(beat.warnings).to.deep.equal(warnings.slice(0, 20));
    await host.close();
  });
});

describe('the beats that a reader has heard', () => {
  it('say that the fleet is in sync if the last one came now, and until it counts for nothing any more', () => {
    const beats = new Beats(STALE_MS);
    const told: boolean[] = [];
    beats.synced$.subscribe((synced) => told.push(synced));
    const [beat = expect.fail('a beat')] = fc.sample(anyBeat, 1);
    beats.note({ ...beat, synced: true }, false);
    expect([beats.synced, beats.isStale, beats.age]).to.deep.equal([false, true, undefined]);
    beats.note({ ...beat, synced: true }, true);
    expect([beats.synced, beats.isStale]).to.deep.equal([true, false]);
    beats.forget();
    expect([beats.synced, beats.isStale, beats.age]).to.deep.equal([false, true, undefined]);
    expect(told).to.deep.equal([false, true, false]);
  });
});

describe('the fee estimates of a reader', () => {
  it('are those of the leading node, up to the greatest number of blocks that it knows', () => {
    const fees = [
      { rate: 900, blocks: 2 },
      { rate: 500, blocks: 5 }
    ];
    expect(estimates(fees, 6)).to.deep.equal([
      { rate: 900, blocks: 2 },
      { rate: 900, blocks: 2 },
      { rate: 900, blocks: 3 },
      { rate: 900, blocks: 4 },
      { rate: 500, blocks: 5 },
      { rate: 500, blocks: 6 },
      undefined
    ]);
  });

  it('are none while the node has none, and before its first beat', () => {
    expect(estimates([], 1_008)).to.deep.equal(Array.from({ length: 7 }, () => undefined));
    expect(new Beats(STALE_MS).estimateFee(1)).to.equal(undefined);
  });
});
