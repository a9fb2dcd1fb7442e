// Takes Payments: checks them, broadcasts their transactions and acknowledges them. Every decision is recorded.

import { PaymentError } from '../../payments/error';
import { acknowledgePayment, decodePayment } from '../../payments/messages';
import {
  answeringTransactions,
  checkPaid,
  isPaid,
  outpointKey,
  payingOutputs,
  transactionsIn,
  type PayingOutput
} from '../../payments/rules/payment';
import { checkExpiry, payableOutputs } from '../../payments/rules/request';
import { displayTxid, parentsFirst, type Transaction } from '../../payments/rules/transaction';
import { detailsOf, settling, type StoredPayment, type StoredRequest } from './record';
import { requireKnown, traceTransactions, type TracedTransactions } from './settlement';
import type { OrderParts, OrderRecords } from './order-records';

export class PaymentTaking {
  readonly #parts: OrderParts;
  readonly #records: OrderRecords;

  constructor(parts: OrderParts, records: OrderRecords) {
    this.#parts = parts;
    this.#records = records;
  }

  /** Returns the serialized PaymentACK. @throws PaymentError with the reason */
  async take(id: string, bytes: Buffer): Promise<Buffer> {
    const stored = await this.#parts.store.request(id);
    const before = stored.payments.find(({ payment }) => payment.equals(bytes));
    if (before?.acknowledgement) return before.acknowledgement;
    const payment = decodePayment(bytes);
    const first: StoredPayment = {
      receivedAt: this.#parts.clock(),
      payment: bytes,
      txids: [],
      refundTo: payment.refundTo,
      seenIn: new Map()
    };
    const { outcome, ...came } = before ?? first;
    // A Payment whose acceptance was interrupted may be finished even after the request has expired.
    const isInterrupted = before !== undefined && outcome === undefined;
    try {
      const details = detailsOf(stored);
      const transactions = answeringTransactions(payment, details);
      const known = { ...came, txids: transactions.map(({ txid }) => txid) };
      if (await this.#isRepeated(stored, transactions)) {
        await this.#records.save(withPayment(stored, { ...known, outcome: { decision: 'repeated' } }));
        return acknowledgePayment(bytes);
      }
      if (!isInterrupted) checkExpiry(details, this.#parts.clock());
      await this.#refuseSecondPayment(stored, before);
      await this.#refuseIfPaidByOthers(stored, known);
      return await this.#carryOut(stored, known, transactions, await this.#paying(stored, transactions));
    } catch (error) {
      if (error instanceof PaymentError && !(isInterrupted && error.code === 'not-yet-known')) await this.refuse(id, came, error);
      throw error;
    }
  }

  /** Finishes a Payment whose acceptance was interrupted by the end of the process. */
  async finish(stored: StoredRequest, payment: StoredPayment): Promise<void> {
    const transactions = transactionsIn(decodePayment(payment.payment));
    await this.#carryOut(stored, payment, transactions, await this.#paying(stored, transactions));
  }

  /** Records a refused Payment: its money may be in the chain all the same. */
  async refuse(id: string, came: StoredPayment, { code, message: reason }: PaymentError): Promise<void> {
    let { txids } = came;
    try {
      const transactions = transactionsIn(decodePayment(came.payment));
      txids = transactions.map(({ txid }) => txid);
      await this.#note(id, transactions);
    } catch (error) {
      // Transactions that cannot be parsed pay nothing.
      if (!(error instanceof PaymentError)) throw error;
    }
    await this.#records.save(
      withPayment(await this.#parts.store.request(id), { ...came, txids, outcome: { decision: 'refused', code, reason } })
    );
  }

  /** @throws PaymentError `refused` */
  async broadcast(parts: TracedTransactions): Promise<void> {
    if (parts.length > 0)
      await this.#parts.chain.broadcast(parentsFirst(parts.map(({ transaction }) => transaction)).map(({ bytes }) => bytes));
  }

  /**
   * Whether what pays in a Payment has paid in one that was acknowledged. What comes beside it does not matter: a stranger who sees the
   * customer's transaction may have sent it before, together with another.
   */
  async #isRepeated(stored: StoredRequest, transactions: readonly Transaction[]): Promise<boolean> {
    const { outputs: due } = payableOutputs(detailsOf(stored));
    const paying = payingOutputs(transactions, due);
    const isAmong = ({ payment }: StoredPayment): boolean => {
      const keys = new Set(payingOutputs(transactionsIn(decodePayment(payment)), due).map(outpointKey));
      return paying.every((output) => keys.has(outpointKey(output)));
    };
    const acknowledged = settling(stored).filter(({ acknowledgement }) => acknowledgement !== undefined);
    return acknowledged.some(isAmong) && isPaid(due, await this.#parts.store.unclaimed(paying, stored.id));
  }

  /** Another Payment is accepted only once the chain has a transaction that excludes the first. */
  async #refuseSecondPayment(stored: StoredRequest, before: StoredPayment | undefined): Promise<void> {
    for (const { payment, standing } of await this.#records.trace(stored)) {
      if (payment === before || standing.state === 'conflicted') continue;
      requireKnown(standing);
      throw new PaymentError('already-paid', 'The request is paid already.');
    }
  }

  /**
   * Most wallets pay to the address, and another one of the same customer may still have the request. Where the customer chooses the
   * amount, what others have paid, perhaps next to nothing, is not his.
   */
  async #refuseIfPaidByOthers(stored: StoredRequest, { txids }: StoredPayment): Promise<void> {
    const { total, outputs: due } = payableOutputs(detailsOf(stored));
    if (total === 0n) return;
    const own = new Set(txids.map(displayTxid));
    const others = (await this.#records.present(stored)).filter(({ txid }) => !own.has(txid));
    if (isPaid(due, others)) throw new PaymentError('already-paid', 'The request is paid already.');
  }

  /** The outputs that pay the order, and have paid no other. @throws PaymentError `underpaid` */
  async #paying(stored: StoredRequest, transactions: readonly Transaction[]): Promise<PayingOutput[]> {
    const due = payableOutputs(detailsOf(stored));
    const paying = await this.#parts.store.unclaimed(payingOutputs(transactions, due.outputs), stored.id);
    checkPaid(paying, due);
    return paying;
  }

  /** The Payment is stored first: it says where to send a refund. */
  async #carryOut(
    stored: StoredRequest,
    payment: StoredPayment,
    transactions: readonly Transaction[],
    paying: readonly PayingOutput[]
  ): Promise<Buffer> {
    const { id } = stored;
    const parts = await traceTransactions(transactions, this.#parts.chain);
    await this.#checkWitnesses(parts);
    const unknown = parts.filter(({ standing }) => ['absent', 'replaced', 'conflicted'].includes(requireKnown(standing).state));
    const begun = withPayment(stored, payment);
    await this.#records.save(begun);
    await this.broadcast(unknown);
    await this.#parts.store.claim(paying, id);
    const acknowledgement = acknowledgePayment(payment.payment);
    await this.#note(id, transactions);
    await this.#records.save(withPayment(begun, { ...payment, acknowledgement }));
    return acknowledgement;
  }

  /**
   * The txid does not cover the witness (BIP141), so whoever sees a transaction can send it with a witness that is not valid. What is
   * acknowledged is broadcast again when pool and chain have lost it.
   * @throws PaymentError `refused`
   */
  async #checkWitnesses(parts: TracedTransactions): Promise<void> {
    for (const { transaction, standing } of parts) {
      const { txid, bytes } = transaction;
      let known: Buffer | undefined;
      if (standing.state === 'pool') known = standing.bytes;
      else if (standing.state === 'confirmed') known = await this.#parts.chain.confirmedBytes(txid);
      if (known === undefined || known.equals(bytes)) continue;
      throw new PaymentError('refused', `The node has transaction ${displayTxid(txid)} with another witness. Send it as it was broadcast.`);
    }
  }

  /** Notes outputs of a Payment's transactions that are in chain or pool: the search may have missed them. */
  async #note(id: string, transactions: readonly Transaction[]): Promise<void> {
    if (!this.#parts.watch.has(id)) await this.#records.save(await this.#parts.store.request(id));
    // Looking for a transaction costs more than making one up.
    const asked = transactions.filter(({ outputs }) => outputs.some(({ script }) => this.#parts.watch.askers(script) !== undefined));
    for (const { transaction, standing } of await traceTransactions(asked, this.#parts.chain)) {
      if (standing.state !== 'pool' && standing.state !== 'confirmed') continue;
      transaction.outputs.forEach(({ amount, script }, index) => {
        this.#parts.watch.seenInPool({ txid: transaction.txid, index, amount, script });
      });
    }
  }
}

function withPayment(stored: StoredRequest, payment: StoredPayment): StoredRequest {
  return { ...stored, payments: [...stored.payments.filter((other) => !other.payment.equals(payment.payment)), payment] };
}
