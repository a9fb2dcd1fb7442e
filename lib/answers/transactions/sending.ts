// Transactions for the pool: sending one or a package, or only testing whether they would be taken. Refusals are errors of Bitcoin Core's
// calls, in whatever interface they are shown.

import { WEIGHT_PER_VBYTE, type ScannedTransaction } from '../../bitcoin/transaction';
import { NotYetKnownError } from '../../index/errors';
import { MissingOutputsError, TransactionRefusedError, UnreadableTransactionError } from '../../node/errors';
import { feeAt } from '../../policy/limits';
import { isChildWithParents, packageFault, ONE_FAILED, SUCCESS } from '../../policy/package';
import { RATE_TOO_HIGH } from '../../policy/refusal';
import { nextTurn, Slice } from '../../turns/slices';
import { CODES, CallError } from '../errors';
import { requireNotBurnt, undecodable } from './decoding';
import { FEE_TOO_HIGH, hasDetails, inUtxoSet, missingInputs, refusal, TOO_MUCH_FEE, tooMuchFee, wordsOf } from './refusals';
import { spentBy, type Spent } from './spent-coins';
import type { IndexReader, IndexSnapshot } from '../../index/types';
import type { ChangePoint } from '../../node/types/fleet';
import type { PackageMember, TrialResult } from '../../node/types/pool';
import type { NodeSource } from '../../node/types/source';
import type { Sent, Trial } from '../../views/sending';

/** Satoshis per 1,000 virtual bytes: 0.10 bitcoins. */
export const DEFAULT_MOST_FEE_RATE = 10_000_000;

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
 * From where on in the log everybody sees transactions that were sent; `unknown` if this process does not see all of them itself yet, as a
 * reader may not whose log is away: the node that has taken them will write of them later.
 */
export function seenFrom(transactions: readonly ScannedTransaction[], { pool, position }: NodeSource): ChangePoint {
  return transactions.every(({ txid }) => pool.entry(txid) !== undefined) ? position.now : 'unknown';
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
    if (!isChildWithParents(transactions)) throw new CallError(CODES.transaction, NO_PACKAGE);
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
    const spent = hasDetails(result.reason) ? await spentBy(transaction, this.#parts) : undefined;
    const { reason, message } = wordsOf(result.reason, transaction, spent, this.#parts.node.pool);
    return { type: 'refused', reason, details: message };
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

const virtualSize = ({ weight }: ScannedTransaction): number => Math.ceil(weight / WEIGHT_PER_VBYTE);

/** Adds the transaction to the pool, or announces it again. `mostRate`: 0 for no limit. @throws CallError -22, -25, -26, -27 */
async function send(transaction: ScannedTransaction, mostRate: number, parts: SendingParts): Promise<void> {
  const { reader, node } = parts;
  const { txid, raw } = transaction;
  if (await reader.read((snapshot) => hasCoins(transaction, snapshot))) throw inUtxoSet();
  const isNew = node.pool.entry(txid) === undefined;
  const spent = isNew ? await spentBy(transaction, parts) : undefined;
  if (spent !== undefined && mostRate > 0 && spent.fee > feeAt(mostRate, virtualSize(transaction)))
    throw await tooDear(transaction, spent, parts);
  try {
    // The node may know the outputs that are spent: a reader of a fleet may be behind it, as the index is for a moment.
    await node.broadcast(raw, spent === undefined ? mostRate : 0);
  } catch (error) {
    if (error instanceof UnreadableTransactionError) throw undecodable();
    if (error instanceof MissingOutputsError) throw missingInputs();
    if (!(error instanceof TransactionRefusedError)) throw error;
    throw refusal({ reason: error.message, words: error.words }, transaction, spent, node.pool);
  }
}

/** The error for a transaction whose fee is too high. Any other reason for refusal takes precedence over that. */
async function tooDear(transaction: ScannedTransaction, spent: Spent, parts: SendingParts): Promise<CallError> {
  const {
    results: [result]
  } = await parts.node.tryTransactions([transaction.raw]);
  if (result?.type !== 'refused') return tooMuchFee();
  return refusal(result, transaction, spent, parts.node.pool);
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
