// The index by script of a walk (index-walk.ts), compared with the blocks of the chain after every step.

import { STATE_KEYS } from '../../lib/scripts/records/layout';
import { join } from 'node:path';
import { expect } from 'chai';
import { filter, firstValueFrom } from 'rxjs';
import { IndexUnavailableError } from '../../lib/index/errors';
import { ScriptsUnavailableError } from '../../lib/scripts/errors';
import { ScriptIndexer } from '../../lib/scripts/script-indexer';
import { DiskStore } from '../../lib/store/disk-store';
import { FaultyStore } from './faulty-store';
import { expectScriptAnswers } from './script-answers';
import { expectFilledAndFollowed } from './script-filling';
import { ScriptModel } from './script-model';
import type { IndexLogger } from '../../lib/follow/logger';
import type { ChainIndex } from '../../lib/index/types';
import type { Store } from '../../lib/store/store';
import type { NodeSource } from '../../lib/node/types';

/** So small that filling takes many files, pieces and steps. */
const SIZES = { files: 4, checkpointBlocks: 13, checkpointBytes: 10_000, sortBytes: 4_096 };

export class WalkedScripts {
  readonly store: FaultyStore;
  /** How long each pass over the files takes in an index that is opened from now on. */
  scrubMs = 0;
  readonly #node: NodeSource;
  readonly #folder: string | undefined;
  readonly #undoDepth: number;
  readonly #logger: IndexLogger;
  #indexer: ScriptIndexer | undefined;

  /** `folder`: of the node; undefined: the index is in a store of `inMemory`, and never filled. */
  constructor(
    node: NodeSource,
    { folder, inMemory }: { readonly folder: string | undefined; readonly inMemory: () => Store },
    undoDepth: number,
    logger: IndexLogger
  ) {
    this.#node = node;
    this.#folder = folder;
    this.#undoDepth = undoDepth;
    this.#logger = logger;
    this.store = new FaultyStore(folder === undefined ? inMemory() : new DiskStore(join(folder, 'scripts'), { checkedFirst: STATE_KEYS }));
  }

  get indexer(): ScriptIndexer {
    return this.#indexer ?? expect.fail('an index by script that was made');
  }

  beside(index: ChainIndex): void {
    const folder = this.#folder;
    const filling =
      folder === undefined ? undefined : { path: join(folder, 'scripts'), filesPath: join(folder, 'scripts-filling'), sizes: SIZES };
    this.#indexer = new ScriptIndexer({
      store: this.store,
      index,
      node: this.#node,
      logger: this.#logger,
      undoDepth: this.#undoDepth,
      filling,
      scrubMs: this.scrubMs
    });
  }

  open(): void {
    this.indexer.open();
  }

  /** May also be called when it is not open. */
  async close(): Promise<void> {
    await this.#indexer?.close();
    this.#indexer = undefined;
  }

  /** Resolves with the phase in which it stays until something happens. */
  async untilAtRest(): Promise<'live' | 'failed'> {
    const { state$ } = this.indexer;
    const { phase } = await firstValueFrom(
      state$.pipe(filter((state) => state.phase === 'failed' || (state.phase === 'live' && state.height === this.#node.tip().height)))
    );
    return phase as 'live' | 'failed'; // the filter lets no other through
  }

  /** Fails unless it is at the tip of this chain, with the same records and answers as one that was built block by block. */
  async expectRight(chain: readonly Buffer[]): Promise<void> {
    expect(await this.untilAtRest(), JSON.stringify(this.indexer.state)).to.equal('live');
    const model = new ScriptModel(chain);
    await this.indexer.reader.read(async (snapshot) => {
      expect(snapshot.index.tip).to.deep.include(this.#node.tip());
      // Until the index has all positions it cannot tell which of two coinbases with one txid is the last.
      if (snapshot.index.backfilling === undefined) await expectScriptAnswers(snapshot, model);
    });
    await expectFilledAndFollowed(this.store, model.blocks);
  }

  /** Fails if a reader gets anything but the whole state after a block of the node. `chainOf`: the chain up to a block. False: no reply. */
  async expectHonest(chainOf: (tip: Buffer) => readonly Buffer[]): Promise<boolean> {
    try {
      await this.indexer.reader.read((snapshot) => expectScriptAnswers(snapshot, new ScriptModel(chainOf(snapshot.index.tip.hash))));
      return true;
    } catch (error) {
      if (!(error instanceof ScriptsUnavailableError || error instanceof IndexUnavailableError)) throw error;
      return false;
    }
  }
}
