// Brings an open store to the layout of today, and makes sure that it is of the node's network.

import { toDisplayHex } from '../bitcoin/hash';
import { IndexRefusedError } from '../follow/errors';
import { LayoutVersionError } from '../store/errors';
import { migrate, type Migration } from '../store/migrate';
import { Progress } from './progress/pace';
import { migratingText } from './progress/text';
import { GENESIS_KEY, LAYOUT_VERSION, putRecord, recordOf } from './records/layout';
import type { IndexLogger } from '../follow/logger';
import type { NodeSource } from '../node/types/source';
import type { Store } from '../store/store';

export interface StorePreparation {
  readonly store: Store;
  readonly node: Pick<NodeSource, 'network'>;
  readonly migrations: readonly Migration[];
  readonly logger: IndexLogger;
}

/** `onWork`: called with how far a migration is. @throws IndexRefusedError for another network's index or a newer layout, StoreError */
export async function prepareStore({ store, node, migrations, logger }: StorePreparation, onWork: (text: string) => void): Promise<void> {
  let startedMs = 0;
  let way: Progress | undefined;
  try {
    await migrate(store, migrations, {
      version: LAYOUT_VERSION,
      onStep: ({ from, to, info }) => {
        logger.info(`Migrating the index from layout ${from} to ${to}: ${info}.`);
        [startedMs, way] = [performance.now(), undefined];
      },
      onProgress: ({ part, bytes }) => {
        // The first report of a migration that was interrupted may be from its middle.
        way ??= new Progress(part, startedMs);
        onWork(migratingText(part, way.pace({ height: part, bytes, coins: 0 }, performance.now())));
      }
    });
  } catch (error) {
    if (error instanceof LayoutVersionError) throw new IndexRefusedError(error.message, { cause: error });
    throw error;
  }
  await claim(store, node.network);
}

/** Writes the network into a new store. @throws IndexRefusedError for a store of another network */
async function claim(store: Store, { genesisHash, chain }: NodeSource['network']): Promise<void> {
  const value = store.get(GENESIS_KEY);
  if (value === undefined) {
    await store.batch([putRecord(GENESIS_KEY, genesisHash)], { durable: true });
    return;
  }
  const stored = recordOf(GENESIS_KEY, value);
  if (!stored.equals(genesisHash))
    throw new IndexRefusedError(
      `the index is of another network: expected ${chain} with genesis block ${toDisplayHex(genesisHash)}, got one with ${toDisplayHex(stored)}`
    );
}
