// Transactions for the pool: sending one or a package, or only testing whether they would be taken. Refusals are errors of Bitcoin Core's
// calls, in whatever interface they are shown.

import { WEIGHT_PER_VBYTE, type ScannedTransaction } from '../../bitcoin/transaction';
import { NotYetKnownError } from '../../index/errors';
import { MissingOutputsError, TransactionRefusedError, UnreadableTransactionError, type RefusalWords } from '../../node/errors';
import { feeAt, LIMITS } from '../../policy/limits';
import { isChildWithParents, packageFault, ONE_FAILED, SUCCESS } from '../../policy/package';
import { PolicyRefusal, RATE_TOO_HIGH } from '../../policy/refusal';
import { checkFee, checkValues } from '../../policy/spending';
import { Candidate, Offered, type SpentCoin } from '../../policy/transaction';
import { nextTurn, Slice } from '../../turns/slices';
import { CODES, CallError } from '../errors';
import { coreReason, FEE_TOO_HIGH, hasDetails, IN_CHAIN, IN_POOL, MISSING_INPUTS } from './core-reasons';
import { requireNotBurnt, undecodable } from './decoding';
import type { IndexReader, IndexSnapshot } from '../../index/types';
import type { ChangePoint } from '../../node/types/fleet';
import type { PackageMember, PoolSource, TrialResult } from '../../node/types/pool';
import type { NodeSource } from '../../node/types/source';
import type { Sent, Trial } from '../../views/sending';

/** Satoshis per 1,000 virtual bytes: 0.10 bitcoins. */
export const DEFAULT_MOST_FEE_RATE = 10_000_000;

const TOO_MUCH_FEE = 'Fee exceeds maximum configured by user (e.g. -maxtxfee, maxfeerate)';
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
    const spent = hasDetails(result.reason) ? await spentBy(transaction, this.#parts) : undefined;
    const { reason, message } = wordsOf(result.reason, transaction, spent, this.#parts);
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

/** What a transaction spends. */
interface Spent {
  /** One for each input. */
  readonly coins: readonly SpentCoin[];
  readonly fee: number;
  /** Of the next block. */
  readonly height: number;
}

/**
 * Undefined when a spent output is neither in the index nor in the pool, and for a weight that no standard pool takes: the pool itself then holds to
 * the limit of the fee rate.
 * A transaction may spend thousands of outputs; one with few is looked at in one go, so that a child does not overtake its parent.
 */
async function spentBy(
  { weight, inputs, outputs }: ScannedTransaction,
  { reader, node: { pool } }: SendingParts
): Promise<Spent | undefined> {
  if (weight > LIMITS.mostWeight) return undefined;
  return reader.read(async (snapshot) => {
    const slice = new Slice();
    const coins: SpentCoin[] = [];
    let fee = 0;
    for (const { txid, index } of inputs) {
      const coin = spentCoin(txid, index, snapshot, pool);
      if (coin === undefined) return undefined;
      coins.push(coin);
      fee += coin.value;
      if (slice.isOverAfterStep()) await nextTurn();
    }
    for (const { value } of outputs) fee -= value;
    return { coins, fee, height: snapshot.tip.height + 1 };
  });
}

function spentCoin(txid: Buffer, index: number, snapshot: IndexSnapshot, pool: PoolSource): SpentCoin | undefined {
  const coin = snapshot.coin(txid, index);
  if (coin !== undefined) return { ...coin, isCoinbase: coin.coinbase };
  const pooled = pool.coin(txid, index);
  return pooled && { ...pooled, height: undefined, isCoinbase: false };
}

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
    throw refusal({ reason: error.message, words: error.words }, transaction, spent, parts);
  }
}

/** The error for a transaction whose fee is too high. Any other reason for refusal takes precedence over that. */
async function tooDear(transaction: ScannedTransaction, spent: Spent, parts: SendingParts): Promise<CallError> {
  const {
    results: [result]
  } = await parts.node.tryTransactions([transaction.raw]);
  if (result?.type !== 'refused' || result.reason === FEE_TOO_HIGH) return tooMuchFee();
  return refusal(result, transaction, spent, parts);
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

/** `spent`: undefined when it is not known. */
function refusal({ reason, words }: Refusal, transaction: ScannedTransaction, spent: Spent | undefined, parts: SendingParts): CallError {
  // A transaction of the pool itself is announced again, not refused: this one is an orphan that waits for outputs that it spends.
  if (reason === IN_POOL) return missingInputs();
  if (reason === IN_CHAIN) return inUtxoSet();
  if (reason === FEE_TOO_HIGH || reason === RATE_TOO_HIGH) return tooMuchFee();
  return new CallError(CODES.rejected, (words ?? wordsOf(reason, transaction, spent, parts)).message);
}

/**
 * A reason of bcoin in Bitcoin Core's words. The details, which bcoin does not give, come from the checks of today's pool; these also know
 * that outputs worth more than the inputs are no matter of the fee rate, which bcoin checks first.
 */
function wordsOf(reason: string, transaction: ScannedTransaction, spent: Spent | undefined, { node }: SendingParts): RefusalWords {
  const words = coreReason(reason);
  if (spent === undefined || !hasDetails(reason)) return { reason: words, message: words };
  const candidate = new Candidate(new Offered(transaction), spent.coins);
  try {
    checkValues(candidate, spent.height);
    checkFee(candidate.fee, candidate.size, { floor: 0, relay: node.pool.info().minRelayFeeRate });
  } catch (error) {
    if (error instanceof PolicyRefusal) return error;
    throw error;
  }
  return { reason: words, message: words };
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
