// An index on a regtest node that starts from the node's coins.

import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { filter, firstValueFrom } from 'rxjs';
import { findBase, isBackfilling, type Base } from '../../../lib/index/records/base';
import { ChainIndexer } from '../../../lib/index/chain-index';
import { SnapshotReader } from '../../../lib/index/read/reader';
import { differentUndo } from '../../../plugin/cli/index-commands/verify/undo-records';
import { activeChain } from '../chain/regtest-chain';
import { expectIndexBackfilledFrom, expectIndexOf } from './utxo-model';
import type { BootstrapFrom } from '../../../lib/index/types';
import type { NodeSource } from '../../../lib/node/types/source';
import type { Migration } from '../../../lib/store/migrate';
import type { Store } from '../../../lib/store/store';
import type { MemoryLog } from '../process/memory-log';

export interface BaseIndexOptions {
  readonly node: NodeSource;
  readonly store: Store;
  readonly log: MemoryLog;
  readonly undoDepth?: number;
  /** `coins` unless given. */
  readonly bootstrap?: BootstrapFrom;
  readonly filters?: boolean;
  readonly migrations?: readonly Migration[];
  /** As in ChainIndexerOptions. */
  readonly failurePauseMs?: number;
}

/** An index that is not open. */
export function newBaseIndex({ log, ...options }: BaseIndexOptions): ChainIndexer {
  return new ChainIndexer({ bootstrap: 'coins', migrations: [], ...options, logger: log });
}

export function baseOf(store: Store): Base {
  return findBase(store) ?? expect.fail('an index with a base');
}

/** Resolves once the index is live; fails with the reason if it will not be. */
export async function untilLive(index: ChainIndexer): Promise<void> {
  const state = await firstValueFrom(index.state$.pipe(filter(({ phase }) => phase === 'live' || phase === 'failed')));
  expect(state).to.include({ phase: 'live' });
}

/** Resolves once the backfill is done. */
export async function untilBackfilled(store: Store): Promise<void> {
  while (isBackfilling(baseOf(store))) await setImmediate();
}

/** Fails unless the index, as far as it is backfilled, is the state after the node's blocks. */
export async function expectRightSoFar(store: Store, node: NodeSource): Promise<void> {
  await expectIndexBackfilledFrom(store, await activeChain(node), baseOf(store).positionsFrom);
}

/** Fails unless the index is the complete state after the node's blocks, with fitting undo records from the tip down, without a gap. */
export async function expectRight(store: Store, node: NodeSource, chain?: readonly Buffer[]): Promise<void> {
  await untilBackfilled(store);
  await expectIndexOf(store, chain ?? (await activeChain(node)));
  const reader = new SnapshotReader(store, (error) => {
    throw error;
  });
  const difference = await reader.read((snapshot) => differentUndo(node.tip(), { node, store, snapshot, onRecord: () => undefined }));
  reader.close();
  expect(difference).to.equal(undefined);
}
