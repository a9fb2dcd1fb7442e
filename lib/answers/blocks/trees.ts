// Merkle trees over the txids of blocks, for proofs that a transaction is in the active chain.

import { keyOf } from '../../bitcoin/hash';
import { merkleRootOf } from '../../bitcoin/header';
import { merkleTree, type MerkleTree } from '../../bitcoin/merkle-tree';
import { MadeOnce } from '../../server/cache/made-once';
import { runInSlices } from '../../turns/slices';
import type { HeaderRecord } from '../../index/types';
import type { ScriptSnapshot } from '../../scripts/types';
import type { AnswerCache, Cached, CacheSection } from '../../server/cache/answer-cache';
import type { Client } from '../../turns/client';

interface CachedTree extends Cached {
  readonly tree: MerkleTree;
}

export class BlockTrees {
  readonly #trees: CacheSection<CachedTree>;
  readonly #making = new MadeOnce<MerkleTree>();

  constructor(cache: AnswerCache) {
    this.#trees = cache.section('merkle');
  }

  /** The tree of a block of the snapshot's chain. `hashed`: called with the number of txids if it was not cached. */
  async of(block: HeaderRecord, snapshot: ScriptSnapshot, client: Client, hashed?: (count: number) => void): Promise<MerkleTree> {
    const key = keyOf(block.hash);
    const cached = this.#trees.get(key);
    if (cached !== undefined) return cached.tree;
    const tree = await this.#making.get(key, client, (everybody) => snapshot.during(this.#make(block, snapshot, everybody)));
    hashed?.(tree.size);
    this.#trees.setIfAskedBefore(key, () => ({ tree, byteLength: tree.byteLength }));
    return tree;
  }

  async #make({ height, header }: HeaderRecord, snapshot: ScriptSnapshot, client: Client): Promise<MerkleTree> {
    const tree = await runInSlices(merkleTree(await snapshot.txids(height)), client);
    if (!tree.root.equals(merkleRootOf(header))) throw new Error(`the txids of the block at height ${height} are not those of its header`);
    return tree;
  }
}
