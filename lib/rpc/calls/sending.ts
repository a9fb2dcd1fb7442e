// Transactions for the pool: sending one or a package, or only testing whether they would be taken.

import { hasValidOpcodes, isUnspendable } from '../../bitcoin/script';
import { toDisplayHex } from '../../bitcoin/hash';
import { scanWholeTransaction, type ScannedTransaction } from '../../bitcoin/transaction';
import { MissingOutputsError, TransactionRefusedError, UnreadableTransactionError } from '../../node/errors';
import { JsonWriter } from '../../views/json-writer';
import { jsonAnswer, plainAnswer, type CallContext, type CallDefinition } from '../call';
import { CODES, invalidParameter, RpcError } from '../errors';
import { hexBytes, requireText, type Parameters } from '../parameters';
import { isChildWithParents, packageFault } from './package';
import { BELOW_OUTPUTS, coreReason, FEE_TOO_HIGH, IN_CHAIN, IN_POOL, isTooLittleFee, MISSING_INPUTS } from './refusals';
import type { TrialResult } from '../../node/types';

/** Satoshis per 1,000 virtual bytes: 0.10 bitcoins. */
const DEFAULT_MOST_FEE_RATE = 10_000_000;
const MOST_TRANSACTIONS = 25;

const TOO_MUCH_FEE = 'Fee exceeds maximum configured by user (e.g. -maxtxfee, maxfeerate)';
const TOO_MUCH_BURNT = 'Unspendable output exceeds maximum configured by user (maxburnamount)';
const NO_PACKAGE = 'package topology disallowed. not child-with-parents or parents depend on each other.';

/** What these calls answer from. */
export type SendingContext = Pick<CallContext, 'node' | 'reader'>;

export const sendingCalls = {
  sendrawtransaction: {
    parameters: [
      { name: 'hexstring', type: 'string' },
      { name: 'maxfeerate', type: 'any', isOptional: true },
      { name: 'maxburnamount', type: 'any', isOptional: true }
    ],
    answer: async (parameters: Parameters, context: SendingContext) => {
      const mostBurnt = parameters.amount(2, 0);
      const transaction = decode(parameters.text(0));
      if (transaction === undefined) throw undecodable();
      requireNotBurnt(transaction, mostBurnt);
      const mostRate = parameters.feeRate(1, DEFAULT_MOST_FEE_RATE);
      await send(transaction, mostRate, context);
      return plainAnswer(toDisplayHex(transaction.txid));
    }
  },
  testmempoolaccept: {
    parameters: [
      { name: 'rawtxs', type: 'array' },
      { name: 'maxfeerate', type: 'any', isOptional: true }
    ],
    isHeavy: (parameters) => parameters.list(0).length > 1,
    answer: async (parameters: Parameters, context: SendingContext) => {
      const { node } = context;
      const mostRate = parameters.feeRate(1, DEFAULT_MOST_FEE_RATE);
      const transactions = decodeAll(parameters);
      const fault = packageFault(transactions);
      const results = fault === undefined ? await node.tryTransactions(transactions.map(({ raw }) => raw)) : [];
      return jsonAnswer(trialJson(transactions, results, fault, mostRate, context));
    }
  },
  submitpackage: {
    parameters: [
      { name: 'package', type: 'array' },
      { name: 'maxfeerate', type: 'any', isOptional: true },
      { name: 'maxburnamount', type: 'any', isOptional: true }
    ],
    isHeavy: () => true,
    answer: async (parameters: Parameters, context: SendingContext) => {
      const mostRate = parameters.feeRate(1, DEFAULT_MOST_FEE_RATE);
      const mostBurnt = parameters.amount(2, 0);
      const transactions = decodeAll(parameters);
      for (const transaction of transactions) requireNotBurnt(transaction, mostBurnt);
      if (transactions.length > 1 && !isChildWithParents(transactions)) throw new RpcError(CODES.transaction, NO_PACKAGE);
      const fault = packageFault(transactions);
      const outcomes =
        fault === undefined ? await sendEach(transactions, mostRate, context) : transactions.map(() => 'package-not-validated');
      const message = fault ?? (outcomes.every((error) => error === undefined) ? 'success' : 'transaction failed');
      return jsonAnswer(packageJson(message, transactions, outcomes, context));
    }
  }
} satisfies Readonly<Record<string, CallDefinition>>;

/** Undefined for a text that is not the hex of a transaction. */
function decode(hex: string): ScannedTransaction | undefined {
  const bytes = hexBytes(hex);
  try {
    return bytes && scanWholeTransaction(bytes);
  } catch {
    return undefined;
  }
}

/** `hex`: the undecodable one, if several transactions were given. */
function undecodable(hex?: string): RpcError {
  const which = hex === undefined ? '.' : `: ${hex}`;
  return new RpcError(CODES.deserialization, `TX decode failed${which} Make sure the tx has at least one input.`);
}

/** @throws RpcError -3, -8, -22 */
function decodeAll(parameters: Parameters): ScannedTransaction[] {
  const texts = parameters.list(0);
  if (texts.length < 1 || texts.length > MOST_TRANSACTIONS)
    throw invalidParameter(`Array must contain between 1 and ${MOST_TRANSACTIONS} transactions.`);
  return texts.map((text) => {
    const hex = requireText(text);
    const transaction = decode(hex);
    if (transaction === undefined) throw undecodable(hex);
    return transaction;
  });
}

/** @throws RpcError -25 when an unspendable output has more than `most` satoshis. */
function requireNotBurnt({ outputs }: ScannedTransaction, most: number): void {
  if (outputs.some(({ value, script }) => value > most && (isUnspendable(script) || !hasValidOpcodes(script))))
    throw new RpcError(CODES.transaction, TOO_MUCH_BURNT);
}

const virtualSize = ({ weight }: ScannedTransaction): number => Math.ceil(weight / 4);

/** The fee in satoshis of `size` virtual bytes at `rate` satoshis per 1,000 virtual bytes. */
const feeAt = (rate: number, size: number): number => Math.ceil((rate * size) / 1_000);

/** Undefined when a spent output is neither in the index nor in the pool. */
function feeOf({ inputs, outputs }: ScannedTransaction, { reader, node: { pool } }: SendingContext): number | undefined {
  const spent = reader.read((snapshot) => inputs.map(({ txid, index }) => snapshot.coin(txid, index) ?? pool.coin(txid, index)));
  let fee = 0;
  for (const coin of spent) {
    if (coin === undefined) return undefined;
    fee += coin.value;
  }
  for (const { value } of outputs) fee -= value;
  return fee;
}

/** Adds the transaction to the pool, or announces it again. `mostRate`: 0 for no limit. @throws RpcError -22, -25, -26, -27 */
async function send(transaction: ScannedTransaction, mostRate: number, context: SendingContext): Promise<void> {
  const { reader, node } = context;
  const { txid, raw, outputs } = transaction;
  const hasCoins = reader.read((snapshot) => outputs.some((_, n) => snapshot.coin(txid, n) !== undefined));
  if (hasCoins) throw inUtxoSet();
  const size = virtualSize(transaction);
  const fee = node.pool.entry(txid) === undefined ? feeOf(transaction, context) : undefined;
  if (fee !== undefined && mostRate > 0 && fee > feeAt(mostRate, size)) {
    // Any other reason for refusal takes precedence over the fee.
    const [result] = await node.tryTransactions([raw]);
    if (result?.type === 'refused' && result.reason !== FEE_TOO_HIGH) throw refusal(result.reason, fee, size, context);
    throw new RpcError(CODES.transaction, TOO_MUCH_FEE);
  }
  try {
    await node.broadcast(raw);
  } catch (error) {
    if (error instanceof UnreadableTransactionError) throw undecodable();
    if (error instanceof MissingOutputsError) throw missingInputs();
    throw error instanceof TransactionRefusedError ? refusal(error.message, fee, size, context) : error;
  }
}

const inUtxoSet = (): RpcError => new RpcError(CODES.alreadyInUtxoSet, 'Transaction outputs already in utxo set');

const missingInputs = (): RpcError => new RpcError(CODES.transaction, MISSING_INPUTS);

/** `reason`: the node's words. `fee`: undefined when it is not known. */
function refusal(reason: string, fee: number | undefined, size: number, { node }: SendingContext): RpcError {
  // A transaction of the pool itself is announced again, not refused: this one is an orphan that waits for outputs that it spends.
  if (reason === IN_POOL) return missingInputs();
  if (reason === IN_CHAIN) return inUtxoSet();
  if (reason === FEE_TOO_HIGH) return new RpcError(CODES.transaction, TOO_MUCH_FEE);
  const [text, details] = wordsOf(reason, fee, size, node.pool.info().minRelayFeeRate);
  return new RpcError(CODES.rejected, `${text}${details}`);
}

/** The reason in Bitcoin Core's words, and its details. bcoin checks the fee rate before it checks that the fee is not negative. */
function wordsOf(reason: string, fee: number | undefined, size: number, minRate: number): readonly [reason: string, details: string] {
  if (!isTooLittleFee(reason) || fee === undefined) return [coreReason(reason), ''];
  return fee < 0 ? [BELOW_OUTPUTS, ''] : [coreReason(reason), `, ${fee} < ${feeAt(minRate, size)}`];
}

/** Sends the transactions one after the other; gives the error of each, or undefined. */
async function sendEach(
  transactions: readonly ScannedTransaction[],
  mostRate: number,
  context: SendingContext
): Promise<(string | undefined)[]> {
  const errors: (string | undefined)[] = [];
  for (const transaction of transactions) {
    try {
      await send(transaction, mostRate, context);
      errors.push(undefined);
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      errors.push(error.message === TOO_MUCH_FEE ? 'max feerate exceeded' : error.message);
    }
  }
  return errors;
}

function writeFees(writer: JsonWriter, { wtxid }: ScannedTransaction, fee: number, size: number): void {
  writer.amountField(',"fees":{"base":', fee);
  writer.amountField(',"effective-feerate":', Math.floor((fee * 1_000) / size));
  writer.hashField(',"effective-includes":[', wtxid);
  writer.ascii(']}');
}

/** The result of testmempoolaccept. If one is refused, only it has a result; after one whose fee is too high, the later ones have none. */
function trialJson(
  transactions: readonly ScannedTransaction[],
  results: readonly TrialResult[],
  fault: string | undefined,
  mostRate: number,
  context: SendingContext
): Buffer {
  const paysTooMuch = (result: TrialResult): boolean =>
    result.type === 'taken' && mostRate > 0 && result.fee > feeAt(mostRate, result.size);
  const refused = results.findIndex(({ type }) => type !== 'taken');
  const last = results.findIndex(paysTooMuch);
  const writer = new JsonWriter();
  writer.ascii('[');
  for (const [i, transaction] of transactions.entries()) {
    writer.hashField(i === 0 ? '{"txid":' : ',{"txid":', transaction.txid);
    writer.hashField(',"wtxid":', transaction.wtxid);
    if (fault !== undefined) writer.ascii(`,"package-error":"${fault}"`);
    const isSaid = refused >= 0 ? i === refused : last < 0 || i <= last;
    const result = isSaid ? results[i] : undefined;
    if (result !== undefined && paysTooMuch(result)) writer.ascii(',"allowed":false,"reject-reason":"max-fee-exceeded"');
    else if (result?.type === 'taken') {
      writer.ascii(`,"allowed":true,"vsize":${result.size}`);
      writeFees(writer, transaction, result.fee, result.size);
    } else if (result !== undefined) writeRefusal(writer, result, transaction, context);
    writer.ascii('}');
  }
  writer.ascii(']');
  return writer.toBuffer();
}

function writeRefusal(
  writer: JsonWriter,
  result: Exclude<TrialResult, { type: 'taken' }>,
  transaction: ScannedTransaction,
  context: SendingContext
): void {
  writer.ascii(',"allowed":false,"reject-reason":');
  if (result.type === 'missing') {
    writer.string('missing-inputs');
    return;
  }
  if (result.reason === FEE_TOO_HIGH) {
    writer.string('max-fee-exceeded');
    return;
  }
  const fee = isTooLittleFee(result.reason) ? feeOf(transaction, context) : undefined;
  const [reason, details] = wordsOf(result.reason, fee, virtualSize(transaction), context.node.pool.info().minRelayFeeRate);
  writer.string(reason);
  writer.ascii(',"reject-details":');
  writer.string(`${reason}${details}`);
}

/** The result of submitpackage. `errors`: one for each transaction, undefined if it has none. */
function packageJson(
  message: string,
  transactions: readonly ScannedTransaction[],
  errors: readonly (string | undefined)[],
  { node }: SendingContext
): Buffer {
  const writer = new JsonWriter();
  writer.ascii('{"package_msg":');
  writer.string(message);
  writer.ascii(',"tx-results":{');
  for (const [i, transaction] of transactions.entries()) {
    if (i > 0) writer.ascii(',');
    writer.hashString(transaction.wtxid);
    writer.hashField(':{"txid":', transaction.txid);
    const error = errors[i];
    const entry = node.pool.entry(transaction.txid);
    if (error !== undefined || entry === undefined) {
      writer.ascii(',"error":');
      // The pool may have evicted the transaction since.
      writer.string(error ?? 'mempool full');
    } else {
      if (!entry.wtxid.equals(transaction.wtxid)) writer.hashField(',"other-wtxid":', entry.wtxid);
      writer.integerField(',"vsize":', entry.size);
      writeFees(writer, transaction, entry.fee, entry.size);
    }
    writer.ascii('}');
  }
  writer.ascii('},"replaced-transactions":[]}');
  return writer.toBuffer();
}
