// A chain of only the first blocks, for benchmarks that need few further ones and make it anew in each run.

import { fromHost } from '../../lib/node/host';
import { BlockMaker, FIRST_BLOCKS } from './block-maker';
import { addBlock, onTrustingNode } from './generate';
import type { TestFullNode } from '../../test/support/bcoin/bcoin';

/** `use` gets a node with the first blocks, in an empty folder, and what makes the blocks that come next. */
export function onFirstBlocks<T>(folder: string, seed: number, use: (node: TestFullNode, maker: BlockMaker) => Promise<T>): Promise<T> {
  return onTrustingNode(folder, {}, async (node) => {
    const maker = new BlockMaker(seed, fromHost(node.network.genesis.hash));
    for (let i = 0; i < FIRST_BLOCKS; i++) await addBlock(node, maker.nextFirst());
    return use(node, maker);
  });
}
