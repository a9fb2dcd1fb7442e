// The index by script of a walk (walk.ts), compared with the blocks of the chain after every step.

import { join } from 'node:path';
import { expect } from 'chai';
import { NoStateError } from '../../../lib/index/errors';
import { STATE_KEYS } from '../../../lib/scripts/records/layout';
import { ScriptIndexer } from '../../../lib/scripts/script-indexer';
import { DiskStore } from '../../../lib/store/disk-store';
import { FaultyStore } from './faulty-store';
import { expectSame } from '../expectations/expect-same';
import { expectScriptAnswers } from './script-answers';
import { expectFilledAndFollowed } from './script-filling';
import { ScriptModel } from './script-model';
import { phaseAtRest, type WalkedIndex, type WalkedParts } from './walked-index';
import type { ChainIndex } from '../../../lib/index/types';
import type { ScriptSnapshot } from '../../../lib/scripts/types';

/** So small that filling takes many files, pieces and steps. */
const SIZES = { files: 4, checkpointBlocks: 4, checkpointBytes: 3_000, sortBytes: 1_400 };

export class WalkedScripts implements WalkedIndex {
  readonly rebuildLine = 'warning Filling the index by script again: ';
  readonly folder: string | undefined;
  readonly store: FaultyStore;
  scrubMs = 0;
  readonly #parts: WalkedParts;
  #indexer: ScriptIndexer | undefined;
  /** Histories by script, and by the stamps of the snapshots that had them. */
  #seen = new Map<string, Map<number, string>>();

  /** In memory it is never filled. */
  constructor(parts: WalkedParts) {
    this.#parts = parts;
    this.folder = parts.folder && join(parts.folder, 'scripts');
    this.store = new FaultyStore(this.folder === undefined ? parts.inMemory() : new DiskStore(this.folder, { checkedFirst: STATE_KEYS }));
  }

  get indexer(): ScriptIndexer {
    return this.#indexer ?? expect.fail('an index by script that was opened');
  }

  get state(): ScriptIndexer['state'] {
    return this.indexer.state;
  }

  get state$(): ScriptIndexer['state$'] {
    return this.indexer.state$;
  }

  open(index: ChainIndex): void {
    const { folder: path } = this;
    const { node, log: logger, undoDepth } = this.#parts;
    this.#seen = new Map();
    const filling = path === undefined ? undefined : { path, filesPath: `${path}-filling`, sizes: SIZES };
    this.#indexer = new ScriptIndexer({ store: this.store, index, node, logger, undoDepth, filling, scrubMs: this.scrubMs });
    this.#indexer.open();
  }

  /** May also be called when it is not open. */
  async close(): Promise<void> {
    await this.#indexer?.close();
    this.#indexer = undefined;
  }

  untilAtRest(): Promise<'live' | 'failed'> {
    return phaseAtRest(this.state$, (state) => 'height' in state && state.height === this.#parts.node.tip().height);
  }

  /** Has the same records and answers as one that was built block by block. */
  async expectRight(chain: readonly Buffer[]): Promise<void> {
    expect(await this.untilAtRest(), JSON.stringify(this.state)).to.equal('live');
    const model = new ScriptModel(chain);
    await this.indexer.reader.read(async (snapshot) => {
      expect(snapshot.index.tip).to.deep.include(this.#parts.node.tip());
      // Until the index has all positions it cannot tell which of two coinbases with one txid is the last.
      if (snapshot.index.backfilling === undefined) await this.#expectAnswers(snapshot, model);
    });
    await expectFilledAndFollowed(this.store, model.blocks);
  }

  async expectHonest(): Promise<boolean> {
    const { chainTo } = this.#parts;
    try {
      await this.indexer.reader.read((snapshot) => this.#expectAnswers(snapshot, new ScriptModel(chainTo(snapshot.index.tip.hash))));
      return true;
    } catch (error) {
      if (!(error instanceof NoStateError)) throw error;
      return false;
    }
  }

  /** Rows are called the same as in an earlier snapshot only if they are. */
  async #expectAnswers(snapshot: ScriptSnapshot, model: ScriptModel): Promise<void> {
    await expectScriptAnswers(snapshot, model);
    for (const script of new Set([...model.scripts.map((hash) => hash.toString('hex')), ...this.#seen.keys()])) {
      const hash = Buffer.from(script, 'hex');
      const history = JSON.stringify(model.history(hash));
      const seen = this.#seen.get(script) ?? new Map<number, string>();
      for (const [stamp, before] of seen) if (snapshot.hasSameRows(hash, stamp)) expectSame(history, before);
      this.#seen.set(script, seen.set(snapshot.stamp, history));
    }
  }
}
