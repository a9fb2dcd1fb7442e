import { expect } from 'chai';
import { describe, it } from 'mocha';
import { consecutiveBlocks, type RawBlock } from '../../lib/follow/consecutive';
import { blockHash, madeBlock, madeCoinbase } from '../support/chain/made-blocks';

const blockAt = (height: number, previous: Buffer, tag = height): RawBlock => {
  const raw = madeBlock(previous, [madeCoinbase(tag, [])], tag);
  return { point: { height, hash: blockHash(raw) }, raw };
};

/** Blocks of the heights from 0 up. */
function chainOf(count: number): RawBlock[] {
  const chain: RawBlock[] = [];
  for (let height = 0; height < count; height++) chain.push(blockAt(height, chain.at(-1)?.point.hash ?? Buffer.alloc(32)));
  return chain;
}

describe('the next blocks for an index', () => {
  const chain = chainOf(8);
  const heights = async (
    from: number,
    target: number,
    { before = chain[from - 1]?.point.hash, of = chain, signal = new AbortController().signal } = {}
  ): Promise<number[]> =>
    (await consecutiveBlocks(from, target, before, signal, (height) => Promise.resolve(of[height]))).map(({ point }) => point.height);

  it('are those up to the target', async () => {
    expect(await heights(0, 7)).to.deep.equal([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(await heights(3, 5)).to.deep.equal([3, 4, 5]);
    expect(await heights(5, 5)).to.deep.equal([5]);
    expect(await heights(6, 5)).to.deep.equal([]);
  });

  it('end before one that is not there', async () => {
    expect(await heights(2, 7, { of: chain.slice(0, 4) })).to.deep.equal([2, 3]);
  });

  it('end before one of another branch, to which the chain has moved meanwhile', async () => {
    const fork = chain[3]?.point.hash ?? expect.fail('a block');
    const [fourth, side] = [blockAt(4, fork, 100), blockAt(5, blockHash(blockAt(4, fork, 100).raw), 101)];
    const moved = [...chain.slice(0, 5), side];
    expect(await heights(2, 5, { of: moved })).to.deep.equal([2, 3, 4]);
    expect(await heights(5, 5, { of: moved })).to.deep.equal([]);
    expect(await heights(4, 5, { of: [...chain.slice(0, 4), fourth, side] })).to.deep.equal([4, 5]);
  });

  it('end after the first one once nobody wants them', async () => {
    expect(await heights(2, 7, { signal: AbortSignal.abort() })).to.deep.equal([2]);
  });

  it('are 500 at most, or 8 MB', async () => {
    expect(await heights(0, 600, { of: chainOf(601) })).to.have.length(500);
    const large = chain.map(({ point, raw }) => ({ point, raw: Buffer.concat([raw, Buffer.alloc(4_000_000 - raw.length)]) }));
    expect(await heights(0, 7, { of: large })).to.deep.equal([0, 1]);
  });
});
