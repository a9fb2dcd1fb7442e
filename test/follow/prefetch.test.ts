import { expect } from 'chai';
import { describe, it } from 'mocha';
import { prefetch } from '../../lib/follow/prefetch';
import type { BlockRows } from '../../lib/index/scan/rows';

describe('blocks that are read ahead', () => {
  /** The rows of a block that only has a height. */
  const rowsAt = (height: number): BlockRows => ({ height }) as BlockRows; // nothing else is looked at

  it('come in order, upwards or downwards, whichever is fetched first', async () => {
    for (const [from, step, expected] of [
      [3, 1, [3, 4, 5, 6, 7, 8, 9]],
      [6, -1, [6, 5, 4, 3, 2, 1, 0]]
    ] as const) {
      const heights: (number | undefined)[] = [];
      for await (const { height, block } of prefetch(
        from,
        7,
        step,
        (each) =>
          new Promise<BlockRows>((resolve) => {
            setTimeout(resolve, each % 3, rowsAt(each));
          })
      )) {
        expect(block?.height).to.equal(height);
        heights.push(height);
      }
      expect(heights).to.deep.equal(expected);
    }
    for await (const block of prefetch(3, -1, 1, () => expect.fail('a block that nobody asked for')))
      expect.fail(`no block, got ${block.height}`);
  });

  it('are a few at a time', async () => {
    let [underWay, most] = [0, 0];
    const fetch = async (height: number): Promise<BlockRows> => {
      most = Math.max(most, ++underWay);
      await new Promise(setImmediate);
      underWay--;
      return rowsAt(height);
    };
    let count = 0;
    for await (const { block } of prefetch(0, 40, 1, fetch)) if (block !== undefined) count++;
    expect({ count, most }).to.deep.equal({ count: 40, most: 5 });
  });

  it('fail in their turn, and not at all if they are no longer asked for', async () => {
    const heights: number[] = [];
    const failing = prefetch(0, 10, 1, (height) =>
      height < 2 ? Promise.resolve(rowsAt(height)) : Promise.reject(new Error(`block ${height}`))
    );
    let message: unknown;
    try {
      for await (const { height } of failing) heights.push(height);
    } catch (error) {
      message = (error as Error).message;
    }
    expect({ heights, message }).to.deep.equal({ heights: [0, 1], message: 'block 2' });
    await new Promise(setImmediate);
  });
});
