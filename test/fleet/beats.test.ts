import { expect } from 'chai';
import * as fc from 'fast-check';
import { describe, it } from 'mocha';
import { Beats } from '../../lib/fleet/reader/beats';
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
