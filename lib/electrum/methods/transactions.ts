// Transactions: their bytes, and proofs that they are in the chain.

import { CallError } from '../../answers/errors';
import { findTransaction, rawTransactionSchema, requireOrdinary, transactionJson } from '../../answers/transactions/raw-transaction';
import { toDisplayHex } from '../../bitcoin/hash';
import { anyOf, described, listOf, named, object, type Schema } from '../../describe/schema';
import { ASKED_HASH, COUNT, HASH, HEIGHT, HEX, TXID } from '../../describe/values';
import { runInSlices } from '../../turns/slices';
import { hexLine } from '../../views/hex';
import { PROFILES } from '../../views/profile';
import { ofDaemon } from '../errors';
import { badRequest, FLAG_OR_NUMBER, readCount, readFlag, readTxid } from './arguments';
import { HASH_POINTS, TRANSACTION_POINTS } from './points';
import type { BlockTrees } from '../../answers/blocks/trees';
import type { MerkleTree } from '../../bitcoin/merkle-tree';
import type { ScriptSnapshot } from '../../scripts/types';
import type { ElectrumClient, Method, MethodContext } from '../method';

/** As the call shows a transaction if it is asked for more than its bytes. */
const AS_JSON = { verbosity: 1, isNamed: false };

/** Bytes of a transaction from which on its hex is written in slices. */
const LONG_BYTES = 0x1_0000;

const QUOTE = Buffer.from('"');

const PLACE: Schema = { ...COUNT, description: 'The place of the transaction in its block, from 0.' };

const MERKLE = described('The hashes beside the path from the transaction up to the Merkle root.', listOf(HASH));

export function transactionMethods(context: MethodContext): Readonly<Record<string, Method>> {
  return {
    'blockchain.transaction.get': get(context),
    'blockchain.transaction.get_merkle': getMerkle(context),
    'blockchain.transaction.id_from_pos': idFromPosition(context)
  };
}

function get(context: MethodContext): Method {
  // Wallets read `address`, not `addresses`, so the JSON is the modern edition's even if REST speaks another one.
  const modern = { ...context, profile: PROFILES.modern };
  return {
    about: {
      summary: 'A transaction of the chain or the pool.',
      parameters: [ASKED_HASH, { ...FLAG_OR_NUMBER, description: 'false: hex.' }],
      result: anyOf(HEX, rawTransactionSchema(modern.profile.fields))
    },
    parameters: ['tx_hash', 'verbose'],
    required: 1,
    answer: async ([id, verbose = false], client) => {
      const txid = readTxid(id);
      const isVerbose = readFlag(verbose, 'verbose');
      client.charge(TRANSACTION_POINTS);
      try {
        requireOrdinary(txid, context);
        const found = await findTransaction(txid, context, client);
        return isVerbose ? Buffer.concat(await transactionJson(found, AS_JSON, modern, client)) : await hexText(found.raw, client);
      } catch (error) {
        throw error instanceof CallError ? ofDaemon(error) : error;
      }
    }
  };
}

function getMerkle({ scripts, trees }: MethodContext): Method {
  return {
    about: {
      summary: 'A proof that a transaction is in the block at a height.',
      parameters: [ASKED_HASH, HEIGHT],
      result: named('MerkleProof', object({ block_height: HEIGHT, merkle: MERKLE, pos: PLACE }))
    },
    parameters: ['tx_hash', 'height'],
    required: 2,
    isHeavy: true,
    answer: ([id, at], client) => {
      const [txid, height] = [readTxid(id), readCount(at)];
      return scripts.read(async (snapshot) => {
        const position = snapshot.index.position(txid);
        const tree = position?.block.height === height ? await treeAt(height, trees, snapshot, client) : undefined;
        // The index has only short hashes of txids: on a collision the position is that of another transaction.
        if (position === undefined || tree?.txid(position.index).equals(txid) !== true)
          throw badRequest(`tx ${toDisplayHex(txid)} not in block at height ${grouped(height)}`);
        return `{"block_height":${height},"merkle":${branchText(tree, position.index)},"pos":${position.index}}`;
      });
    }
  };
}

function idFromPosition({ scripts, trees }: MethodContext): Method {
  return {
    about: {
      summary: 'The transaction at a place in the block at a height, with a proof if asked for.',
      parameters: [HEIGHT, PLACE, { ...FLAG_OR_NUMBER, description: 'Whether a proof is asked for.' }],
      result: anyOf(TXID, named('ProvenTransaction', object({ tx_hash: TXID, merkle: MERKLE })))
    },
    parameters: ['height', 'tx_pos', 'merkle'],
    required: 2,
    isHeavy: true,
    answer: ([at, pos, merkle = false], client) => {
      const [height, index] = [readCount(at), readCount(pos)];
      const isProof = readFlag(merkle, 'merkle');
      return scripts.read(async (snapshot) => {
        const tree = isProof ? await treeAt(height, trees, snapshot, client) : undefined;
        const txid = height === 0 ? undefined : snapshot.txidAt({ height, index });
        if (txid === undefined) throw badRequest(`no tx at position ${grouped(index)} in block at height ${grouped(height)}`);
        const text = `"${toDisplayHex(txid)}"`;
        return tree === undefined ? text : `{"tx_hash":${text},"merkle":${branchText(tree, index)}}`;
      });
    }
  };
}

/** Undefined above the tip, and for the genesis block, whose transaction is in no history. */
async function treeAt(
  height: number,
  trees: BlockTrees,
  snapshot: ScriptSnapshot,
  client: ElectrumClient
): Promise<MerkleTree | undefined> {
  const block = height === 0 ? undefined : snapshot.index.headerAt(height);
  return (
    block &&
    trees.of(block, snapshot, client, (count) => {
      client.charge(count * HASH_POINTS);
    })
  );
}

async function hexText(raw: Buffer, client: ElectrumClient): Promise<string | Buffer> {
  if (raw.length <= LONG_BYTES) return `"${raw.toString('hex')}"`;
  const line = await runInSlices(hexLine(raw), client);
  return Buffer.concat([QUOTE, line.subarray(0, -1), QUOTE]);
}

const branchText = (tree: MerkleTree, index: number): string => JSON.stringify(tree.branch(index).map(toDisplayHex));

/** With commas between groups of three digits. */
const grouped = (number: number): string => number.toLocaleString('en-US');
