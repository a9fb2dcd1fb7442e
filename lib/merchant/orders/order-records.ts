// The records of orders, and what chain and pool say of them.

import { PaymentError } from '../../payments/error';
import { payableOutputs } from '../../payments/rules/request';
import { displayTxid } from '../../payments/rules/transaction';
import { presentOutputs, withBlocks, withReceipts, type PresentOutput } from './receipts';
import { DamagedRecordError, detailsOf, recordedPayments, settling, type StoredPayment, type StoredRequest } from './record';
import { tracePayment, type TracedPayment } from './settlement';
import type { PayingOutput } from '../../payments/rules/payment';
import type { ConfirmingBlock, MerchantChain } from './chain';
import type { OrderWatch } from './order-watch';
import type { PaymentStore } from './store';

export interface OrderParts {
  readonly chain: MerchantChain;
  readonly store: PaymentStore;
  readonly watch: OrderWatch;
  readonly clock: () => Date;
  /** Called with errors for the operator. */
  readonly onTrouble: ((error: Error) => void) | undefined;
}

/** Whoever changes a record does so in turn (turn-queue.ts). */
export class OrderRecords {
  readonly #parts: OrderParts;

  constructor(parts: OrderParts) {
    this.#parts = parts;
  }

  /** Also watches the order from now on, if it was not watched. */
  async save(stored: StoredRequest): Promise<void> {
    const { id } = stored;
    const recorded = this.#recorded(stored);
    if (!this.#parts.watch.has(id)) await this.#parts.store.watch(id);
    await this.#parts.store.save(recorded);
    this.#parts.watch.follow(recorded);
  }

  /** A damaged record does not stop the work on the others. @param consequence for the operator */
  async guarded(id: string, work: () => Promise<void>, consequence?: string): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (error instanceof DamagedRecordError)
        this.#parts.onTrouble?.(consequence === undefined ? error : new Error(`${error.message}. ${consequence}`, { cause: error }));
      // The record was deleted, or the process crashed before it was written.
      else if (error instanceof PaymentError && error.code === 'unknown-request') await this.forget(id);
      else throw error;
    }
  }

  /** The order is watched no longer. */
  async forget(id: string): Promise<void> {
    this.#parts.watch.leave(id);
    await this.#parts.store.unwatch(id);
  }

  /** Records an order for the last time, and watches it no longer. */
  async close(id: string): Promise<void> {
    const { store } = this.#parts;
    await store.save(this.#recorded(await store.request(id)));
    await this.forget(id);
  }

  /** Records outputs in a block that pay to the order. */
  async receive(id: string, block: ConfirmingBlock, outputs: readonly PayingOutput[]): Promise<void> {
    const stored = await this.#parts.store.request(id);
    const received = withReceipts(stored, block, outputs, this.#parts.clock());
    if (received !== stored) await this.save(received);
    for (const output of outputs) this.#parts.watch.forget(id, output);
  }

  /** Records the blocks that contain transactions of the order's Payments. */
  async remember(id: string): Promise<readonly [StoredRequest, readonly TracedPayment[]]> {
    const before = await this.#parts.store.request(id);
    const traced = await this.trace(before);
    let stored = before;
    for (const { payment, news } of traced) for (const { txid, block } of news) stored = withBlocks(stored, payment.payment, [txid], block);
    if (stored !== before) await this.save(stored);
    return [stored, traced];
  }

  /** Looks for the transactions of all Payments that may settle the order. */
  async trace(stored: StoredRequest): Promise<TracedPayment[]> {
    return Promise.all(
      settling(stored).map((payment) => tracePayment(payment, payableOutputs(detailsOf(stored)).outputs, this.#parts.chain))
    );
  }

  /**
   * The outputs in chain and pool that pay to the order.
   * @param seen in the pool; to be given unless the record was read in a turn, in which no block is recorded.
   * @throws PaymentError `not-yet-known`
   */
  async present(stored: StoredRequest, seen = this.#parts.watch.outputsInPool(stored.id)): Promise<PresentOutput[]> {
    return presentOutputs(stored, seen, this.#parts.chain, this.#parts.store);
  }

  /** Without Payments that need not stay. */
  #recorded(stored: StoredRequest): StoredRequest {
    const money = new Set([...stored.received, ...this.#parts.watch.outputsInPool(stored.id)].map(({ txid }) => displayTxid(txid)));
    const hasMoney = ({ txids }: StoredPayment): boolean => txids.some((txid) => money.has(displayTxid(txid)));
    return { ...stored, payments: recordedPayments(stored.payments, hasMoney, this.#parts.clock()) };
  }
}
