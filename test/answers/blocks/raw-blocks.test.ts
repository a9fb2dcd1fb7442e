import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { RawBlocks } from '../../../lib/answers/blocks/raw-blocks';
import { scanBlock } from '../../../lib/bitcoin/block';
import { AnswerCache } from '../../../lib/server/cache/answer-cache';
import { nodeWith } from '../../support/bcoin/changed-node';
import { mine } from '../../support/bcoin/regtest-node';
import { openRestNode, type RestNode } from '../../support/node/rest-node';
import type { BlockPoint } from '../../../lib/node/types/chain';

const BLOCKS = 8;
const FIT = 5;
const ENTRY_BYTES = 512;
const CACHE_BYTES = 4_000_000;

describe('the blocks of the node', () => {
  let served: RestNode;
  let blocks: RawBlocks;
  let points: BlockPoint[];
  let reads: number;

  beforeEach(async () => {
    served = await openRestNode();
    const { node } = served.rest;
    points = (await mine(served.node, BLOCKS)).map((block, i) => ({ hash: block.hash(), height: i + 1 }));
    const sizes = await Promise.all(points.map(async ({ hash }) => ((await node.rawBlock(hash)) ?? Buffer.alloc(0)).buffer.byteLength));
    reads = 0;
    const counted = nodeWith(node, {
      rawBlock: (hash) => {
        reads++;
        return node.rawBlock(hash);
      }
    });
    blocks = new RawBlocks(counted, new AnswerCache(FIT * (Math.max(...sizes) + ENTRY_BYTES)));
  });

  afterEach(() => served.node.close());

  const readAll = async (): Promise<void> => {
    for (const point of points) expect(await blocks.block(point, { isGone: false })).to.be.instanceOf(Buffer);
  };

  it('are found in memory once they were asked for twice', async () => {
    const [first] = points as [BlockPoint];
    for (let time = 0; time < 4; time++) await blocks.block(first, { isGone: false });
    expect(reads).to.equal(2);
  });

  it('are not evicted by blocks that are asked for once', async () => {
    const [first, ...others] = points as [BlockPoint, ...BlockPoint[]];
    for (let time = 0; time < 2; time++) await blocks.block(first, { isGone: false });
    for (const point of others) await blocks.block(point, { isGone: false });
    reads = 0;
    await blocks.block(first, { isGone: false });
    expect(reads).to.equal(0);
  });

  it('are kept as far as there is space', async () => {
    for (let round = 0; round < 3; round++) await readAll();
    reads = 0;
    for (const point of points.slice(-FIT)) await blocks.block(point, { isGone: false });
    expect(reads).to.equal(0);
    await readAll();
    expect(reads).to.be.at.least(BLOCKS - FIT);
  });

  /** Blocks of a node that reads parts. `asked`: gets what it is asked for. */
  const inParts = (asked: string[]): RawBlocks =>
    new RawBlocks(
      nodeWith(served.rest.node, {
        readsWholeBlocks: false,
        rawBlock: (hash) => {
          asked.push('block');
          return served.rest.node.rawBlock(hash);
        },
        rawBlockPart: (...part) => {
          asked.push('part');
          return served.rest.node.rawBlockPart(...part);
        }
      }),
      new AnswerCache(CACHE_BYTES)
    );

  it('are read as a whole, and cached, once eight of their parts were read, on nodes that read parts', async () => {
    const asked: string[] = [];
    const kept = inParts(asked);
    const [point] = points as [BlockPoint];
    const raw = (await served.rest.node.rawBlock(point.hash)) ?? expect.fail('a block');
    const { txid, raw: coinbase } = scanBlock(raw).transactions[0] ?? expect.fail('a coinbase');
    const ask = async (): Promise<Buffer | undefined> => {
      const found = served.rest.reader.read((snapshot) => kept.find(txid, snapshot));
      return (await found?.read({ isGone: false }))?.raw;
    };
    for (let time = 0; time < 12; time++) expect(await ask()).to.deep.equal(coinbase);
    expect(asked).to.deep.equal([...Array.from({ length: 8 }, () => 'part'), 'block']);
  });

  it('are read in more parts before, the longer they are', async () => {
    const kept = inParts([]);
    const [point] = points as [BlockPoint];
    let parts = 0;
    for (; !kept.isAtHand(point); parts++) await kept.part(point, 0, 1, 1_600_000);
    expect(parts).to.be.within(100, 101);
  });

  it('are never read as a whole if parts of more of them are asked for in turn than fit into the cache', async () => {
    const kept = inParts([]);
    const askInTurn = async (turns: number, some: readonly BlockPoint[]): Promise<void> => {
      for (let turn = 0; turn < turns; turn++) for (const point of some) await kept.part(point, 0, 1, CACHE_BYTES / 4);
    };
    await askInTurn(100, points.slice(0, 5));
    for (const point of points) expect(kept.isAtHand(point)).to.equal(false);
    await askInTurn(100, points.slice(0, 4));
    for (const point of points.slice(0, 4)) expect(kept.isAtHand(point)).to.equal(true);
  });
});
