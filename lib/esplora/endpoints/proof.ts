// Proofs that a transaction is in the active chain.

import { toDisplayHex } from '../../bitcoin/hash';
import { merkleRootOf } from '../../bitcoin/header';
import { merkleTree, type MerkleTree } from '../../bitcoin/merkle-tree';
import { keyOf } from '../../rest/cache/blocks';
import { runInSlices } from '../../rest/server/slices';
import { noProof } from '../errors';
import { jsonReply, readHash, replyAt, textReply, type EsploraReply } from '../reply';
import { placeOf } from '../transactions';
import type { Position } from '../../index/records/position';
import type { HeaderRecord } from '../../index/types';
import type { Cached, Shelf } from '../../rest/cache/answers';
import type { ScriptSnapshot } from '../../scripts/types';
import type { Endpoint, EsploraContext, EsploraRequest, Route } from '../endpoint';

interface CachedTree extends Cached {
  readonly tree: MerkleTree;
}

/** How a proof is written. */
type ProofForm = (tree: MerkleTree, position: Position, block: HeaderRecord) => EsploraReply;

export function proofRoutes(context: EsploraContext): Route[] {
  return [
    { method: 'GET', path: '/tx/:txid/merkle-proof', endpoint: proofEndpoint(context, branchReply), isHeavy: true },
    { method: 'GET', path: '/tx/:txid/merkleblock-proof', endpoint: proofEndpoint(context, merkleBlockReply), isHeavy: true }
  ];
}

function proofEndpoint({ scripts, rest }: EsploraContext, form: ProofForm): Endpoint {
  const trees: Shelf<CachedTree> = rest.cache.shelf('merkle');

  const treeOf = async ({ hash, height, header }: HeaderRecord, snapshot: ScriptSnapshot, client: EsploraRequest): Promise<MerkleTree> => {
    const key = keyOf(hash);
    const cached = trees.get(key);
    if (cached !== undefined) return cached.tree;
    const tree = await runInSlices(merkleTree(await snapshot.txids(height)), client);
    if (!tree.root.equals(merkleRootOf(header))) throw new Error(`the txids of the block at height ${height} are not those of its header`);
    trees.offer(key, () => ({ tree, byteLength: tree.byteLength }));
    return tree;
  };

  return async (request) => {
    const txid = readHash(request.parameter('txid'));
    return scripts.read(async (snapshot) => {
      const { index } = snapshot;
      const position = placeOf(txid, index);
      const block = position && index.headerAt(position.height);
      if (position === undefined || block === undefined) throw noProof();
      const tree = await treeOf(block, snapshot, request);
      // The index knows hashes of txids, which might be those of another transaction.
      if (!tree.txid(position.index).equals(txid)) throw noProof();
      return replyAt(form(tree, position, block), index.tip, position.height);
    });
  };
}

/** As Electrum's servers write it. */
function branchReply(tree: MerkleTree, { height, index }: Position): EsploraReply {
  return jsonReply(JSON.stringify({ block_height: height, merkle: tree.branch(index).map(toDisplayHex), pos: index }));
}

/** A merkleblock message (BIP37), as Bitcoin Core's gettxoutproof makes it. */
function merkleBlockReply(tree: MerkleTree, { index }: Position, { header }: HeaderRecord): EsploraReply {
  return textReply(Buffer.concat([header, tree.partial(index)]).toString('hex'));
}
