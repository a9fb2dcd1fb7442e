import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { AnswerCache, memoryOf } from '../../lib/rest/cache/answers';
import { RawBlocks } from '../../lib/rest/cache/blocks';
import { nodeWith } from '../support/changed-node';
import { mine } from '../support/regtest-node';
import { openRestNode, type RestNode } from '../support/rest-node';
import type { BlockPoint } from '../../lib/node/types';

const BLOCKS = 8;
const ROOM_FOR = 5;
const ENTRY_BYTES = 512;

describe('the blocks of the node', () => {
  let served: RestNode;
  let blocks: RawBlocks;
  let points: BlockPoint[];
  let reads: number;

  beforeEach(async () => {
    served = await openRestNode();
    const { node } = served.rest;
    points = (await mine(served.node, BLOCKS)).map((block, i) => ({ hash: block.hash(), height: i + 1 }));
    const sizes = await Promise.all(points.map(async ({ hash }) => memoryOf(await node.rawBlock(hash) ?? Buffer.alloc(0))));
    reads = 0;
    const counted = nodeWith(node, {
      rawBlock: (hash) => {
        reads++;
        return node.rawBlock(hash);
      }
    });
    blocks = new RawBlocks(counted, new AnswerCache(ROOM_FOR * (Math.max(...sizes) + ENTRY_BYTES)));
  });

  afterEach(() => served.node.close());

  const readAll = async (): Promise<void> => {
    for (const point of points) expect(await blocks.block(point, { isGone: false })).to.be.instanceOf(Buffer);
  };

  it('are found again as far as there is room, also by who goes round more of them', async () => {
    await readAll();
    expect(reads).to.equal(BLOCKS);
    for (let round = 2; round <= 4; round++) {
      await readAll();
      expect(reads).to.equal(BLOCKS + (round - 1) * (BLOCKS - ROOM_FOR));
    }
  });

  it('are kept in the place of others when they are asked for again', async () => {
    await readAll();
    const last = points.at(-1) as BlockPoint;
    await blocks.block(last, { isGone: false });
    reads = 0;
    await blocks.block(last, { isGone: false });
    expect(reads).to.equal(0);
  });
});
