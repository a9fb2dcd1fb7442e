// A merchant: makes payment requests, accepts Payments for them and knows their state. Everything is stored before it is answered,
// so that a repeated Payment gets the same PaymentACK even after a crash or after the request's expiry. Every Payment that can be
// parsed is recorded. An acknowledged Payment is looked after until it is deep in the chain.

import { randomBytes } from 'node:crypto';
import { acknowledgePayment, decodePayment, type PaymentDetails } from '../../payments/messages';
import { PaymentError } from '../../payments/error';
import { makePaymentRequest } from '../../payments/signature';
import { answeringTransactions, checkPaid, isPaid, payingOutputs, transactionsIn, type PayingOutput } from '../../payments/rules/payment';
import { checkExpiry, isExpired, payableOutputs, unixSeconds } from '../../payments/rules/request';
import { displayTxid, parentsFirst, type Transaction } from '../../payments/rules/transaction';
import { formatBitcoinUri } from '../../payments/transport/bitcoin-uri';
import type { Identity } from '../../payments/identity';
import type { ConfirmingBlock, MerchantChain } from './chain';
import { checkOrder, type Order } from './order';
import { OrderList, type OrderPage, type OrderQuery } from './order-list';
import { OrderWatch, outpointKey, type OrderObserver } from './order-watch';
import { progressOf, type Observed, type OrderProgress } from './progress';
import { presentOutputs, receivedOf, withBlocks, withReceipts, type PaymentState, type PresentOutput, type Settled } from './receipts';
import { DamagedRecordError, detailsOf, recordedPayments, settling, type StoredPayment, type StoredRequest } from './record';
import {
  bestOf,
  requireKnown,
  settlementOf,
  tracePayment,
  traceTransactions,
  type TracedPayment,
  type TracedTransactions
} from './settlement';
import type { PaymentStore } from './store';
import { TurnQueue } from './turn-queue';
import { waysToPay, type WaysToPay } from './ways-to-pay';

export interface MerchantOptions {
  /** The URL under which customers find the requests, without a slash at the end: `https://shop.example/pay`. */
  readonly baseUrl: string;
  /** Signs the requests; called for each request, because certificates are renewed. Without it requests are not signed. */
  readonly identity?: () => Identity | undefined | Promise<Identity | undefined>;
  readonly clock: () => Date;
  /** Called with errors for the operator: a damaged record, or an acknowledged payment that the node now refuses. */
  readonly onTrouble?: (error: Error) => void;
  /** The origins at which orders may have their `notify_url`; by default none. */
  readonly notifyOrigins?: readonly string[];
  /** Is told when something may have changed about an order. */
  readonly observer?: OrderObserver;
}

export interface CreatedRequest {
  readonly id: string;
  readonly url: string;
  /** `bitcoin:` URI (BIP72) for links and QR codes. */
  readonly uri: string;
}

/** What the page of an order shows. */
export interface OrderView {
  readonly details: PaymentDetails;
  readonly progress: OrderProgress;
  /** Undefined if nothing is to be paid. */
  readonly ways: WaysToPay | undefined;
}

/** Bytes of a request's id, which is also its merchant_data: long enough that it cannot be guessed. */
const ID_SIZE = 16;

/** Outputs in a block that pay to one order: whoever mines can fill a block with them. */
const MOST_RECEIVED_AT_ONCE = 1_000;

export class Merchant {
  readonly #turns = new TurnQueue();
  readonly #watch: OrderWatch;
  readonly #list: OrderList;
  readonly #chain: MerchantChain;
  readonly #store: PaymentStore;
  readonly #options: MerchantOptions;

  constructor(chain: MerchantChain, store: PaymentStore, options: MerchantOptions) {
    this.#chain = chain;
    this.#store = store;
    this.#options = options;
    this.#watch = new OrderWatch(options.observer);
    this.#list = new OrderList(store);
  }

  /** Loads the watched orders of the store. To be called before anything else. */
  async open(): Promise<void> {
    // Before the chain was ever searched, no request is recorded as watched.
    const isFirst = (await this.#store.position()) === undefined;
    for (const id of await this.#store.watched()) {
      await this.#guarded(id, async () => {
        const stored = await this.#store.request(id);
        if (isFirst) await this.#store.watch(id);
        this.#watch.follow(stored);
      });
    }
  }

  /** @throws PaymentError `unpayable`, `expired`, `malformed`, `too-large`, or `cannot-sign`. */
  async create(order: Order): Promise<CreatedRequest> {
    const now = this.#options.clock();
    checkOrder(order, now, this.#options.notifyOrigins ?? []);
    const { merchantUrl, notifyUrl, ...requested } = order;
    const merchantData = randomBytes(ID_SIZE);
    const id = merchantData.toString('hex');
    const request = makePaymentRequest(
      {
        ...requested,
        network: this.#chain.network,
        time: unixSeconds(now),
        paymentUrl: this.#urlOf(id),
        merchantData
      },
      await this.#options.identity?.()
    );
    await this.#turns.next(async () => {
      this.#refuseSharedScripts(order);
      await this.#save({
        id,
        createdAt: now,
        request,
        payments: [],
        received: [],
        ...(merchantUrl !== undefined && { merchantUrl }),
        ...(notifyUrl !== undefined && { notifyUrl })
      });
    });
    this.#list.add(id);
    return { id, url: this.#urlOf(id), uri: this.uriOf(id) };
  }

  /** What comes to a script without a Payment would pay every order that asks for it. @throws PaymentError `unpayable` */
  #refuseSharedScripts({ outputs }: Order): void {
    const shared = outputs.findIndex(({ script }) => this.isAsked(script));
    if (shared < 0) return;
    throw new PaymentError(
      'unpayable',
      `The script of output ${shared} is watched for another order: each order needs scripts of its own.`
    );
  }

  /** @throws PaymentError `unknown-request`. */
  async request(id: string): Promise<StoredRequest> {
    return this.#store.request(id);
  }

  uriOf(id: string): string {
    return formatBitcoinUri({ paymentUrl: this.#urlOf(id) });
  }

  /**
   * Checks a Payment, broadcasts its transactions and acknowledges it. Every decision is recorded.
   * @param bytes the Payment as received.
   * @returns the serialized PaymentACK; the same one whenever the same Payment comes.
   * @throws PaymentError with the reason. Unless its code is `refused`, nothing was broadcast; if it is `busy`, nothing was recorded.
   */
  async pay(id: string, bytes: Buffer): Promise<Buffer> {
    // Whoever makes up ids takes nobody's turn.
    if (!this.#watch.has(id)) await this.#store.request(id);
    return this.#turns.nextForPayment(id, () => this.#take(id, bytes));
  }

  /** Whether `pay` would answer `busy`: the Payment need not be read. */
  isBusyFor(id: string): boolean {
    return this.#turns.isFullFor(id);
  }

  /** @throws PaymentError `unknown-request`, or `not-yet-known`. */
  async state(id: string): Promise<PaymentState> {
    return (await this.#observe(await this.#store.request(id))).state;
  }

  /** @throws PaymentError `unknown-request`, or `not-yet-known`. */
  async progress(id: string): Promise<OrderProgress> {
    return (await this.view(id)).progress;
  }

  /** @throws PaymentError `unknown-request`, or `not-yet-known`. */
  async view(id: string): Promise<OrderView> {
    const stored = await this.#store.request(id);
    const details = detailsOf(stored);
    const observed = await this.#observe(stored);
    const progress = progressOf(stored, observed, this.#urlOf(id));
    return { details, progress, ways: waysToPay(details, progress, (script) => this.#chain.addressOf?.(script), observed.now) };
  }

  /**
   * Orders, the newest first.
   * @throws PaymentError `malformed` if `before` names no order; `not-yet-known`.
   */
  async orders(query: OrderQuery): Promise<OrderPage> {
    return this.#list.page(query, (id) => this.progress(id));
  }

  async #observe(stored: StoredRequest): Promise<Observed> {
    const { id } = stored;
    const traced = await this.#trace(stored);
    // The block is recorded before `confirmed` is answered, so that the answer stays the same while the index does not know the position.
    if (traced.some(({ news }) => news.length > 0)) await this.#turns.next(() => this.#remember(id));
    const present = await this.#present(stored);
    const received = receivedOf(present);
    return { state: { ...this.#settled(stored, traced), ...(received && { received }) }, present, now: this.#options.clock() };
  }

  // Outputs that pay to the scripts of orders

  /** Whether no order is watched. */
  get isIdle(): boolean {
    return this.#watch.isEmpty;
  }

  /** Whether outputs with this script are of interest to `seenInPool` and `receive`. */
  isAsked(script: Buffer): boolean {
    return this.#watch.askers(script) !== undefined;
  }

  /** Notes an output in the pool. */
  seenInPool(output: PayingOutput): void {
    this.#watch.seenInPool(output);
  }

  /** Records outputs in a block of the chain. */
  async receive(block: ConfirmingBlock, outputs: readonly PayingOutput[]): Promise<void> {
    const orders = new Map<string, PayingOutput[]>();
    for (const output of outputs) {
      for (const id of this.#watch.askers(output.script) ?? []) {
        const own = orders.get(id);
        if (own === undefined) orders.set(id, [output]);
        else own.push(output);
      }
    }
    const lost = `What block ${block.height} pays to the order is not recorded: repair the file, then search the chain again from there.`;
    for (const [id, own] of orders) {
      for (let start = 0; start < own.length; start += MOST_RECEIVED_AT_ONCE) {
        const some = own.slice(start, start + MOST_RECEIVED_AT_ONCE);
        await this.#guarded(id, () => this.#turns.next(() => this.#receive(id, block, some)), lost);
      }
    }
  }

  // Looking after payments

  /**
   * Broadcasts transactions of acknowledged Payments again that are in neither chain nor pool, records confirmations, forgets outputs
   * that have left the pool, and stops watching old orders. To be called at start, when the chain has moved, and from time to time.
   * @param goOn called before each order: whether to continue.
   */
  async review(goOn: () => boolean = () => true): Promise<void> {
    const each = async (ids: readonly string[], work: (id: string) => Promise<void>): Promise<void> => {
      for (const id of ids) {
        if (!goOn()) return;
        await this.#guarded(id, () => work(id));
      }
    };
    await each(this.#watch.ordersInPool, (id) => this.#reviewSeen(id));
    await each(this.#watch.unsettled, (id) => this.#turns.next(() => this.#lookAfter(id)));
    await each(this.#watch.over(this.#options.clock()), (id) => this.#turns.next(() => this.#close(id)));
  }

  async #take(id: string, bytes: Buffer): Promise<Buffer> {
    const stored = await this.#store.request(id);
    const before = stored.payments.find(({ payment }) => payment.equals(bytes));
    if (before?.acknowledgement) return before.acknowledgement;
    const payment = decodePayment(bytes);
    const first: StoredPayment = {
      receivedAt: this.#options.clock(),
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
        await this.#save(withPayment(stored, { ...known, outcome: { decision: 'repeated' } }));
        return acknowledgePayment(bytes);
      }
      if (!isInterrupted) checkExpiry(details, this.#options.clock());
      await this.#refuseSecondPayment(stored, before);
      await this.#refuseIfPaidByOthers(stored, known);
      return await this.#carryOut(stored, known, transactions, await this.#paying(stored, transactions));
    } catch (error) {
      if (error instanceof PaymentError && !(isInterrupted && error.code === 'not-yet-known')) await this.#refuse(id, came, error);
      throw error;
    }
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
    return acknowledged.some(isAmong) && isPaid(due, await this.#store.unclaimed(paying, stored.id));
  }

  /** Another Payment is accepted only once the chain has a transaction that excludes the first. */
  async #refuseSecondPayment(stored: StoredRequest, before: StoredPayment | undefined): Promise<void> {
    for (const { payment, standing } of await this.#trace(stored)) {
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
    const others = (await this.#present(stored)).filter(({ txid }) => !own.has(txid));
    if (isPaid(due, others)) throw new PaymentError('already-paid', 'The request is paid already.');
  }

  /** The outputs that pay the order, and have paid no other. @throws PaymentError `underpaid` */
  async #paying(stored: StoredRequest, transactions: readonly Transaction[]): Promise<PayingOutput[]> {
    const due = payableOutputs(detailsOf(stored));
    const paying = await this.#store.unclaimed(payingOutputs(transactions, due.outputs), stored.id);
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
    const parts = await traceTransactions(transactions, this.#chain);
    await this.#checkWitnesses(parts);
    const unknown = parts.filter(({ standing }) => ['absent', 'replaced', 'conflicted'].includes(requireKnown(standing).state));
    const begun = withPayment(stored, payment);
    await this.#save(begun);
    await this.#broadcast(unknown);
    await this.#store.claim(paying, id);
    const acknowledgement = acknowledgePayment(payment.payment);
    await this.#note(id, transactions);
    await this.#save(withPayment(begun, { ...payment, acknowledgement }));
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
      else if (standing.state === 'confirmed') known = await this.#chain.confirmedBytes(txid);
      if (known === undefined || known.equals(bytes)) continue;
      throw new PaymentError('refused', `The node has transaction ${displayTxid(txid)} with another witness. Send it as it was broadcast.`);
    }
  }

  async #broadcast(parts: TracedTransactions): Promise<void> {
    if (parts.length > 0) await this.#chain.broadcast(parentsFirst(parts.map(({ transaction }) => transaction)).map(({ bytes }) => bytes));
  }

  /** Records a refused Payment: its money may be in the chain all the same. */
  async #refuse(id: string, came: StoredPayment, { code, message: reason }: PaymentError): Promise<void> {
    let { txids } = came;
    try {
      const transactions = transactionsIn(decodePayment(came.payment));
      txids = transactions.map(({ txid }) => txid);
      await this.#note(id, transactions);
    } catch (error) {
      // Transactions that cannot be parsed pay nothing.
      if (!(error instanceof PaymentError)) throw error;
    }
    await this.#save(withPayment(await this.#store.request(id), { ...came, txids, outcome: { decision: 'refused', code, reason } }));
  }

  /** Notes outputs of a Payment's transactions that are in chain or pool: the search may have missed them. */
  async #note(id: string, transactions: readonly Transaction[]): Promise<void> {
    if (!this.#watch.has(id)) await this.#save(await this.#store.request(id));
    // Looking for a transaction costs more than making one up.
    const asked = transactions.filter(({ outputs }) => outputs.some(({ script }) => this.isAsked(script)));
    for (const { transaction, standing } of await traceTransactions(asked, this.#chain)) {
      if (standing.state !== 'pool' && standing.state !== 'confirmed') continue;
      transaction.outputs.forEach(({ amount, script }, index) => {
        this.#watch.seenInPool({ txid: transaction.txid, index, amount, script });
      });
    }
  }

  #settled(stored: StoredRequest, traced: readonly TracedPayment[]): Settled {
    const best = bestOf(traced);
    const standing = best && requireKnown(best.standing);
    if (standing?.state === 'pool') return { state: 'unconfirmed' };
    if (standing?.state === 'confirmed') return { state: 'confirmed', confirmations: standing.confirmations };
    const wasPaid = traced.some(({ payment }) => payment.acknowledgement);
    if (standing?.state === 'replaced' && wasPaid) return { state: 'replaced', by: displayTxid(standing.by) };
    if (standing !== undefined && wasPaid) return { state: standing.state === 'absent' ? 'missing' : 'conflicted' };
    return { state: isExpired(detailsOf(stored), this.#options.clock()) ? 'expired' : 'open' };
  }

  async #present(stored: StoredRequest): Promise<PresentOutput[]> {
    return presentOutputs(stored, this.#watch.outputsInPool(stored.id), this.#chain, this.#store);
  }

  async #trace(stored: StoredRequest): Promise<TracedPayment[]> {
    return Promise.all(settling(stored).map((payment) => tracePayment(payment, payableOutputs(detailsOf(stored)).outputs, this.#chain)));
  }

  async #receive(id: string, block: ConfirmingBlock, outputs: readonly PayingOutput[]): Promise<void> {
    const stored = await this.#store.request(id);
    const received = withReceipts(stored, block, outputs, this.#options.clock());
    if (received !== stored) await this.#save(received);
    for (const output of outputs) this.#watch.forget(id, output);
  }

  /** Reviews outputs that were seen in the pool: one that has left it was confirmed or is gone. */
  async #reviewSeen(id: string): Promise<void> {
    for (const output of this.#watch.outputsInPool(id)) {
      const standing = await this.#chain.standing({ txid: output.txid, outpoints: [], outputs: [output.index] });
      if (standing.state === 'confirmed') await this.#turns.next(() => this.#receive(id, standing.block, [output]));
      else if (standing.state !== 'pool') this.#watch.forget(id, output);
    }
  }

  /** Records the blocks that contain transactions of the order's Payments. */
  async #remember(id: string): Promise<readonly [StoredRequest, readonly TracedPayment[]]> {
    const before = await this.#store.request(id);
    const traced = await this.#trace(before);
    let stored = before;
    for (const { payment, news } of traced) for (const { txid, block } of news) stored = withBlocks(stored, payment.payment, [txid], block);
    if (stored !== before) await this.#save(stored);
    return [stored, traced];
  }

  async #lookAfter(id: string): Promise<void> {
    const [stored, traced] = await this.#remember(id);
    this.#watch.settle(id, settlementOf(traced));
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
        await (payment.acknowledgement ? this.#broadcast(needed.filter(isOnItsWay)) : this.#finish(stored, payment));
        this.#watch.isNewMessage(id, undefined);
      } catch (error) {
        if (!(error instanceof PaymentError)) throw error;
        if (error.code === 'not-yet-known') continue;
        if (payment.acknowledgement === undefined) await this.#refuse(id, payment, error);
        else if (this.#watch.isNewMessage(id, error.message)) {
          const message = `Order ${id}: a payment that was acknowledged is in neither chain nor pool. ${error.message}`;
          this.#options.onTrouble?.(new Error(message, { cause: error }));
        }
      }
    }
  }

  /** Nothing is broadcast again: the replacement pays more, or is in the pool of the whole network by now. */
  #sayReplaced(id: string, by: Buffer): void {
    const paid = this.#watch
      .outputsInPool(id)
      .filter(({ txid }) => txid.equals(by))
      .reduce((sum, { amount }) => sum + amount, 0n);
    const pays = paid > 0n ? `which pays ${paid} satoshis to the order` : 'which pays nothing to the order';
    const message = `Order ${id}: a payment that was acknowledged was replaced in the pool by ${displayTxid(by)}, ${pays}.`;
    if (this.#watch.isNewMessage(id, message)) this.#options.onTrouble?.(new Error(message));
  }

  async #sayExcluded(stored: StoredRequest): Promise<void> {
    const { id } = stored;
    const received = receivedOf(await this.#present(stored));
    const message =
      `Order ${id}: a payment that was acknowledged cannot be confirmed any more: another transaction in the chain has spent its coins. ` +
      `The order has received ${received?.amount ?? 0n} satoshis.`;
    if (this.#watch.isNewMessage(id, message)) this.#options.onTrouble?.(new Error(message));
  }

  /** Finishes a Payment whose acceptance was interrupted by the end of the process. */
  async #finish(stored: StoredRequest, payment: StoredPayment): Promise<void> {
    const transactions = transactionsIn(decodePayment(payment.payment));
    await this.#carryOut(stored, payment, transactions, await this.#paying(stored, transactions));
  }

  async #close(id: string): Promise<void> {
    // A Payment may have come meanwhile.
    if (!this.#watch.isOver(id, this.#options.clock())) return;
    await this.#store.save(this.#recorded(await this.#store.request(id)));
    await this.#forget(id);
  }

  async #save(stored: StoredRequest): Promise<void> {
    const { id } = stored;
    const recorded = this.#recorded(stored);
    if (!this.#watch.has(id)) await this.#store.watch(id);
    await this.#store.save(recorded);
    this.#watch.follow(recorded);
  }

  /** Without Payments that need not stay. */
  #recorded(stored: StoredRequest): StoredRequest {
    const money = new Set([...stored.received, ...this.#watch.outputsInPool(stored.id)].map(({ txid }) => displayTxid(txid)));
    const hasMoney = ({ txids }: StoredPayment): boolean => txids.some((txid) => money.has(displayTxid(txid)));
    return { ...stored, payments: recordedPayments(stored.payments, hasMoney, this.#options.clock()) };
  }

  /** A damaged record does not stop the work on the others. @param consequence for the operator */
  async #guarded(id: string, work: () => Promise<void>, consequence?: string): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (error instanceof DamagedRecordError)
        this.#options.onTrouble?.(consequence === undefined ? error : new Error(`${error.message}. ${consequence}`, { cause: error }));
      // The record was deleted, or the process crashed before it was written.
      else if (error instanceof PaymentError && error.code === 'unknown-request') await this.#forget(id);
      else throw error;
    }
  }

  async #forget(id: string): Promise<void> {
    this.#watch.leave(id);
    await this.#store.unwatch(id);
  }

  #urlOf(id: string): string {
    return `${this.#options.baseUrl}/${id}`;
  }
}

/** Whether a transaction is to be broadcast, or announced again. */
function isOnItsWay({ standing: { state } }: TracedTransactions[number]): boolean {
  return state === 'absent' || state === 'pool';
}

function withPayment(stored: StoredRequest, payment: StoredPayment): StoredRequest {
  return { ...stored, payments: [...stored.payments.filter((other) => !other.payment.equals(payment.payment)), payment] };
}
