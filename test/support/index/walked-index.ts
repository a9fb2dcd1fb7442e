// What an index on a walk (walk.ts) is asked for, so that a suite is the same for the main index and for the index by script.

import { filter, firstValueFrom, type Observable } from 'rxjs';
import type { BcoinNode } from '../../../lib/node/bcoin';
import type { Store } from '../../../lib/store/store';
import type { FaultyStore } from './faulty-store';
import type { MemoryLog } from '../process/memory-log';

export interface IndexState {
  readonly phase: string;
  readonly height?: number;
}

export interface WalkedIndex {
  /** How the log begins a line that says why it is built again. */
  readonly rebuildLine: string;
  /** Undefined: in memory. */
  readonly folder: string | undefined;
  readonly store: FaultyStore;
  /** How long each pass over the files takes in an index that is opened from now on. */
  scrubMs: number;
  readonly state: IndexState;
  readonly state$: Observable<IndexState>;
  /** Resolves with the phase in which it stays until something happens. */
  untilAtRest(): Promise<'live' | 'failed'>;
  /** Fails if a reader gets anything but the whole state after one of the node's blocks. False: it got no answer. */
  expectHonest(): Promise<boolean>;
  /** Fails unless it is live and holds the state after this chain, as an index that took it block by block. */
  expectRight(chain: readonly Buffer[]): Promise<void>;
}

/** What the indexes of a walk have in common. */
export interface WalkedParts {
  readonly node: BcoinNode;
  readonly log: MemoryLog;
  /** Undefined: the indexes are in memory. */
  readonly folder: string | undefined;
  readonly undoDepth: number;
  /** For coins of the main index; very little unless given. */
  readonly cacheBytes?: number;
  readonly inMemory: () => Store;
  /** The blocks from the genesis block to one that the node was given. */
  readonly chainTo: (tip: Buffer) => Buffer[];
}

/** Resolves with the phase in which an index stays until something happens. `isLevel`: whether one that is live is at the node's tip. */
export async function phaseAtRest<S extends IndexState>(state$: Observable<S>, isLevel: (state: S) => boolean): Promise<'live' | 'failed'> {
  const { phase } = await firstValueFrom(
    state$.pipe(filter((state) => state.phase === 'failed' || (state.phase === 'live' && isLevel(state))))
  );
  return phase as 'live' | 'failed'; // the filter lets no other through
}
