// Writes the image of an index of test/support/layout-chain.ts, in the layout that the
// program has: node -r ts-node/register test/support/make-layout-image.ts > layout-N.txt
// Each line is a key and a value in hex. To be run once, before the layout changes.

import { Indexer } from '../../lib/index/indexer';
import { LAYOUT_VERSION } from '../../lib/index/layout';
import { memoryStore } from '../../lib/store/level-store';
import { migrate } from '../../lib/store/migrate';
import { layoutChain } from './layout-chain';
import { blockHash } from './made-blocks';
import { imageOf } from './utxo-model';

async function main(): Promise<void> {
  const store = memoryStore();
  await store.open();
  await migrate(store, [], { version: LAYOUT_VERSION });
  const blocks = layoutChain();
  const indexer = new Indexer({ store, genesisHash: blockHash(blocks[0] as Buffer), undoDepth: 1_000, onMove: () => undefined }); // it has a genesis block
  for (const raw of blocks) await indexer.apply(raw);
  console.log((await imageOf(store)).join('\n'));
}

void main();
