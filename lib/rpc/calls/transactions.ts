// Transactions by their txids, of the pool, of the chain, or of a given block, and such as the client has itself.

import {
  findInBlock,
  findTransaction,
  rawTransactionSchema,
  requireOrdinary,
  transactionJson
} from '../../answers/transactions/raw-transaction';
import { styleOf } from '../../answers/answers';
import { CallError, CODES } from '../../answers/errors';
import { MalformedBytesError } from '../../bitcoin/reader';
import { scanStrippedTransaction, scanWholeTransaction, type ScannedTransaction } from '../../bitcoin/transaction';
import { anyOf, described } from '../../describe/schema';
import { ASKED_HASH, ASKED_HEX, FLAG, HEX, VBYTES } from '../../describe/values';
import { runInSlices } from '../../turns/slices';
import { JsonWriter } from '../../views/json-writer';
import { JSON_BYTES_PER_BYTE, transactionSchema, writeTransaction, type TransactionForm } from '../../views/transaction';
import { hexAnswer, jsonAnswer, type CallDefinition } from '../call';
import { verbosity } from '../parameters';

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
    parameters: [
      { name: 'hexstring', type: 'string', schema: ASKED_HEX },
      {
        name: 'iswitness',
        type: 'bool',
        isOptional: true,
        schema: { ...FLAG, description: 'Whether it may have witnesses; both ways are tried unless this is given.' }
      }
    ],
    result: (fields) => transactionSchema('DecodedTransaction', fields, false, {}, true),
    isHeavy: (parameters) => parameters.text(0).length > LONG_HEX,
    answer: async (parameters, context, client) => {
      const hex = parameters.text(0);
      const transaction = decodedTransaction(hex, parameters.has(1) ? parameters.flag(1, true) : undefined);
      if (transaction === undefined) throw new CallError(CODES.deserialization, 'TX decode failed');
      return jsonAnswer(await runInSlices(decodedText(transaction, { ...styleOf(context), hexWithWitness: true, hidesHex: true }), client));
    }
  }
} satisfies Readonly<Record<string, CallDefinition>>;

/** A transaction with more does not fit into a block. */
const MOST_DIGITS = 8_000_000;

/** Transactions with more digits take the heavy lane. */
const LONG_HEX = 100_000;

/** `isWitness`: whether it may have witnesses; undefined: it is tried. */
export function decodedTransaction(hex: string, isWitness: boolean | undefined): ScannedTransaction | undefined {
  if (hex.length > MOST_DIGITS || !/^(?:[0-9a-fA-F]{2})+$/.test(hex)) return undefined;
  const raw = Buffer.from(hex, 'hex');
  const forms = [...(isWitness === false ? [] : [scanWholeTransaction]), ...(isWitness === true ? [] : [scanStrippedTransaction])];
  for (const scan of forms) {
    try {
      return scan(raw);
    } catch (error) {
      if (!(error instanceof MalformedBytesError)) throw error;
    }
  }
  return undefined;
}

function* decodedText(transaction: ScannedTransaction, form: TransactionForm): Generator<void, Buffer> {
  const writer = new JsonWriter(transaction.length * JSON_BYTES_PER_BYTE + 1024);
  yield* writeTransaction(writer, transaction, form);
  return writer.toBuffer();
}
