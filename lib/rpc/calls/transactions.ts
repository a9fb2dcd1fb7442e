// Transactions of the pool, the chain or a given block, by txid, and those that clients send in hex.

import {
  findInBlock,
  findTransaction,
  rawTransactionSchema,
  requireOrdinary,
  transactionJson
} from '../../answers/transactions/raw-transaction';
import { styleOf } from '../../answers/answers';
import { CallError, CODES } from '../../answers/errors';
import { MAX_BLOCK_WEIGHT } from '../../bitcoin/consensus';
import { MalformedBytesError } from '../../bitcoin/reader';
import { hasValidOpcodes, MAX_SCRIPT_LENGTH } from '../../bitcoin/script';
import { scanStrippedTransaction, scanWholeTransaction, type ScannedTransaction } from '../../bitcoin/transaction';
import { anyOf, described } from '../../describe/schema';
import { ASKED_HASH, ASKED_HEX, FLAG, HEX, VBYTES } from '../../describe/values';
import { runInSlices } from '../../turns/slices';
import { JsonWriter } from '../../views/json-writer';
import { JSON_BYTES_PER_BYTE, transactionSchema, writeTransaction, type TransactionForm } from '../../views/transaction';
import { hexAnswer, jsonAnswer, type CallDefinition, type RpcClient } from '../call';
import { verbosity, type Parameter, type Parameters } from '../parameters';

/** Of a call that decodes a transaction. */
export const IS_WITNESS: Parameter = {
  name: 'iswitness',
  type: 'bool',
  isOptional: true,
  schema: { ...FLAG, description: 'Whether it may have witnesses; both ways are tried unless this is given.' }
};

export const transactionCalls = {
  getrawtransaction: {
    summary: 'A transaction of the pool, of the chain, or of a given block.',
    parameters: [
      { name: 'txid', type: 'string', schema: ASKED_HASH },
      {
        name: 'verbosity|verbose',
        type: 'any',
        isOptional: true,
        schema: verbosity('0: hex; 1: JSON; 2: with what it spends, as far as the node has it.', 0)
      },
      { name: 'blockhash', type: 'string', isOptional: true, schema: described('The block that is searched.', ASKED_HASH) }
    ],
    result: (fields) =>
      anyOf(HEX, rawTransactionSchema(fields, { vsize_adjusted: described('Only in the pool: virtual bytes that count there.', VBYTES) })),
    answer: async (parameters, context, client) => {
      const txid = parameters.hash(0, 'parameter 1');
      requireOrdinary(txid, context);
      const verbosity = parameters.verbosity(1, 0);
      const isNamed = parameters.optionalText(2) !== undefined;
      const found = isNamed
        ? await findInBlock(txid, parameters.hash(2, 'parameter 3'), context, client)
        : await findTransaction(txid, context, client);
      if (verbosity <= 0) return hexAnswer(found.raw);
      const adjustedSize = found.block === undefined ? context.node.pool.entry(txid)?.size : undefined;
      return { parts: await transactionJson(found, { verbosity, isNamed, adjustedSize }, context, client) };
    }
  },
  decoderawtransaction: {
    summary: 'A serialized transaction as JSON.',
    parameters: [{ name: 'hexstring', type: 'string', schema: ASKED_HEX }, IS_WITNESS],
    result: (fields) => transactionSchema('DecodedTransaction', fields, false, {}, true),
    isHeavy: (parameters) => parameters.text(0).length > LONG_HEX,
    answer: async (parameters, context, client) => {
      const transaction = await decodedTransaction(parameters, 1, client);
      return jsonAnswer(await runInSlices(decodedText(transaction, { ...styleOf(context), hexWithWitness: true, hidesHex: true }), client));
    }
  }
} satisfies Readonly<Record<string, CallDefinition>>;

/** A transaction with more does not fit into a block. */
const MOST_DIGITS = 2 * MAX_BLOCK_WEIGHT;

/** Transactions with more digits take the heavy lane. */
const LONG_HEX = 100_000;

/** The transaction that is the first parameter. `witnessAt`: the position of `IS_WITNESS`. @throws CallError -22 */
export async function decodedTransaction(parameters: Parameters, witnessAt: number, client: RpcClient): Promise<ScannedTransaction> {
  const isWitness = parameters.has(witnessAt) ? parameters.flag(witnessAt, true) : undefined;
  const transaction = await runInSlices(decoding(parameters.text(0), isWitness), client);
  if (transaction === undefined) throw new CallError(CODES.deserialization, 'TX decode failed');
  return transaction;
}

/**
 * Some bytes can be read both with a witness and, as a transaction without inputs, without one. That is preferred whose scripts can be run,
 * then the one with a witness (DecodeTx of Bitcoin Core). `isWitness`: which one it is; undefined: both are tried. Yields after each script.
 */
function* decoding(hex: string, isWitness: boolean | undefined): Generator<void, ScannedTransaction | undefined> {
  if (hex.length > MOST_DIGITS || !/^(?:[0-9a-fA-F]{2})+$/.test(hex)) return undefined;
  const raw = Buffer.from(hex, 'hex');
  const forms = [...(isWitness === false ? [] : [scanWholeTransaction]), ...(isWitness === true ? [] : [scanStrippedTransaction])];
  let first: ScannedTransaction | undefined;
  for (const scan of forms) {
    const transaction = scanned(raw, scan);
    if (transaction === undefined) continue;
    if (yield* hasRunnableScripts(transaction)) return transaction;
    first ??= transaction;
  }
  return first;
}

/** Undefined also for one that does not fit into a block: each of its scripts is written in one go. */
function scanned(raw: Buffer, scan: (raw: Buffer) => ScannedTransaction): ScannedTransaction | undefined {
  try {
    const transaction = scan(raw);
    return transaction.weight > MAX_BLOCK_WEIGHT ? undefined : transaction;
  } catch (error) {
    if (!(error instanceof MalformedBytesError)) throw error;
    return undefined;
  }
}

function* hasRunnableScripts({ isCoinbase, inputs, outputs }: ScannedTransaction): Generator<void, boolean> {
  for (const { script } of isCoinbase ? outputs : [...inputs, ...outputs]) {
    if (script.length > MAX_SCRIPT_LENGTH || !hasValidOpcodes(script)) return false;
    yield;
  }
  return true;
}

function* decodedText(transaction: ScannedTransaction, form: TransactionForm): Generator<void, Buffer> {
  const writer = new JsonWriter(transaction.length * JSON_BYTES_PER_BYTE + 1_024);
  yield* writeTransaction(writer, transaction, form);
  return writer.toBuffer();
}
