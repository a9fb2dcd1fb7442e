// The Merkle tree over the hashes of all headers up to a height, the checkpoint, built like a block's tree over its txids. A wallet has the
// root for its checkpoint in its source code, so a branch of the tree proves to it that a header is of this chain.
//
// The chain is long, so the roots of full groups of 2,048 headers are kept as long as the headers are in the chain. A proof is made from
// these roots, the group of the header that is asked for, and the last group.

import { hash256, keyOf } from '../../bitcoin/hash';
import { HEADER_LENGTH, previousHashOf } from '../../bitcoin/header';
import { merkleTree, type MerkleTree } from '../../bitcoin/merkle-tree';
import { MadeOnce } from '../../server/cache/made-once';
import { runInSlices } from '../../turns/slices';
import type { IndexSnapshot } from '../../index/types';
import type { AnswerCache, Cached, CacheSection } from '../../server/cache/answer-cache';
import type { Client } from '../../turns/client';

const GROUP_LEVELS = 11;
const GROUP_SIZE = 1 << GROUP_LEVELS;
const HEADERS_PER_SLICE = 256;

export interface HeaderProof {
  /** The siblings of the header's hash and of the hashes above it, from the bottom up, in wire order. */
  readonly branch: readonly Buffer[];
  readonly root: Buffer;
}

/** The root over a full group of headers. */
interface GroupRoot {
  readonly root: Buffer;
  /** Hash of the last header, which commits to all headers below. */
  readonly lastHash: Buffer;
}

/** The headers of one chain. */
type Headers = Pick<IndexSnapshot, 'headerRun' | 'during'>;

interface CachedTree extends Cached {
  readonly tree: MerkleTree;
}

export class HeaderTree {
  readonly #groups: CacheSection<CachedTree>;
  readonly #making = new MadeOnce<readonly GroupRoot[]>();
  /** The roots of groups, from the first group on. */
  #roots: readonly GroupRoot[] = [];

  constructor(cache: AnswerCache) {
    this.#groups = cache.section('header-tree');
  }

  /**
   * Proves that the header at a height is of the chain up to `checkpoint`, which is neither below that height nor above the tip. `hashed`:
   * called with the number of headers of each tree of a group that is not cached, before it is made.
   */
  async proof(height: number, checkpoint: number, index: Headers, client: Client, hashed?: (count: number) => void): Promise<HeaderProof> {
    const [group, last] = [Math.floor(height / GROUP_SIZE), Math.floor(checkpoint / GROUP_SIZE)];
    const treeOf = (one: number): Promise<MerkleTree> => this.#groupTree(one, checkpoint, index, client, hashed);
    const tree = await treeOf(group);
    const at = height % GROUP_SIZE;
    if (last === 0) return { branch: tree.branch(at), root: tree.root };
    const full = await this.#rootsBelow(last, index, client);
    const lastTree = group === last ? tree : await treeOf(last);
    const roots = [...full.map(({ root }) => root), risen(lastTree).root];
    const above = await runInSlices(merkleTree(roots), client);
    return { branch: [...tree.branch(at), ...risen(tree).branch, ...above.branch(group)], root: above.root };
  }

  /** The tree over the headers of a group, up to `most` of the chain. */
  async #groupTree(
    group: number,
    most: number,
    index: Headers,
    client: Client,
    hashed: ((count: number) => void) | undefined
  ): Promise<MerkleTree> {
    // The hash of the last header commits to all headers below.
    const key = keyOf(hashAt(Math.min((group + 1) * GROUP_SIZE - 1, most), index));
    const cached = this.#groups.get(key);
    if (cached !== undefined) return cached.tree;
    hashed?.(Math.min(GROUP_SIZE, most + 1 - group * GROUP_SIZE));
    const tree = await runInSlices(groupTree(group, most, index), client);
    this.#groups.setIfAskedBefore(key, () => ({ tree, byteLength: tree.byteLength }));
    return tree;
  }

  /** The roots of the first `count` groups, which must be full. */
  async #rootsBelow(count: number, index: Headers, client: Client): Promise<readonly GroupRoot[]> {
    const known = ofThisChain(this.#roots, index);
    if (known.length >= count) return known.slice(0, count);
    const lastHash = lastHashIn(count - 1, index);
    return this.#making.get(keyOf(lastHash), client, (everybody) => index.during(this.#extend(known, count, index, everybody)));
  }

  async #extend(known: readonly GroupRoot[], count: number, index: Headers, client: Client): Promise<readonly GroupRoot[]> {
    const roots = [...known];
    while (roots.length < count) {
      const group = roots.length;
      const { root } = await runInSlices(groupTree(group, Infinity, index), client);
      roots.push({ root, lastHash: lastHashIn(group, index) });
    }
    return (this.#roots = roots);
  }
}

/** The roots whose headers are all in the chain: after a reorganization the last ones may not be. */
function ofThisChain(roots: readonly GroupRoot[], index: Headers): readonly GroupRoot[] {
  const isOurs = ({ lastHash }: GroupRoot, group: number): boolean =>
    index.headerRun((group + 1) * GROUP_SIZE - 1, 1)?.lastHash.equals(lastHash) === true;
  let count = roots.length;
  while (count > 0 && !isOurs(roots[count - 1] as GroupRoot, count - 1)) count--; // count is within
  return roots.slice(0, count);
}

/** Raises a tree to the height of a full group's: on each level that it lacks, its root is paired with itself. */
function risen(tree: MerkleTree): HeaderProof {
  const branch: Buffer[] = [];
  let { root } = tree;
  for (let level = tree.branch(0).length; level < GROUP_LEVELS; level++) {
    branch.push(root);
    root = hash256(Buffer.concat([root, root]));
  }
  return { branch, root };
}

/** The hash of the block at a height of the chain. @throws RangeError above the tip */
export function hashAt(height: number, index: Headers): Buffer {
  const run = index.headerRun(height, 1);
  if (run === undefined) throw new RangeError(`expected the height of a block of the chain, got ${height}`);
  return run.lastHash;
}

/** The hash of the last header of a full group. */
const lastHashIn = (group: number, index: Headers): Buffer => hashAt((group + 1) * GROUP_SIZE - 1, index);

/** The tree over the headers of a group up to a height of the chain. Yields often. */
function* groupTree(group: number, most: number, index: Headers): Generator<void, MerkleTree> {
  const start = group * GROUP_SIZE;
  const end = Math.min(start + GROUP_SIZE, most + 1);
  const hashes: Buffer[] = [];
  for (let height = start; height < end; height = start + hashes.length) {
    const run = index.headerRun(height, Math.min(HEADERS_PER_SLICE, end - height));
    if (run === undefined) throw new RangeError(`expected the height of a block of the chain, got ${height}`);
    // A header contains the hash of the one before it, so only the last has to be looked up.
    for (let at = 1; at < run.count; at++) hashes.push(previousHashOf(run.headers.subarray(at * HEADER_LENGTH)));
    hashes.push(run.lastHash);
    yield;
  }
  return yield* merkleTree(hashes);
}
