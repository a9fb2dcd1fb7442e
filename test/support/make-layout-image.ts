// Writes the image of an index in the layout that the program has; each line is a key and a
// value in hex. To be run once, before the layout changes:
//
//   node -r ts-node/register test/support/make-layout-image.ts blocks > layout-N.txt
//   node -r ts-node/register test/support/make-layout-image.ts coins > layout-N-base.txt
//
//   blocks   of test/support/layout-chain.ts
//   coins    begun with the coins of a node, as base-image.ts has it

import { Indexer } from '../../lib/index/indexer';
import { LAYOUT_VERSION } from '../../lib/index/layout';
import { memoryStore } from '../../lib/store/level-store';
import { migrate } from '../../lib/store/migrate';
import { fillWithBase } from './base-image';
import { layoutChain } from './layout-chain';
import { blockHash } from './made-blocks';
import { imageOf } from './utxo-model';
import type { Store } from '../../lib/store/store';

async function fillWithBlocks(store: Store): Promise<{ readonly close: () => Promise<void> }> {
  await store.open();
  await migrate(store, [], { version: LAYOUT_VERSION });
  const blocks = layoutChain();
  const indexer = new Indexer({ store, genesisHash: blockHash(blocks[0] as Buffer), undoDepth: 1_000, onMove: () => undefined }); // it has a genesis block
  await indexer.load();
  for (const raw of blocks) await indexer.apply(raw);
  return store;
}

async function main(): Promise<void> {
  const [begunWith] = process.argv.slice(2);
  const store = memoryStore();
  const { close } = begunWith === 'coins' ? await fillWithBase(store) : await fillWithBlocks(store);
  console.log((await imageOf(store)).join('\n'));
  await close();
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
