// The standing of a request's Payments in the chain.

import { PaymentError } from '../../payments/error';
import { decodePayment } from '../../payments/messages';
import { payingOutputs, transactionsIn } from '../../payments/rules/payment';
import { displayTxid, type Transaction } from '../../payments/rules/transaction';
import type { RequestedOutput } from '../../payments/rules/request';
import type { ConfirmingBlock, MerchantChain, Standing } from './chain';
import type { Settlement } from './order-watch';
import type { StoredPayment } from './record';

/** With this many confirmations, after which a coinbase may be spent, a transaction is taken as final. */
const FINAL_DEPTH = 100;

/** Bytes, with which an outpoint begins. */
const TXID_SIZE = 32;

/** Beginning with the furthest from being confirmed. `unknown` may be confirmed, so it ranks above lost and below pending. */
const RANKS: readonly Standing['state'][] = ['conflicted', 'replaced', 'absent', 'unknown', 'pool', 'confirmed'];

export type TracedTransactions = readonly { readonly transaction: Transaction; readonly standing: Standing }[];

/** A Payment whose transactions were looked for. */
export interface TracedPayment {
  readonly payment: StoredPayment;
  /** Of the needed transactions the standing of the one furthest from being confirmed. */
  readonly standing: Standing;
  /** The transactions that pay, and those of the Payment that they spend from: what becomes of others says nothing about the order. */
  readonly needed: TracedTransactions;
  /** Transactions, txids in display order, that are in a block in which they have not been seen yet. */
  readonly news: readonly { readonly txid: string; readonly block: ConfirmingBlock }[];
}

/** @param due what the request asks for */
export async function tracePayment(payment: StoredPayment, due: readonly RequestedOutput[], chain: MerchantChain): Promise<TracedPayment> {
  const parts = await traceTransactions(transactionsIn(decodePayment(payment.payment)), chain, payment.seenIn);
  const news = parts.flatMap(({ transaction, standing }) => {
    const txid = displayTxid(transaction.txid);
    if (standing.state !== 'confirmed' || payment.seenIn.get(txid)?.hash.equals(standing.block.hash) === true) return [];
    return [{ txid, block: standing.block }];
  });
  const neededOnes = neededFor(
    due,
    parts.map(({ transaction }) => transaction)
  );
  // A Payment that is accepted has at least one transaction that pays.
  const needed = parts.filter(({ transaction }) => neededOnes.size === 0 || neededOnes.has(transaction));
  const standing = needed.map((part) => part.standing).reduce((a, b) => (compareStandings(b, a) < 0 ? b : a));
  return { payment, standing, needed, news };
}

/** The transactions that pay, and those that they spend from. */
function neededFor(due: readonly RequestedOutput[], transactions: readonly Transaction[]): ReadonlySet<Transaction> {
  const byTxid = new Map(transactions.map((transaction) => [transaction.txid.toString('latin1'), transaction]));
  const needed = new Set<Transaction>();
  for (const { txid } of payingOutputs(transactions, due)) {
    const paying = byTxid.get(txid.toString('latin1'));
    if (paying !== undefined) needed.add(paying);
  }
  // A set is walked through with what is added meanwhile.
  for (const { outpoints } of needed)
    for (const outpoint of outpoints) {
      const parent = byTxid.get(outpoint.toString('latin1', 0, TXID_SIZE));
      if (parent !== undefined) needed.add(parent);
    }
  return needed;
}

/** One after the other, so that the chain can make pauses: a Payment may have hundreds. */
export async function traceTransactions(
  transactions: readonly Transaction[],
  chain: MerchantChain,
  seenIn: ReadonlyMap<string, ConfirmingBlock> = new Map()
): Promise<TracedTransactions> {
  const parts: { transaction: Transaction; standing: Standing }[] = [];
  for (const transaction of transactions) {
    const { txid, outpoints, outputs } = transaction;
    const standing = await chain.standing({ txid, outpoints, outputs: [...outputs.keys()] }, seenIn.get(displayTxid(txid)));
    parts.push({ transaction, standing });
  }
  return parts;
}

/** The Payment that is nearest to being confirmed; undefined when none has come. */
export function bestOf(payments: readonly TracedPayment[]): TracedPayment | undefined {
  const [first, ...others] = payments;
  return first && others.reduce((a, b) => (compareStandings(a.standing, b.standing) < 0 ? b : a), first);
}

/** @throws PaymentError `not-yet-known` */
export function requireKnown(standing: Standing): Exclude<Standing, { readonly state: 'unknown' }> {
  if (standing.state === 'unknown') throw new PaymentError('not-yet-known', standing.reason);
  return standing;
}

/** By the Payment that is nearest to being confirmed. */
export function settlementOf(payments: readonly TracedPayment[]): Settlement {
  const best = bestOf(payments)?.standing;
  if (best === undefined) return 'none';
  if (best.state === 'conflicted') return 'conflicted';
  return best.state === 'confirmed' && best.confirmations >= FINAL_DEPTH ? 'final' : 'doubt';
}

/** Negative when `a` is further from being confirmed. */
function compareStandings(a: Standing, b: Standing): number {
  if (a.state === 'confirmed' && b.state === 'confirmed') return a.confirmations - b.confirmations;
  return RANKS.indexOf(a.state) - RANKS.indexOf(b.state);
}
