// Images of the index in every layout that was ever released: all records, as text.
// Run as a script it writes the image of the layout of now:
//
//   TS_NODE_TRANSPILE_ONLY=1 node -r ts-node/register test/support/layout-image.ts

import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { Indexer } from '../../lib/index/indexer';
import { GENESIS_KEY, LAYOUT_VERSION, putRecord } from '../../lib/index/layout';
import { memoryStore } from '../../lib/store/level-store';
import { migrate } from '../../lib/store/migrate';
import { chainAActiveBlocks } from './chain-a';
import { blockHash } from './made-blocks';
import { imageOf } from './utxo-model';
import type { StoreWrite } from '../../lib/store/store';

/** The images are of chain A up to here. */
export const IMAGE_HEIGHT = 130;
/** And can undo so many blocks. */
export const IMAGE_UNDO_DEPTH = 20;

const folder = join(__dirname, '../vectors/layouts');
const fileOf = (version: number): string => join(folder, `${version}.txt.gz`);

/** The layouts that there are images of. */
export function layoutImages(): number[] {
  return readdirSync(folder).map((name) => parseInt(name, 10)).sort((a, b) => a - b);
}

/** The records of an image, to be written into an empty store. */
export function layoutImage(version: number): StoreWrite[] {
  return gunzipSync(readFileSync(fileOf(version))).toString('latin1').split('\n').filter(Boolean).map((line) => {
    const [key = '', value = ''] = line.split(' ');
    return { type: 'put', key: Buffer.from(key, 'hex'), value: Buffer.from(value, 'hex') };
  });
}

async function makeImage(): Promise<void> {
  const file = fileOf(LAYOUT_VERSION);
  if (existsSync(file)) throw new Error(`${file} is there already: a released layout does not change`);
  const store = memoryStore();
  await store.open();
  await migrate(store, [], { version: LAYOUT_VERSION });
  const blocks = chainAActiveBlocks().slice(0, IMAGE_HEIGHT + 1).map(({ raw }) => raw);
  const genesisHash = blockHash(blocks[0] as Buffer); // chain A has one
  await store.batch([putRecord(GENESIS_KEY, genesisHash)], { durable: false });
  const indexer = new Indexer({ store, genesisHash, undoDepth: IMAGE_UNDO_DEPTH, onMove: () => undefined });
  await indexer.load();
  for (const raw of blocks) await indexer.apply(raw);
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, gzipSync(`${(await imageOf(store)).join('\n')}\n`, { level: 9 }));
  await store.close();
}

if (require.main === module) {
  makeImage().catch((error: unknown) => {
    console.error(error);
    process.exitCode = 1;
  });
}
