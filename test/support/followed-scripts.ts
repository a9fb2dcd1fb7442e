// An index by script in memory that is brought to the block of a main index when told to.

import { spentCounts } from '../../lib/bitcoin/block';
import { ScriptsUnavailableError } from '../../lib/scripts/errors';
import { StoredScriptSnapshot } from '../../lib/scripts/read/script-snapshot';
import { ScriptWriter } from '../../lib/scripts/write/script-writer';
import { MemoryStore } from '../../lib/store/memory-store';
import { runAtOnce } from '../../lib/turns/slices';
import type { IndexReader } from '../../lib/index/types';
import type { BlockPoint, NodeSource } from '../../lib/node/types';
import type { ScriptBlock } from '../../lib/scripts/scan/rows';
import type { ScriptReader, ScriptSnapshot, ScriptsState } from '../../lib/scripts/types';

const UNDO_DEPTH = 1_000;

export class FollowedScripts implements ScriptReader {
  state: ScriptsState = { phase: 'loading' };
  readonly #node: NodeSource;
  readonly #index: IndexReader;
  readonly #store = new MemoryStore();
  readonly #writer: ScriptWriter;

  constructor(node: NodeSource, index: IndexReader) {
    this.#node = node;
    this.#index = index;
    const { genesisHash } = node.network;
    this.#writer = new ScriptWriter({ store: this.#store, genesisHash, undoDepth: UNDO_DEPTH });
  }

  /** Brings it to the block of the main index. */
  async update(): Promise<void> {
    if (this.state.phase === 'loading') {
      await this.#store.open();
      await this.#writer.load();
    }
    const { height } = this.#index.read(({ tip }) => tip);
    const hashAt = (at: number): Buffer | undefined => this.#index.read((snapshot) => snapshot.headerAt(at)?.hash);
    while (this.#writer.tip !== undefined && hashAt(this.#writer.tip.height)?.equals(this.#writer.tip.hash) !== true)
      await this.#writer.disconnect();
    const blocks: ScriptBlock[] = [];
    for (let at = (this.#writer.tip?.height ?? -1) + 1; at <= height; at++)
      blocks.push(await this.#block({ hash: hashAt(at) as Buffer, height: at }));
    if (blocks.length > 0) await this.#writer.connect(blocks);
    this.state = { phase: 'live', height };
  }

  read<T>(use: (snapshot: ScriptSnapshot) => T): T {
    return this.#index.read((index) => {
      if (this.#writer.tip?.hash.equals(index.tip.hash) !== true)
        throw new ScriptsUnavailableError('the index by script is at another block');
      const records = this.#store.snapshot();
      const close = (): void => {
        records.close();
      };
      const result = use(new StoredScriptSnapshot(records, index, (work) => work));
      if (result instanceof Promise) return result.finally(close) as T;
      close();
      return result;
    });
  }

  async #block(point: BlockPoint): Promise<ScriptBlock> {
    const raw = await this.#node.rawBlock(point.hash);
    if (raw === undefined) throw new Error(`expected a block at height ${point.height}`);
    const counts = runAtOnce(spentCounts(raw));
    const spends = counts.some((count) => count > 0);
    return { point, raw, spent: spends ? await this.#node.spentOutputs(point.hash, counts) : undefined };
  }
}
