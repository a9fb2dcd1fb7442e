// A merchant: makes payment requests, accepts Payments for them and knows their state. Everything is stored before it is answered,
// so that a repeated Payment gets the same PaymentACK even after a crash or after the request's expiry. Every Payment that can be
// parsed is recorded. An acknowledged Payment is looked after until it is deep in the chain.

import { randomBytes } from 'node:crypto';
import { PaymentError } from '../../payments/error';
import { isExpired, unixSeconds } from '../../payments/rules/request';
import { displayTxid } from '../../payments/rules/transaction';
import { makePaymentRequest } from '../../payments/signature';
import { formatBitcoinUri } from '../../payments/transport/bitcoin-uri';
import { checkOrder, type Order } from './order';
import { OrderList, type OrderPage, type OrderQuery } from './order-list';
import { OrderRecords } from './order-records';
import { OrderWatch, type OrderObserver } from './order-watch';
import { PaymentReview } from './payment-review';
import { PaymentTaking } from './payment-taking';
import { progressOf, type Observed, type OrderProgress } from './progress';
import { receivedOf, type PaymentState, type Settled } from './receipts';
import { detailsOf, type StoredRequest } from './record';
import { bestOf, requireKnown, type TracedPayment } from './settlement';
import { TurnQueue } from './turn-queue';
import { waysToPay, type WaysToPay } from './ways-to-pay';
import type { Identity } from '../../payments/identity';
import type { PaymentDetails } from '../../payments/messages';
import type { PayingOutput } from '../../payments/rules/payment';
import type { ConfirmingBlock, MerchantChain } from './chain';
import type { PaymentStore } from './store';

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
  /** Called with the scripts of each order that is made: the pool may have outputs that pay to them already. Must not throw. */
  readonly onMade?: (scripts: readonly Buffer[]) => void;
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
  readonly #records: OrderRecords;
  readonly #taking: PaymentTaking;
  readonly #paymentReview: PaymentReview;
  readonly #chain: MerchantChain;
  readonly #store: PaymentStore;
  readonly #options: MerchantOptions;

  constructor(chain: MerchantChain, store: PaymentStore, options: MerchantOptions) {
    const { clock, onTrouble, observer } = options;
    this.#chain = chain;
    this.#store = store;
    this.#options = options;
    this.#watch = new OrderWatch(observer);
    this.#list = new OrderList(store);
    const parts = { chain, store, watch: this.#watch, clock, onTrouble };
    this.#records = new OrderRecords(parts);
    this.#taking = new PaymentTaking(parts, this.#records);
    this.#paymentReview = new PaymentReview(parts, this.#records, this.#taking, this.#turns);
  }

  /** Loads the watched orders of the store. To be called before anything else. */
  async open(): Promise<void> {
    // Before the chain was ever searched, no request is recorded as watched.
    const isFirst = (await this.#store.position()) === undefined;
    for (const id of await this.#store.watched()) {
      await this.#records.guarded(id, async () => {
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
      await this.#records.save({
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
    this.#options.onMade?.(order.outputs.map(({ script }) => script));
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
    return this.#turns.nextForPayment(id, () => this.#taking.take(id, bytes));
  }

  /** Whether `pay` would answer `busy`: the Payment need not be read. */
  isBusyFor(id: string): boolean {
    return this.#turns.isFullFor(id);
  }

  /** @throws PaymentError `unknown-request`, or `not-yet-known`. */
  async state(id: string): Promise<PaymentState> {
    return (await this.#observe(id)).state;
  }

  /** @throws PaymentError `unknown-request`, or `not-yet-known`. */
  async progress(id: string): Promise<OrderProgress> {
    return (await this.view(id)).progress;
  }

  /** @throws PaymentError `unknown-request`, or `not-yet-known`. */
  async view(id: string): Promise<OrderView> {
    const { stored, ...observed } = await this.#observe(id);
    const details = detailsOf(stored);
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

  async #observe(id: string): Promise<Observed & { readonly stored: StoredRequest }> {
    // Before the record: a block moves outputs from here to there, and they are to be in one of the two.
    const seen = this.#watch.outputsInPool(id);
    const stored = await this.#store.request(id);
    const traced = await this.#records.trace(stored);
    // The block is recorded before `confirmed` is answered, so that the answer stays the same while the index does not know the position.
    if (traced.some(({ news }) => news.length > 0)) await this.#turns.nextShared(id, () => this.#recordBlocks(id));
    const present = await this.#records.present(stored, seen);
    const received = receivedOf(present);
    return { stored, state: { ...this.#settled(stored, traced), ...(received && { received }) }, present, now: this.#options.clock() };
  }

  async #recordBlocks(id: string): Promise<void> {
    await this.#records.remember(id);
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

  /** An output may have left the pool for good: those who watch its orders look at them again. `review` forgets it. */
  leftPool(output: PayingOutput): void {
    this.#watch.leftPool(output);
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
        await this.#records.guarded(id, () => this.#turns.next(() => this.#records.receive(id, block, some)), lost);
      }
    }
  }

  /**
   * Broadcasts transactions of acknowledged Payments again that are in neither chain nor pool, records confirmations, forgets outputs
   * that have left the pool, and stops watching old orders. To be called at start, when the chain has moved, and from time to time.
   * @param goOn called before each order: whether to continue.
   */
  async review(goOn: () => boolean = () => true): Promise<void> {
    await this.#paymentReview.review(goOn);
  }

  #urlOf(id: string): string {
    return `${this.#options.baseUrl}/${id}`;
  }
}
