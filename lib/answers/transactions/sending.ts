// Transactions for the pool: sending one or a package, or only testing whether they would be taken. Refusals are errors of Bitcoin Core's
// calls, in whatever interface they are shown.

import { hasValidOpcodes, isUnspendable } from '../../bitcoin/script';
import { scanWholeTransaction, WEIGHT_PER_VBYTE, type ScannedTransaction } from '../../bitcoin/transaction';
import { NotYetKnownError } from '../../index/errors';
import { MissingOutputsError, TransactionRefusedError, UnreadableTransactionError, type RefusalWords } from '../../node/errors';
import { feeAt, LIMITS } from '../../policy/limits';
import { isChildWithParents, packageFault, ONE_FAILED, SUCCESS } from '../../policy/package';
import { RATE_TOO_HIGH } from '../../policy/refusal';
import { nextTurn, Slice } from '../../turns/slices';
import { CODES, invalidParameter, CallError } from '../errors';
import { BELOW_OUTPUTS, coreReason, FEE_TOO_HIGH, IN_CHAIN, IN_POOL, isTooLittleFee, MISSING_INPUTS } from './core-reasons';
import type { IndexReader, IndexSnapshot } from '../../index/types';
import type { LogPoint } from '../../node/types/fleet';
import type { PackageMember, TrialResult } from '../../node/types/pool';
import type { NodeSource } from '../../node/types/source';
import type { Sent, Trial } from '../../views/sending';

/** Satoshis per 1,000 virtual bytes: 0.10 bitcoins. */
export const DEFAULT_MOST_FEE_RATE = 10_000_000;

const TOO_MUCH_FEE = 'Fee exceeds maximum configured by user (e.g. -maxtxfee, maxfeerate)';
const TOO_MUCH_BURNT = 'Unspendable output exceeds maximum configured by user (maxburnamount)';
const NO_PACKAGE = 'package topology disallowed. not child-with-parents or parents depend on each other.';

export interface SendingParts {
  readonly node: NodeSource;
  readonly reader: IndexReader;
}

/** The most that a sender wants to lose. */
export interface SendingLimits {
  /** Satoshis per 1,000 virtual bytes; 0: no limit. */
  readonly mostRate: number;
  /** Satoshis in one unspendable output. */
  readonly mostBurnt: number;
}

export const DEFAULT_SENDING_LIMITS: SendingLimits = { mostRate: DEFAULT_MOST_FEE_RATE, mostBurnt: 0 };

export interface TriedTransactions {
  /** Why the transactions do not form a package; undefined when they do. */
  readonly fault: string | undefined;
  readonly list: readonly { readonly transaction: ScannedTransaction; readonly trial: Trial }[];
}

export interface SentPackage {
  readonly message: string;
  readonly list: readonly { readonly transaction: ScannedTransaction; readonly sent: Sent }[];
  /** The txids of what has left the pool for them. */
  readonly replaced: readonly Buffer[];
}

/**
 * From where on in the log everybody sees transactions that were sent; undefined if this process does not see all of them itself yet, as a
 * reader may not whose log is away: the node that has taken them will write of them later.
 */
export function seenFrom(transactions: readonly ScannedTransaction[], { pool, position }: NodeSource): LogPoint | undefined {
  return transactions.every(({ txid }) => pool.entry(txid) !== undefined) ? position.now : undefined;
}

export class Sending {
  readonly #parts: SendingParts;

  constructor(parts: SendingParts) {
    this.#parts = parts;
  }

  /** Adds a transaction to the pool, or announces it again. @throws CallError -22, -25, -26, -27 */
  async send(transaction: ScannedTransaction, mostRate: number): Promise<void> {
    await send(transaction, mostRate, this.#parts);
  }

  /** Whether the pool would take the transactions. */
  async test(transactions: readonly ScannedTransaction[], mostRate: number): Promise<TriedTransactions> {
    const wrong = transactions.length > 1 ? packageFault(transactions) : undefined;
    const trials = wrong === undefined ? await this.#parts.node.tryTransactions(transactions.map(({ raw }) => raw)) : { results: [] };
    const said = saidOf(trials.results, mostRate);
    const list = transactions.map(async (transaction, i) => ({ transaction, trial: await this.#trial(transaction, said[i], mostRate) }));
    return { fault: wrong ?? trials.fault, list: await Promise.all(list) };
  }

  /**
   * Sends a child with its parents: together, or one after the other if the pool takes no packages.
   * @throws CallError -25 if they cannot be a package, or burn too much
   */
  async sendPackage(transactions: readonly ScannedTransaction[], { mostRate, mostBurnt }: SendingLimits): Promise<SentPackage> {
    for (const transaction of transactions) requireNotBurnt(transaction, mostBurnt);
    if (transactions.length > 1 && !isChildWithParents(transactions)) throw new CallError(CODES.transaction, NO_PACKAGE);
    const fault = packageFault(transactions);
    if (fault !== undefined) {
      const sent = { error: 'package-not-validated' };
      return { message: fault, list: transactions.map((transaction) => ({ transaction, sent })), replaced: [] };
    }
    const submitted = await this.#parts.node.submitPackage(
      transactions.map(({ raw }) => raw),
      mostRate
    );
    if (submitted !== undefined) {
      const { message, members, replaced } = submitted;
      return {
        message,
        list: transactions.map((transaction, i) => ({ transaction, sent: sentOf(members[i] as PackageMember) })),
        replaced
      };
    }
    const errors = await sendEach(transactions, mostRate, this.#parts);
    const message = errors.every((error) => error === undefined) ? SUCCESS : ONE_FAILED;
    return {
      message,
      list: transactions.map((transaction, i) => ({ transaction, sent: this.#sent(transaction, errors[i]) })),
      replaced: []
    };
  }

  async #trial(transaction: ScannedTransaction, result: TrialResult | undefined, mostRate: number): Promise<Trial> {
    if (result === undefined) return { type: 'unsaid' };
    if (result.type === 'missing') return { type: 'refused', reason: 'missing-inputs', details: undefined };
    const isTooMuch = result.type === 'taken' ? paysTooMuch(result, mostRate) : result.reason === FEE_TOO_HIGH;
    if (isTooMuch) return { type: 'refused', reason: 'max-fee-exceeded', details: undefined };
    if (result.type === 'taken') return { ...result, weight: transaction.weight };
    const { words } = result;
    if (words !== undefined) return { type: 'refused', reason: words.reason, details: words.message };
    const fee = isTooLittleFee(result.reason) ? await feeOf(transaction, this.#parts) : undefined;
    const minRate = this.#parts.node.pool.info().minRelayFeeRate;
    const [reason, details] = wordsOf(result.reason, fee, virtualSize(transaction), minRate);
    return { type: 'refused', reason, details: `${reason}${details}` };
  }

  #sent({ txid, wtxid }: ScannedTransaction, error: string | undefined): Sent {
    const entry = this.#parts.node.pool.entry(txid);
    // The pool may have evicted the transaction since.
    if (error !== undefined || entry === undefined) return { error: error ?? 'mempool full' };
    const { fee, size, weight } = entry;
    if (!entry.wtxid.equals(wtxid)) return { otherWtxid: entry.wtxid };
    return { fee, size, weight, effective: { fee, size, wtxids: [wtxid] } };
  }
}

/** The transaction in hex. @throws CallError -22 */
export function decodeTransaction(hex: string): ScannedTransaction {
  const transaction = decoded(hex);
  if (transaction === undefined) throw undecodable();
  return transaction;
}

/** Bitcoin Core looks at the number of transactions before it looks at anything else. @throws CallError -8 */
export function requirePackageSize({ length }: readonly unknown[]): void {
  if (length < 1 || length > LIMITS.mostInPackage)
    throw invalidParameter(`Array must contain between 1 and ${LIMITS.mostInPackage} transactions.`);
}

/**
 * The transactions in a list of hex texts, decoded in slices: a large one takes milliseconds. `textOf` checks that an item is a text.
 * @throws CallError -22, and what `textOf` throws
 */
export async function decodeTransactions<T>(list: readonly T[], textOf: (item: T) => string): Promise<ScannedTransaction[]> {
  const slice = new Slice();
  const transactions: ScannedTransaction[] = [];
  for (const item of list) {
    if (slice.isOver()) await nextTurn();
    const hex = textOf(item);
    const transaction = decoded(hex);
    if (transaction === undefined) throw undecodable(hex);
    transactions.push(transaction);
  }
  return transactions;
}

/** @throws CallError -25 when an unspendable output has more than `most` satoshis. */
export function requireNotBurnt({ outputs }: ScannedTransaction, most: number): void {
  if (outputs.some(({ value, script }) => value > most && (isUnspendable(script) || !hasValidOpcodes(script))))
    throw new CallError(CODES.transaction, TOO_MUCH_BURNT);
}

function decoded(hex: string): ScannedTransaction | undefined {
  if (!/^(?:[0-9a-fA-F]{2})+$/.test(hex)) return undefined;
  try {
    const transaction = scanWholeTransaction(Buffer.from(hex, 'hex'));
    // bcoin cannot read other amounts, or takes the bytes for those of another transaction.
    return transaction.outputs.every(({ value }) => Number.isSafeInteger(value)) ? transaction : undefined;
  } catch {
    return undefined;
  }
}

/** `hex`: the undecodable one, if several transactions were given. */
function undecodable(hex?: string): CallError {
  const which = hex === undefined ? '.' : `: ${hex}`;
  return new CallError(CODES.deserialization, `TX decode failed${which} Make sure the tx has at least one input.`);
}

const virtualSize = ({ weight }: ScannedTransaction): number => Math.ceil(weight / WEIGHT_PER_VBYTE);

/**
 * Undefined when a spent output is neither in the index nor in the pool, and for a weight that no standard pool takes: the pool itself then holds to
 * the limit of the fee rate.
 * A transaction may spend thousands of outputs; one with few is looked at in one go, so that a child does not overtake its parent.
 */
async function feeOf(
  { weight, inputs, outputs }: ScannedTransaction,
  { reader, node: { pool } }: SendingParts
): Promise<number | undefined> {
  if (weight > LIMITS.mostWeight) return undefined;
  return reader.read(async (snapshot) => {
    const slice = new Slice();
    let fee = 0;
    for (const { txid, index } of inputs) {
      const coin = snapshot.coin(txid, index) ?? pool.coin(txid, index);
      if (coin === undefined) return undefined;
      fee += coin.value;
      if (slice.isOverAfterStep()) await nextTurn();
    }
    for (const { value } of outputs) fee -= value;
    return fee;
  });
}

/** Adds the transaction to the pool, or announces it again. `mostRate`: 0 for no limit. @throws CallError -22, -25, -26, -27 */
async function send(transaction: ScannedTransaction, mostRate: number, parts: SendingParts): Promise<void> {
  const { reader, node } = parts;
  const { txid, raw } = transaction;
  if (await reader.read((snapshot) => hasCoins(transaction, snapshot))) throw inUtxoSet();
  const isNew = node.pool.entry(txid) === undefined;
  const fee = isNew ? await feeOf(transaction, parts) : undefined;
  if (fee !== undefined && mostRate > 0 && fee > feeAt(mostRate, virtualSize(transaction))) throw await tooDear(transaction, fee, parts);
  try {
    // The node may know the outputs that are spent: a reader of a fleet may be behind it, as the index is for a moment.
    await node.broadcast(raw, fee === undefined ? mostRate : 0);
  } catch (error) {
    if (error instanceof UnreadableTransactionError) throw undecodable();
    if (error instanceof MissingOutputsError) throw missingInputs();
    if (!(error instanceof TransactionRefusedError)) throw error;
    throw refusal({ reason: error.message, words: error.words }, fee, virtualSize(transaction), parts);
  }
}

/** The error for a transaction whose fee is too high. Any other reason for refusal takes precedence over that. */
async function tooDear(transaction: ScannedTransaction, fee: number, parts: SendingParts): Promise<CallError> {
  const {
    results: [result]
  } = await parts.node.tryTransactions([transaction.raw]);
  if (result?.type !== 'refused' || result.reason === FEE_TOO_HIGH) return tooMuchFee();
  return refusal(result, fee, virtualSize(transaction), parts);
}

/** Whether one of its outputs is a coin of the chain. */
async function hasCoins({ txid, outputs }: ScannedTransaction, snapshot: IndexSnapshot): Promise<boolean> {
  if (!mayBeInChain(txid, snapshot)) return false;
  const slice = new Slice();
  for (const n of outputs.keys()) {
    if (snapshot.coin(txid, n) !== undefined) return true;
    if (slice.isOverAfterStep()) await nextTurn();
  }
  return false;
}

function mayBeInChain(txid: Buffer, snapshot: IndexSnapshot): boolean {
  try {
    return snapshot.position(txid) !== undefined;
  } catch (error) {
    if (error instanceof NotYetKnownError) return true;
    throw error;
  }
}

const tooMuchFee = (): CallError => new CallError(CODES.transaction, TOO_MUCH_FEE);

const inUtxoSet = (): CallError => new CallError(CODES.alreadyInUtxoSet, 'Transaction outputs already in utxo set');

const missingInputs = (): CallError => new CallError(CODES.transaction, MISSING_INPUTS);

interface Refusal {
  /** The node's. */
  readonly reason: string;
  /** Bitcoin Core's, if the node has them. */
  readonly words?: RefusalWords | undefined;
}

/** `fee`: undefined when it is not known. */
function refusal({ reason, words }: Refusal, fee: number | undefined, size: number, { node }: SendingParts): CallError {
  // A transaction of the pool itself is announced again, not refused: this one is an orphan that waits for outputs that it spends.
  if (reason === IN_POOL) return missingInputs();
  if (reason === IN_CHAIN) return inUtxoSet();
  if (reason === FEE_TOO_HIGH || reason === RATE_TOO_HIGH) return tooMuchFee();
  if (words !== undefined) return new CallError(CODES.rejected, words.message);
  const [text, details] = wordsOf(reason, fee, size, node.pool.info().minRelayFeeRate);
  return new CallError(CODES.rejected, `${text}${details}`);
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
  parts: SendingParts
): Promise<(string | undefined)[]> {
  const errors: (string | undefined)[] = [];
  for (const transaction of transactions) {
    try {
      await send(transaction, mostRate, parts);
      errors.push(undefined);
    } catch (error) {
      if (!(error instanceof CallError)) throw error;
      errors.push(error.message === TOO_MUCH_FEE ? RATE_TOO_HIGH : error.message);
    }
  }
  return errors;
}

function sentOf(member: PackageMember): Sent {
  switch (member.type) {
    case 'refused':
      return { error: member.details === '' ? member.reason : `${member.reason}, ${member.details}` };
    case 'pooled with another witness':
      return { otherWtxid: member.wtxid };
    case 'pooled':
      return { ...member, effective: undefined };
    case 'entered':
      return member;
  }
}

const paysTooMuch = ({ fee, size }: { readonly fee: number; readonly size: number }, mostRate: number): boolean =>
  mostRate > 0 && fee > feeAt(mostRate, size);

/** What is said about each: after one whose fee is too high, no more. */
function saidOf(results: readonly (TrialResult | undefined)[], mostRate: number): readonly (TrialResult | undefined)[] {
  const last = results.findIndex((result) => result?.type === 'taken' && paysTooMuch(result, mostRate));
  return results.map((result, i) => (last < 0 || i <= last ? result : undefined));
}
