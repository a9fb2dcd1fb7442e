// Whether a Payment answers its request (BIP70): merchant_data must come back unchanged, and the transactions must pay every output
// in full. A transaction counts only once, and transactions that exclude each other are no payment at all.

import { PaymentError } from '../error';
import { parseTransaction, type Transaction } from './transaction';
import type { Payment } from '../messages';
import type { PayableRequest, RequestedOutput } from './request';

/**
 * @returns the transactions, each once.
 * @throws PaymentError `wrong-merchant-data`, `underpaid`, or `malformed`.
 */
export function checkPayment(payment: Payment, request: Pick<PayableRequest, 'outputs' | 'total' | 'merchantData'>): Transaction[] {
  const transactions = answeringTransactions(payment, request);
  checkPaid(payingOutputs(transactions, request.outputs), request);
  return transactions;
}

/** The transactions of a Payment, each once. Whether they pay enough is checked by `checkPaid`. */
export function answeringTransactions(payment: Payment, request: Pick<PayableRequest, 'merchantData'>): Transaction[] {
  // Absent and empty are the same to a wallet that copies the field.
  if (!(payment.merchantData ?? Buffer.alloc(0)).equals(request.merchantData ?? Buffer.alloc(0))) {
    throw new PaymentError('wrong-merchant-data', 'The merchant_data of the request expected, other data came.');
  }
  const transactions = transactionsIn(payment);
  if (transactions.length === 0) throw new PaymentError('underpaid', 'At least one transaction expected, none came.');
  refuseConflicts(transactions);
  return transactions;
}

/** The transactions of a Payment, each once. @throws PaymentError `malformed` */
export function transactionsIn(payment: Pick<Payment, 'transactions'>): Transaction[] {
  const transactions = payment.transactions.map(parseTransaction);
  return [...new Map(transactions.map((transaction) => [transaction.txid.toString('hex'), transaction])).values()];
}

function refuseConflicts(transactions: readonly Transaction[]): void {
  const spent = new Set<string>();
  for (const outpoint of transactions.flatMap((transaction) => transaction.outpoints)) {
    const key = outpoint.toString('hex');
    if (spent.has(key)) throw new PaymentError('underpaid', 'The transactions spend the same coin twice: only one of them can confirm.');
    spent.add(key);
  }
}

/** An output of a transaction that pays to a requested script. */
export interface PayingOutput extends RequestedOutput {
  /** Wire order. */
  readonly txid: Buffer;
  readonly index: number;
}

/** Differs for each output of each transaction. */
export function outpointKey({ txid, index }: Pick<PayingOutput, 'txid' | 'index'>): string {
  return `${txid.toString('latin1')}${index}`;
}

/** The outputs with a requested script, whatever their amount, in the order of the transactions. */
export function payingOutputs(transactions: readonly Transaction[], requested: readonly RequestedOutput[]): PayingOutput[] {
  const scripts = new Set(requested.map(({ script }) => script.toString('hex')));
  return transactions.flatMap(({ txid, outputs }) =>
    outputs
      .map(({ amount, script }, index) => ({ txid, index, amount, script }))
      .filter(({ script }) => scripts.has(script.toString('hex')))
  );
}

/** @throws PaymentError `underpaid`. */
export function checkPaid(outputs: readonly PayingOutput[], request: Pick<PayableRequest, 'outputs' | 'total'>): void {
  const paid = sumByScript(outputs);
  const requested = sumByScript(request.outputs);
  if (request.total === 0n) {
    if ([...requested.keys()].some((script) => (paid.get(script) ?? 0n) > 0n)) return;
    throw new PaymentError('underpaid', 'A payment to one of the outputs expected, none came.');
  }
  for (const [script, amount] of requested) {
    const came = paid.get(script) ?? 0n;
    if (came < amount) throw new PaymentError('underpaid', `${amount} satoshis to the script ${script} expected, ${came} came.`);
  }
}

/** Whether outputs pay a request in full; if the customer chooses the amount, with anything above nothing. */
export function isPaid(due: readonly RequestedOutput[], outputs: readonly RequestedOutput[]): boolean {
  return outputs.some(({ amount }) => amount > 0n) && missingOf(due, outputs) === 0n;
}

/** Satoshis that have still to come, output by output: too much for one script makes up for nothing. */
export function missingOf(due: readonly RequestedOutput[], outputs: readonly RequestedOutput[]): bigint {
  const came = sumByScript(outputs);
  let missing = 0n;
  for (const [script, amount] of sumByScript(due)) {
    const lacking = amount - (came.get(script) ?? 0n);
    if (lacking > 0n) missing += lacking;
  }
  return missing;
}

/** Satoshis by script in hex: the amounts of outputs with the same script are added up. */
function sumByScript(outputs: readonly RequestedOutput[]): Map<string, bigint> {
  const sums = new Map<string, bigint>();
  for (const { amount, script } of outputs) {
    const key = script.toString('hex');
    sums.set(key, (sums.get(key) ?? 0n) + amount);
  }
  return sums;
}
