// An index that began with a node's coins and is filled in so far: chain A up to block 118 when
// the coins were copied, up to 130 now, transactions known from block 100 up.

import { setTimeout } from 'node:timers/promises';
import { BcoinNode } from '../../lib/node/bcoin';
import { baseOf, newBaseIndex, untilLive } from './base-index';
import { bcoin, type TestFullNode } from './bcoin';
import { chainAActiveBlocks } from './chain-a';
import { nodeWith } from './changed-node';
import { MemoryLog } from './memory-log';
import { openRegtestNode } from './regtest-node';
import type { Store } from '../../lib/store/store';

const BASE_HEIGHT = 118;
const TIP_HEIGHT = 130;
const PLACES_FROM = 100;

/** A node with the chain of the image. */
export async function baseImageNode(height = TIP_HEIGHT): Promise<TestFullNode> {
  const host = await openRegtestNode();
  await addBlocks(host, height);
  return host;
}

/** Fills a store with it; `close` closes the store and the node. */
export async function fillWithBase(store: Store): Promise<{ readonly close: () => Promise<void> }> {
  const host = await baseImageNode(BASE_HEIGHT);
  const real = new BcoinNode(host);
  const node = nodeWith(real, {
    rawBlock: async (hash) => ((await real.entry(hash))?.height ?? 0) < PLACES_FROM ? undefined : real.rawBlock(hash)
  });
  const index = newBaseIndex({ node, store, log: new MemoryLog(), undoDepth: 20 });
  await index.open();
  await untilLive(index);
  while (baseOf(store).placesFrom > PLACES_FROM) await setTimeout(1);
  await addBlocks(host, TIP_HEIGHT);
  await untilLive(index);
  return {
    close: async () => {
      await index.close();
      await host.close();
    }
  };
}

async function addBlocks(host: TestFullNode, height: number): Promise<void> {
  for (const { raw } of chainAActiveBlocks().slice(host.chain.height + 1, height + 1)) await host.chain.add(bcoin.Block.fromRaw(raw));
}
