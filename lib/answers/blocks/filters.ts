// The basic filter (BIP158) of any block that is or was in the active chain.

import { scanBlock, spendingInputs } from '../../bitcoin/block';
import { filterOfBlock } from '../../bitcoin/block-filter';
import { chainMoving } from '../../server/errors';
import { runInSlices } from '../../turns/slices';
import type { HeaderRecord, IndexReader } from '../../index/types';
import type { NodeSource } from '../../node/types/source';
import type { Client } from '../../turns/client';

/** `unknown`: the node does not know the block. `not made`: as far as node and index know, it never was in the chain. */
export type FilterAnswer =
  | { readonly filter: Buffer; /** Of the state in which the block is in the chain. */ readonly tip: HeaderRecord | undefined }
  | 'unknown'
  | 'not made'
  | 'not yet made';

export class BlockFilters {
  readonly #node: NodeSource;
  readonly #reader: IndexReader;

  constructor(node: NodeSource, reader: IndexReader) {
    this.#node = node;
    this.#reader = reader;
  }

  /** @throws HttpError 503 */
  async of(hash: Buffer, client: Client): Promise<FilterAnswer> {
    const active = this.#reader.read((snapshot) => {
      const height = snapshot.heightOf(hash);
      return height === undefined ? undefined : { tip: snapshot.tip, filter: snapshot.filterAt(height) };
    });
    if (active === undefined) return this.#stale(hash, client);
    const { filter, tip } = active;
    return filter === undefined ? 'not yet made' : { filter, tip };
  }

  /** Of a block off the active chain. */
  async #stale(hash: Buffer, client: Client): Promise<FilterAnswer> {
    const node = this.#node;
    if ((await node.entry(hash)) === undefined) {
      if (node.resetting) throw chainMoving();
      return 'unknown';
    }
    const kept = this.#reader.read((snapshot) => snapshot.staleFilter(hash));
    if (kept !== undefined) return { filter: kept, tip: undefined };
    const raw = await node.rawBlock(hash);
    const block = raw && scanBlock(raw);
    if (block === undefined) return 'not made';
    // The node writes undo data when it connects a block: without undo data a block that spends something counts as never connected.
    const inputs = spendingInputs(block);
    const spent = inputs === 0 ? [] : await node.spentCoins(hash);
    if (spent?.length !== inputs) return 'not made';
    return { filter: await runInSlices(filterOfBlock(block, spent), client), tip: undefined };
  }
}
