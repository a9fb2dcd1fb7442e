// Looks after Payments that were acknowledged until they are deep in the chain, and tells the operator what becomes of them.

import { PaymentError } from '../../payments/error';
import { displayTxid } from '../../payments/rules/transaction';
import { receivedOf } from './receipts';
import { settlementOf, type TracedTransactions } from './settlement';
import type { OrderParts, OrderRecords } from './order-records';
import type { PaymentTaking } from './payment-taking';
import type { StoredRequest } from './record';
import type { TurnQueue } from './turn-queue';

export class PaymentReview {
  readonly #parts: OrderParts;
  readonly #records: OrderRecords;
  readonly #taking: PaymentTaking;
  readonly #turns: TurnQueue;

  constructor(parts: OrderParts, records: OrderRecords, taking: PaymentTaking, turns: TurnQueue) {
    this.#parts = parts;
    this.#records = records;
    this.#taking = taking;
    this.#turns = turns;
  }

  /** See `Merchant.review`. */
  async review(goOn: () => boolean): Promise<void> {
    const each = async (ids: readonly string[], work: (id: string) => Promise<void>): Promise<void> => {
      for (const id of ids) {
        if (!goOn()) return;
        await this.#records.guarded(id, () => work(id));
      }
    };
    await each(this.#parts.watch.ordersInPool, (id) => this.#reviewSeen(id));
    await each(this.#parts.watch.unsettled, (id) => this.#turns.next(() => this.#reviewUnsettled(id)));
    await each(this.#parts.watch.over(this.#parts.clock()), (id) => this.#turns.next(() => this.#close(id)));
  }

  /** Reviews outputs that were seen in the pool: one that has left it was confirmed or is gone. */
  async #reviewSeen(id: string): Promise<void> {
    for (const output of this.#parts.watch.outputsInPool(id)) {
      const standing = await this.#parts.chain.standing({ txid: output.txid, outpoints: [], outputs: [output.index] });
      if (standing.state === 'confirmed') await this.#turns.next(() => this.#records.receive(id, standing.block, [output]));
      else if (standing.state !== 'pool') this.#parts.watch.forget(id, output);
    }
  }

  async #reviewUnsettled(id: string): Promise<void> {
    const [stored, traced] = await this.#records.remember(id);
    this.#parts.watch.settle(id, settlementOf(traced));
    for (const { payment, standing, needed } of traced) {
      if (standing.state === 'conflicted') {
        // Unless another Payment has settled the order.
        if (payment.acknowledgement && settlementOf(traced) === 'conflicted') await this.#sayExcluded(stored);
        continue;
      }
      if (standing.state === 'replaced' && payment.acknowledgement) {
        this.#sayReplaced(id, standing.by);
        continue;
      }
      try {
        await (payment.acknowledgement ? this.#taking.broadcast(needed.filter(isOnItsWay)) : this.#taking.finish(stored, payment));
        this.#parts.watch.isNewMessage(id, undefined);
      } catch (error) {
        if (!(error instanceof PaymentError)) throw error;
        if (error.code === 'not-yet-known') continue;
        if (payment.acknowledgement === undefined) await this.#taking.refuse(id, payment, error);
        else if (this.#parts.watch.isNewMessage(id, error.message)) {
          const message = `Order ${id}: a payment that was acknowledged is in neither chain nor pool. ${error.message}`;
          this.#parts.onTrouble?.(new Error(message, { cause: error }));
        }
      }
    }
  }

  /** Nothing is broadcast again: the replacement pays more, or is in the pool of the whole network by now. */
  #sayReplaced(id: string, by: Buffer): void {
    const paid = this.#parts.watch
      .outputsInPool(id)
      .filter(({ txid }) => txid.equals(by))
      .reduce((sum, { amount }) => sum + amount, 0n);
    const pays = paid > 0n ? `which pays ${paid} satoshis to the order` : 'which pays nothing to the order';
    const message = `Order ${id}: a payment that was acknowledged was replaced in the pool by ${displayTxid(by)}, ${pays}.`;
    if (this.#parts.watch.isNewMessage(id, message)) this.#parts.onTrouble?.(new Error(message));
  }

  async #sayExcluded(stored: StoredRequest): Promise<void> {
    const { id } = stored;
    const received = receivedOf(await this.#records.present(stored));
    const message =
      `Order ${id}: a payment that was acknowledged cannot be confirmed any more: another transaction in the chain has spent its coins. ` +
      `The order has received ${received?.amount ?? 0n} satoshis.`;
    if (this.#parts.watch.isNewMessage(id, message)) this.#parts.onTrouble?.(new Error(message));
  }

  async #close(id: string): Promise<void> {
    // A Payment may have come meanwhile.
    if (!this.#parts.watch.isOver(id, this.#parts.clock())) return;
    await this.#records.close(id);
  }
}

/** Whether a transaction is to be broadcast, or announced again. */
function isOnItsWay({ standing: { state } }: TracedTransactions[number]): boolean {
  return state === 'absent' || state === 'pool';
}
