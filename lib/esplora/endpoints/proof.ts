// Proofs that a transaction is in the active chain.

import { json, text } from '../../describe/open-api';
import { described, listOf, named, object } from '../../describe/schema';
import { COUNT, HASH, HEIGHT, HEX } from '../../describe/values';
import { positionOf } from '../../answers/transactions/transactions';
import { toDisplayHex } from '../../bitcoin/hash';
import { noProof } from '../errors';
import { NOT_HEX, TXID_IN_PATH } from '../operations';
import { jsonReply, readHash, replyAt, textReply, type EsploraReply } from '../reply';
import type { MerkleTree } from '../../bitcoin/merkle-tree';
import type { Position, HeaderRecord } from '../../index/types';
import type { Endpoint, EsploraContext, Route } from '../endpoint';

/** Writes a proof. */
type ProofForm = (tree: MerkleTree, position: Position, block: HeaderRecord) => EsploraReply;

const NO_PROOF = { 400: NOT_HEX, 404: 'The transaction is in no block of the active chain.' };

/** What `branchReply` writes. */
const MERKLE_PROOF = named(
  'MerkleProof',
  object({
    block_height: HEIGHT,
    merkle: described('The hashes beside the path from the transaction up to the Merkle root.', listOf(HASH)),
    pos: described('The place of the transaction in the block.', COUNT)
  })
);

export function proofRoutes(context: EsploraContext): Route[] {
  return [
    {
      method: 'GET',
      path: '/tx/:txid/merkle-proof',
      endpoint: proofEndpoint(context, branchReply),
      isHeavy: true,
      operation: {
        id: 'getMerkleProof',
        summary: 'A proof that a transaction is in a block, as Electrum servers have it.',
        parameters: [TXID_IN_PATH],
        answer: json('The Merkle branch.', MERKLE_PROOF),
        errors: NO_PROOF
      }
    },
    {
      method: 'GET',
      path: '/tx/:txid/merkleblock-proof',
      endpoint: proofEndpoint(context, merkleBlockReply),
      isHeavy: true,
      operation: {
        id: 'getMerkleBlockProof',
        summary: 'A proof that a transaction is in a block, as a merkleblock message (BIP37).',
        parameters: [TXID_IN_PATH],
        answer: text('The message in hex.', HEX),
        errors: NO_PROOF
      }
    }
  ];
}

function proofEndpoint({ scripts, bases, trees }: EsploraContext, form: ProofForm): Endpoint {
  return async (request) => {
    const txid = readHash(request.parameter('txid'));
    return scripts.read(async (snapshot) => {
      const { index } = snapshot;
      const position = positionOf(txid, index);
      const block = position && index.headerAt(position.height);
      if (position === undefined || block === undefined) throw noProof();
      const of = bases.about(position, snapshot);
      const tree = await trees.of(block, snapshot, request);
      // The index has only short hashes of txids: on a collision the position is that of another transaction.
      if (!tree.txid(position.index).equals(txid)) throw noProof();
      return replyAt(form(tree, position, block), index.tip, position.height, of);
    });
  };
}

/** The Merkle branch, as Electrum servers write it. */
function branchReply(tree: MerkleTree, { height, index }: Position): EsploraReply {
  return jsonReply(JSON.stringify({ block_height: height, merkle: tree.branch(index).map(toDisplayHex), pos: index }));
}

/** A merkleblock message (BIP37), as Bitcoin Core's gettxoutproof makes it. */
function merkleBlockReply(tree: MerkleTree, { index }: Position, { header }: HeaderRecord): EsploraReply {
  return textReply(Buffer.concat([header, tree.partial(index)]).toString('hex'));
}
