// The JSON of a block, with its transactions or with their txids alone (blockToJSON of Bitcoin Core), written straight from its bytes.

import { ByteReader } from '../bitcoin/reader';
import { headerProperties, writeHeaderEnd, writeHeaderStart, type HeaderContext } from './header';
import { ARRAY_END, COMMA, OBJECT_END, JsonWriter } from './json-writer';
import { JSON_BYTES_PER_BYTE, shownVersion, transactionSchema, writeTransaction, type TransactionForm } from './transaction';
import { described, listOf, named, object, type Schema } from '../describe/schema';
import { BYTES, COINS, COUNT, HEX, INTEGER, TXID, WEIGHT } from '../describe/values';
import type { ScannedBlock } from '../bitcoin/block';
import type { ScannedTransaction } from '../bitcoin/transaction';
import type { Allocate } from '../bitcoin/text-writer';
import type { SpentNodeCoin } from '../node/types/coins';
import type { ProfileFields } from './profile';
import type { JsonStyle } from './script';

export interface BlockContext extends HeaderContext, Omit<TransactionForm, 'blockHash' | 'spent'> {
  /** -1 off the active chain. */
  readonly confirmations: number;
  /** The outputs that its transactions (except the coinbase) spend, in the order of their inputs; undefined: they are not shown. */
  readonly spent?: readonly SpentNodeCoin[] | undefined;
  /** The txids of its transactions, in their order; undefined: they are computed. */
  readonly txids?: readonly Buffer[] | undefined;
}

const HASH_BYTES_IN_JSON = 67;

/** Bytes that are written for a spent output without its script; and for each byte of the script. */
const SPENT_BYTES_IN_JSON = 320;
const SPENT_BYTES_PER_BYTE = 5;

/** The block with its transactions, and a line feed. Yields after each transaction. @throws MalformedBytesError */
export function* blockJson(block: ScannedBlock, context: BlockContext, allocate?: Allocate): Generator<void, Buffer> {
  const { spent } = context;
  requireAllSpent(block, spent);
  const writer = new JsonWriter(block.length * JSON_BYTES_PER_BYTE + bytesOfSpent(spent) + 1_024, allocate);
  writeStart(writer, block, context);
  let at = 0;
  for (const [i, transaction] of block.transactions.entries()) {
    if (i > 0) writer.char(COMMA);
    const { prefixes, fields, hexWithWitness, hidesSpent } = context;
    const end = i === 0 ? at : at + transaction.inputCount;
    yield* writeTransaction(writer, transaction, { prefixes, fields, hexWithWitness, hidesSpent, spent: spent?.slice(at, end) });
    at = end;
    yield;
  }
  writeEnd(writer, block, context);
  return writer.toBuffer();
}

/** The block with the txids of its transactions, and a line feed. Yields after each txid. */
export function* blockSummaryJson(block: ScannedBlock, context: BlockContext, allocate?: Allocate): Generator<void, Buffer> {
  const writer = new JsonWriter(block.transactions.length * HASH_BYTES_IN_JSON + 1_024, allocate);
  writeStart(writer, block, context);
  for (const [i, transaction] of block.transactions.entries()) {
    if (i > 0) writer.char(COMMA);
    writer.hashString(context.txids?.[i] ?? transaction.txid);
    yield;
  }
  writeEnd(writer, block, context);
  return writer.toBuffer();
}

/** Writes everything before the transactions. */
function writeStart(writer: JsonWriter, block: ScannedBlock, context: BlockContext): void {
  const { fields } = context;
  writer.hashField('{"hash":', block.hash);
  writer.integerField(',"confirmations":', context.confirmations);
  if (!fields.headerFirst) writeSizes(writer, block);
  writeHeaderStart(writer, block.header, context);
  if (fields.headerFirst) {
    writeHeaderEnd(writer, block.header, context, block.transactions.length, fields);
    writeSizes(writer, block);
  }
  const [coinbase] = block.transactions;
  if (fields.spentOutputs && coinbase !== undefined) writeCoinbase(writer, coinbase, context);
  writer.ascii(',"tx":[');
}

function writeSizes(writer: JsonWriter, { strippedLength, length }: ScannedBlock): void {
  writer.integerField(',"strippedsize":', strippedLength);
  writer.integerField(',"size":', length);
  writer.integerField(',"weight":', strippedLength * 3 + length);
}

/** `coinbase_tx`; its `witness` is the first stack item of the only input. */
function writeCoinbase(writer: JsonWriter, transaction: ScannedTransaction, style: JsonStyle): void {
  const [input] = transaction.inputs;
  writer.integerField(',"coinbase_tx":{"version":', shownVersion(transaction, style));
  writer.integerField(',"locktime":', transaction.locktime);
  if (input !== undefined) {
    writer.integerField(',"sequence":', input.sequence);
    writer.ascii(',"coinbase":');
    writer.hexString(input.script);
  }
  const witness = transaction.hasWitness ? new ByteReader(transaction.bytes, transaction.witnessOffset) : undefined;
  if (witness !== undefined && witness.compactSize() > 0) {
    writer.ascii(',"witness":');
    writer.hexString(witness.bytes(witness.compactSize()));
  }
  writer.char(OBJECT_END);
}

function writeEnd(writer: JsonWriter, block: ScannedBlock, context: BlockContext): void {
  writer.char(ARRAY_END);
  if (!context.fields.headerFirst) writeHeaderEnd(writer, block.header, context, block.transactions.length, context.fields);
  writer.ascii('}\n');
}

/** @throws RangeError unless there is one spent output for each input of the block, except the coinbase's. */
function requireAllSpent({ transactions }: ScannedBlock, spent: BlockContext['spent']): void {
  const count = transactions.reduce((sum, { inputCount }, i) => (i === 0 ? 0 : sum + inputCount), 0);
  if (spent !== undefined && spent.length !== count)
    throw new RangeError(`expected ${count} spent outputs of the block, got ${spent.length}`);
}

function bytesOfSpent(spent: BlockContext['spent'] = []): number {
  return spent.reduce((sum, { script }) => sum + SPENT_BYTES_IN_JSON + script.length * SPENT_BYTES_PER_BYTE, 0);
}

/** What `blockJson` and `blockSummaryJson` write. `transaction`: of each of its transactions. */
function blockWith(name: string, fields: ProfileFields, transaction: Schema): Schema {
  const [required, optional] = headerProperties(fields);
  const coinbase = object(
    { version: fields.unsignedVersion ? COUNT : INTEGER, locktime: COUNT, sequence: COUNT, coinbase: HEX },
    { witness: described('The first item of the witness.', HEX) }
  );
  return named(
    name,
    object(
      {
        ...required,
        strippedsize: described('Bytes without witnesses.', BYTES),
        size: BYTES,
        weight: WEIGHT,
        ...(fields.spentOutputs && { coinbase_tx: described('The first transaction.', named('BlockCoinbase', coinbase)) }),
        tx: described('The transactions, in the order of the block.', listOf(transaction))
      },
      optional
    )
  );
}

/** A block with its transactions. Those show what they spend if the edition does, and if the node still has it. */
export const blockSchema = (fields: ProfileFields): Schema =>
  blockWith('Block', fields, transactionSchema('BlockTransaction', fields, fields.spentOutputs));

/** A block with the txids of its transactions. */
export const blockSummarySchema = (fields: ProfileFields): Schema => blockWith('BlockSummary', fields, TXID);

/** A block whose transactions show their fees, but not what they spend. */
export const blockWithFeesSchema = (fields: ProfileFields): Schema =>
  blockWith('BlockWithFees', fields, transactionSchema('TransactionWithFee', fields, false, { fee: COINS }));
