// A transaction by its txid as getrawtransaction shows it (rpc/rawtransaction.cpp of Bitcoin Core): of the pool, of the chain, or of a
// given block.

import { transactionOffsets } from '../../bitcoin/block';
import { merkleRootOf, timeOf } from '../../bitcoin/header';
import { scanTransaction } from '../../bitcoin/transaction';
import { NotYetKnownError } from '../../index/errors';
import { runInSlices } from '../../turns/slices';
import { JsonWriter } from '../../views/json-writer';
import { described, type Properties, type Schema } from '../../describe/schema';
import { BLOCK_HASH, COUNT, FLAG, TIME } from '../../describe/values';
import { JSON_BYTES_PER_BYTE, transactionSchema, writeTransaction, type TransactionForm } from '../../views/transaction';
import { misc, notFound } from '../errors';
import type { IndexReader, IndexSnapshot } from '../../index/types';
import type { BlockPoint } from '../../node/types/chain';
import type { NodeSource } from '../../node/types/source';
import type { Client } from '../../turns/client';
import type { Profile, ProfileFields } from '../../views/profile';
import type { RawBlocks } from '../blocks/raw-blocks';
import type { SpentOutputs } from '../blocks/spent-outputs';

export interface RawTransactionParts {
  readonly node: NodeSource;
  readonly reader: IndexReader;
  readonly blocks: RawBlocks;
  readonly spent: SpentOutputs;
  readonly profile: Profile;
}

export interface RawTransaction {
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
export interface TransactionRequest {
  readonly verbosity: number;
  /** Whether a block was named. */
  readonly isNamed: boolean;
  /** Of a transaction of the pool: virtual bytes that count there; undefined: they are not shown. */
  readonly adjustedSize?: number | undefined;
}

const MORE = '. Use gettransaction for wallet transactions.';

/** @throws CallError -5 for the transaction of the genesis block, which Bitcoin Core does not show */
export function requireOrdinary(txid: Buffer, { reader }: Pick<RawTransactionParts, 'reader'>): void {
  // The genesis block has one transaction, so its Merkle root is the txid.
  const genesis = reader.read((snapshot) => snapshot.headerAt(0));
  if (genesis !== undefined && merkleRootOf(genesis.header).equals(txid))
    throw notFound('The genesis block coinbase is not considered an ordinary transaction and cannot be retrieved');
}

/** A transaction of the chain or the pool. @throws CallError -5 */
export async function findTransaction(txid: Buffer, answers: RawTransactionParts, client: Client): Promise<RawTransaction> {
  const { reader, node, blocks } = answers;
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

/** A transaction of a certain block. @throws CallError -1, -5 */
export async function findInBlock(
  txid: Buffer,
  hash: Buffer,
  { reader, node, blocks }: RawTransactionParts,
  client: Client
): Promise<RawTransaction> {
  const active = reader.read((snapshot) => blockIn(snapshot, hash));
  const entry = active === undefined ? await node.entry(hash) : undefined;
  const block = active ?? (entry && { hash, time: timeOf(entry.header), confirmations: 0, height: entry.height });
  if (block === undefined) throw notFound('Block hash not found');
  const bytes = await blocks.block(block, client, active !== undefined);
  if (bytes === undefined) throw misc('Block not available');
  const found = await runInSlices(transactionIn(bytes, txid), client);
  if (found === undefined) throw notFound(`No such transaction found in the provided block${MORE}`);
  return { ...found, block };
}

/** Hashes the transactions of the block one by one until the txid matches. */
function* transactionIn(bytes: Buffer, txid: Buffer): Generator<void, Pick<RawTransaction, 'raw' | 'inputsBefore'> | undefined> {
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

/** `{in_active_chain?, vsize_adjusted?, ...the transaction..., hex, blockhash?, confirmations?, time?, blocktime?}` */
export async function transactionJson(
  found: RawTransaction,
  request: TransactionRequest,
  context: RawTransactionParts,
  client: Client
): Promise<Buffer[]> {
  const { block } = found;
  const spent = request.verbosity >= 2 ? await spentBy(found, context, client) : undefined;
  const json = await runInSlices(
    transactionText(found.raw, {
      prefixes: context.node.network.addressPrefixes,
      fields: context.profile.fields,
      hexWithWitness: true,
      spent
    }),
    client
  );
  const writer = new JsonWriter();
  if (block !== undefined) {
    const { hash, time, confirmations } = block;
    writer.hashField(',"blockhash":', hash);
    writer.integerField(',"confirmations":', confirmations);
    if (confirmations > 0) writer.ascii(`,"time":${time},"blocktime":${time}`);
  }
  writer.ascii('}');
  const { isNamed, adjustedSize } = request;
  const named = isNamed && block !== undefined ? `"in_active_chain":${block.confirmations > 0},` : '';
  const adjusted = adjustedSize === undefined ? '' : `"vsize_adjusted":${adjustedSize},`;
  return [Buffer.from(`{${named}${adjusted}`), json.subarray(1, -1), writer.toBuffer()];
}

/** What `transactionJson` writes; `more`: only with some requests. */
export const rawTransactionSchema = (fields: ProfileFields, more: Properties = {}): Schema =>
  transactionSchema('RawTransaction', fields, true, {
    ...more,
    in_active_chain: described('Only if a block was given.', FLAG),
    blockhash: described('The block that holds it; lacking for a transaction of the pool, as are the fields below.', BLOCK_HASH),
    confirmations: described('0 off the active chain.', COUNT),
    time: described('Of the block, Unix time in seconds.', TIME),
    blocktime: described('As time.', TIME)
  });

function* transactionText(raw: Buffer, form: TransactionForm): Generator<void, Buffer> {
  const writer = new JsonWriter(raw.length * JSON_BYTES_PER_BYTE + 1_024);
  yield* writeTransaction(writer, scanTransaction(raw), form);
  return writer.toBuffer();
}

/** The outputs that a transaction of a block spends; undefined when they are not available. */
async function spentBy(
  { raw, block, inputsBefore }: RawTransaction,
  context: RawTransactionParts,
  client: Client
): Promise<TransactionForm['spent']> {
  const { txid, inputCount, isCoinbase } = scanTransaction(raw);
  if (block === undefined || isCoinbase) return undefined;
  const spent = await context.spent.of(block.hash);
  if (spent === undefined) return undefined;
  const start = inputsBefore ?? (await findInBlock(txid, block.hash, context, client)).inputsBefore ?? 0;
  return spent.slice(start, start + inputCount);
}
