// Proofs that transactions are in a block of the chain.

import { findActiveBlock, type KnownBlock } from '../../answers/blocks/known-block';
import { invalidParameter, misc, notFound, type CallError } from '../../answers/errors';
import { txidsIn } from '../../bitcoin/block';
import { hash256, HASH_LENGTH, keyOf, toDisplayHex } from '../../bitcoin/hash';
import { HEADER_LENGTH, merkleRootOf } from '../../bitcoin/header';
import { merkleTree } from '../../bitcoin/merkle-tree';
import { MOST_TRANSACTIONS, readPartialTree, type ProvenTxids } from '../../bitcoin/partial-tree';
import { ByteReader, MalformedBytesError } from '../../bitcoin/reader';
import { described, listOf } from '../../describe/schema';
import { ASKED_HASH, ASKED_HEX, HEX, TXID } from '../../describe/values';
import { nextTurn, runInSlices, Slice } from '../../turns/slices';
import { hexAnswer, plainAnswer, type CallContext, type CallDefinition } from '../call';
import { knownBlock, refuseBlock } from '../known-block';
import { parseHash, parseHex, requireText, type Parameters } from '../parameters';

/** Bitcoin Core's words for bytes that end too early. */
const END_OF_DATA = 'SpanReader::read(): end of data: iostream error';

export const proofCalls = {
  gettxoutproof: {
    summary: 'A proof that transactions are in one block.',
    parameters: [
      { name: 'txids', type: 'array', usage: '["txid",...]', schema: listOf(ASKED_HASH) },
      { name: 'blockhash', type: 'string', isOptional: true, schema: described('The block; it is found unless given.', ASKED_HASH) }
    ],
    result: () => described('The header of the block and a partial Merkle tree (BIP37), in hex.', HEX),
    isHeavy: () => true,
    answer: async (parameters, context, client) => {
      const wanted = txidsAsked(parameters);
      const block = await blockOf([...wanted.values()], parameters, context);
      const raw = (await context.blocks.block(block, client, block.tip !== undefined)) ?? (await refuseBlock(block, context));
      const txids = await runInSlices(txidsIn(raw), client);
      const indexes: number[] = [];
      for (let at = 0; at < txids.length; at += HASH_LENGTH)
        if (wanted.has(keyOf(txids.subarray(at, at + HASH_LENGTH)))) indexes.push(at / HASH_LENGTH);
      if (indexes.length !== wanted.size) throw notInBlock();
      const tree = await runInSlices(merkleTree(txids), client);
      return hexAnswer(Buffer.concat([raw.subarray(0, HEADER_LENGTH), tree.partial(...indexes)]));
    }
  },
  verifytxoutproof: {
    summary: 'The transactions that a proof proves to be in a block of the chain.',
    parameters: [{ name: 'proof', type: 'string', schema: ASKED_HEX }],
    result: () => described('Empty: it proves nothing.', listOf(TXID)),
    isHeavy: () => true,
    answer: async (parameters, { reader }, client) => {
      const bytes = parseHex(parameters.text(0), 'proof');
      const { header, proven } = await runInSlices(proofIn(bytes), client);
      if (proven?.root.equals(merkleRootOf(header)) !== true) return plainAnswer([]);
      const count = reader.read((snapshot) => {
        const height = snapshot.heightOf(hash256(header));
        return height === undefined ? undefined : snapshot.headerAt(height)?.transactionCount;
      });
      if (count === undefined) throw notFound('Block not found in chain');
      return plainAnswer(count === proven.size || count === 0 ? proven.txids.map(toDisplayHex) : []);
    }
  }
} satisfies Readonly<Record<string, CallDefinition>>;

/** By their keys. @throws CallError */
function txidsAsked(parameters: Parameters): ReadonlyMap<string, Buffer> {
  const list = parameters.list(0);
  if (list.length === 0) throw invalidParameter("Parameter 'txids' cannot be empty");
  if (list.length > MOST_TRANSACTIONS) throw notInBlock();
  const txids = new Map<string, Buffer>();
  for (const item of list) {
    const txid = parseHash(requireText(item), 'txid');
    if (txids.has(keyOf(txid))) throw invalidParameter(`Invalid parameter, duplicated txid: ${requireText(item)}`);
    txids.set(keyOf(txid), txid);
  }
  return txids;
}

const notInBlock = (): CallError => notFound('Not all transactions found in specified or retrieved block');

/** The block that is named, or the one that has one of the transactions. @throws CallError */
async function blockOf(txids: readonly Buffer[], parameters: Parameters, context: CallContext): Promise<KnownBlock> {
  if (parameters.has(1)) return knownBlock(parameters.hash(1), context);
  const hash = await context.reader.read(async (snapshot) => {
    const slice = new Slice();
    for (const txid of txids) {
      if (slice.isOverAfterStep()) await nextTurn();
      const position = snapshot.position(txid);
      // As by Bitcoin Core, the coinbase of the genesis block is not found.
      if (position !== undefined && position.block.height > 0) return position.block.hash;
    }
    return undefined;
  });
  const block = hash && findActiveBlock(hash, context);
  if (block === undefined) throw notFound('Transaction not yet in block');
  return block;
}

/** Bytes behind the proof are ignored, as by Bitcoin Core. Yields now and then. @throws CallError -1 */
function* proofIn(bytes: Buffer): Generator<void, { readonly header: Buffer; readonly proven: ProvenTxids | undefined }> {
  try {
    const reader = new ByteReader(bytes);
    return { header: reader.bytes(HEADER_LENGTH), proven: yield* readPartialTree(reader) };
  } catch (error) {
    throw error instanceof MalformedBytesError ? misc(END_OF_DATA) : error;
  }
}
