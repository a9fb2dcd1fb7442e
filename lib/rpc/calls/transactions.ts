// getrawtransaction: a transaction of the pool, of the chain, or of a given block.

import { transactionOffsets } from '../../bitcoin/block';
import { merkleRootOf, timeOf } from '../../bitcoin/header';
import { scanTransaction } from '../../bitcoin/transaction';
import { NotYetKnownError } from '../../index/errors';
import { JsonWriter } from '../../views/json-writer';
import { JSON_BYTES_PER_BYTE, writeTransaction, type TransactionForm } from '../../views/transaction';
import { styleOf, type Answers } from '../../answers/answers';
import { runInSlices } from '../../turns/slices';
import { hexAnswer, type Answer, type CallDefinition } from '../call';
import { misc, notFound } from '../errors';
import type { IndexSnapshot } from '../../index/types';
import type { BlockPoint } from '../../node/types';
import type { Client } from '../../turns/client';
import type { Parameters } from '../parameters';

interface FoundTransaction {
  readonly raw: Buffer;
  /** The block that holds it; undefined: the pool. */
  readonly block: FoundBlock | undefined;
  /** How many inputs the transactions before it in the block have, without the coinbase; undefined if they have not been counted. */
  readonly inputsBefore?: number;
}

interface FoundBlock extends BlockPoint {
  readonly time: number;
  /** 0 off the active chain. */
  readonly confirmations: number;
}

/** How much the reply contains. */
interface TransactionRequest {
  readonly verbosity: number;
  /** Whether the call named a block. */
  readonly isNamed: boolean;
}

const MORE = '. Use gettransaction for wallet transactions.';

export const transactionCalls = {
  getrawtransaction: {
    parameters: [
      { name: 'txid', type: 'string' },
      { name: 'verbosity|verbose', type: 'any', isOptional: true },
      { name: 'blockhash', type: 'string', isOptional: true }
    ],
    answer: async (parameters: Parameters, context: Answers, client: Client) => {
      const txid = parameters.hash(0, 'parameter 1');
      if (genesisTxid(context)?.equals(txid) === true) {
        throw notFound('The genesis block coinbase is not considered an ordinary transaction and cannot be retrieved');
      }
      const verbosity = parameters.verbosity(1, 0);
      const isNamed = parameters.optionalText(2) !== undefined;
      const found = isNamed
        ? await findInBlock(txid, parameters.hash(2, 'parameter 3'), context, client)
        : await findAnywhere(txid, context, client);
      return verbosity <= 0 ? hexAnswer(found.raw) : transactionAnswer(found, { verbosity, isNamed }, context, client);
    }
  }
} satisfies Readonly<Record<string, CallDefinition>>;

/** The genesis block has one transaction, so its Merkle root is the txid. */
function genesisTxid({ reader }: Answers): Buffer | undefined {
  const genesis = reader.read((snapshot) => snapshot.headerAt(0));
  return genesis && merkleRootOf(genesis.header);
}

/** @throws RpcError -5 */
async function findAnywhere(txid: Buffer, { reader, node, blocks }: Answers, client: Client): Promise<FoundTransaction> {
  const { found, block, isKnown } = reader.read((snapshot) => {
    const known = findInIndex(() => blocks.find(txid, snapshot));
    return { ...known, block: known.found && blockIn(snapshot, known.found.block.hash) };
  });
  const confirmed = found && (await found.read(client));
  if (found !== undefined && confirmed === undefined) await blocks.requireActive(found.block);
  // Read in the same tick as the index, unless that had it: a transaction that is being confirmed is in at least one of the two.
  const raw = confirmed?.raw ?? node.pool.transaction(txid);
  if (raw !== undefined) return { raw, block: confirmed && block };
  throw notFound(
    isKnown
      ? `No such mempool or blockchain transaction${MORE}`
      : `No such mempool transaction. Blockchain transactions are still in the process of being indexed${MORE}`
  );
}

/** A transaction that the index will never know is not found; `isKnown` is false if the backfill may find it later. */
function findInIndex<T>(find: () => T | undefined): { readonly found: T | undefined; readonly isKnown: boolean } {
  try {
    return { found: find(), isKnown: true };
  } catch (error) {
    if (!(error instanceof NotYetKnownError)) throw error;
    return { found: undefined, isKnown: error.backfill === undefined };
  }
}

/** @throws RpcError -1, -5 */
async function findInBlock(txid: Buffer, hash: Buffer, { reader, node, blocks }: Answers, client: Client): Promise<FoundTransaction> {
  const active = reader.read((snapshot) => blockIn(snapshot, hash));
  const entry = active === undefined ? await node.entry(hash) : undefined;
  const block = active ?? (entry && { hash, time: timeOf(entry.header), confirmations: 0, height: entry.height });
  if (block === undefined) throw notFound('Block hash not found');
  const bytes = active === undefined ? await node.rawBlock(hash) : await blocks.block(active, client);
  if (bytes === undefined) throw misc('Block not available');
  const found = await runInSlices(transactionIn(bytes, txid), client);
  if (found === undefined) throw notFound(`No such transaction found in the provided block${MORE}`);
  return { ...found, block };
}

/** Hashes the transactions of the block one by one until the txid matches. */
function* transactionIn(bytes: Buffer, txid: Buffer): Generator<void, Pick<FoundTransaction, 'raw' | 'inputsBefore'> | undefined> {
  const offsets = transactionOffsets(bytes);
  let inputsBefore = 0;
  for (const [i, offset] of offsets.subarray(0, -1).entries()) {
    const transaction = scanTransaction(bytes, offset);
    if (transaction.txid.equals(txid)) return { raw: transaction.raw, inputsBefore };
    if (i > 0) inputsBefore += transaction.inputCount;
    yield;
  }
  return undefined;
}

/** Undefined for a block that is not on the active chain. */
function blockIn(snapshot: IndexSnapshot, hash: Buffer): FoundBlock | undefined {
  const height = snapshot.heightOf(hash);
  const header = height === undefined ? undefined : snapshot.headerAt(height);
  return header && { hash, height: header.height, time: timeOf(header.header), confirmations: snapshot.tip.height - header.height + 1 };
}

/** `{in_active_chain?, ...the transaction..., hex, blockhash?, confirmations?, time?, blocktime?}` */
async function transactionAnswer(found: FoundTransaction, request: TransactionRequest, context: Answers, client: Client): Promise<Answer> {
  const { block } = found;
  const spent = request.verbosity >= 2 ? await spentBy(found, context, client) : undefined;
  const json = await runInSlices(transactionText(found.raw, { ...styleOf(context), hexWithWitness: true, spent }), client);
  const writer = new JsonWriter();
  if (block !== undefined) {
    const { hash, time, confirmations } = block;
    writer.hashField(',"blockhash":', hash);
    writer.integerField(',"confirmations":', confirmations);
    if (confirmations > 0) writer.ascii(`,"time":${time},"blocktime":${time}`);
  }
  writer.ascii('}');
  const first = request.isNamed && block !== undefined ? `{"in_active_chain":${block.confirmations > 0},` : '{';
  return { parts: [Buffer.from(first), json.subarray(1, -1), writer.toBuffer()] };
}

function* transactionText(raw: Buffer, form: TransactionForm): Generator<void, Buffer> {
  const writer = new JsonWriter(raw.length * JSON_BYTES_PER_BYTE + 1024);
  yield* writeTransaction(writer, scanTransaction(raw), form);
  return writer.toBuffer();
}

/** The outputs that a transaction of a block spends; undefined when they are not available. */
async function spentBy(
  { raw, block, inputsBefore }: FoundTransaction,
  context: Answers,
  client: Client
): Promise<TransactionForm['spent']> {
  const { txid, inputCount, isCoinbase } = scanTransaction(raw);
  if (block === undefined || isCoinbase) return undefined;
  const spent = await context.spent.of(block.hash);
  if (spent === undefined) return undefined;
  const start = inputsBefore ?? (await findInBlock(txid, block.hash, context, client)).inputsBefore ?? 0;
  return spent.slice(start, start + inputCount);
}
