// A merchant: makes payment requests, takes Payments for them and knows what became of
// them. Everything is stored before it is answered, so that a repeated Payment gets the
// same PaymentACK, also after a crash or after the request's expiry.

import { randomBytes } from 'node:crypto';
import { acknowledgePayment } from '../acknowledgement';
import { PaymentError } from '../error';
import { decodePayment, type Output } from '../messages';
import { makePaymentRequest } from '../new-request';
import { answeringTransactions, checkPaid, payingOutputs, type PayingOutput } from '../rules/payment';
import { checkExpiry, isExpired, payableOutputs, unixSeconds } from '../rules/request';
import { parentsFirst, type Transaction } from '../rules/transaction';
import { formatBitcoinUri } from '../transport/bitcoin-uri';
import type { Identity } from '../identity';
import type { MerchantChain } from './chain';
import { claim, unclaimed } from './claims';
import { detailsOf, type StoredPayment, type StoredRequest } from './record';
import type { PaymentStore } from './store';

export interface MerchantOptions {
  /** Where customers find the requests, without slash at the end: `https://shop.example/pay`. */
  readonly baseUrl: string;
  /** Signs the requests; asked for each of them, for certificates are renewed. Without, they are sent unsigned. */
  readonly identity?: () => Identity | undefined | Promise<Identity | undefined>;
  readonly clock: () => Date;
}

/** What is to be paid. Use a script of its own for every order: payments are told apart by it. */
export interface Order {
  readonly outputs: readonly Output[];
  readonly memo?: string;
  /** Unix seconds. */
  readonly expires?: bigint;
}

export interface CreatedRequest {
  readonly id: string;
  readonly url: string;
  /** `bitcoin:` URI (BIP72) for links and QR codes. */
  readonly uri: string;
}

export type PaymentState =
  | { readonly state: 'open' | 'expired' }
  /** Paid, in the pool. */
  | { readonly state: 'unconfirmed' }
  | { readonly state: 'confirmed'; readonly confirmations: number }
  /** Was paid, but neither chain nor pool has the transactions any more. */
  | { readonly state: 'missing' };

/** Bytes of a request's id, which is also its merchant_data: nobody guesses another's. */
const ID_SIZE = 16;

/**
 * So many Payments of a request are kept of which the node took a part only: a stranger
 * must not fill the disk by repeating a part that is on the chain beside one that never will be.
 */
const MAX_PARTIAL_PAYMENTS = 8;

export class Merchant {
  /** Payments are taken one after the other: two must not claim one output. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly chain: MerchantChain,
    private readonly store: PaymentStore,
    private readonly options: MerchantOptions
  ) {}

  /** @throws PaymentError `unpayable`, `expired`, `malformed`, `too-large`, or `cannot-sign`. */
  async create(order: Order): Promise<CreatedRequest> {
    payableOutputs(order);
    const now = this.options.clock();
    checkExpiry(order, now);
    const merchantData = randomBytes(ID_SIZE);
    const id = merchantData.toString('hex');
    const request = makePaymentRequest({
      ...order,
      network: this.chain.network,
      time: unixSeconds(now),
      paymentUrl: this.urlOf(id),
      merchantData
    }, await this.options.identity?.());
    await this.store.save({ id, createdAt: now, request, payments: [] });
    return { id, url: this.urlOf(id), uri: this.uriOf(id) };
  }

  /** @throws PaymentError `unknown-request`. */
  async request(id: string): Promise<StoredRequest> {
    return this.store.request(id);
  }

  uriOf(id: string): string {
    return formatBitcoinUri({ paymentUrl: this.urlOf(id) });
  }

  /**
   * Checks a Payment, broadcasts its transactions and acknowledges it.
   * @param bytes the Payment as received.
   * @returns the serialized PaymentACK; the same one whenever the same Payment comes.
   * @throws PaymentError with the reason. Unless that is `refused`, nothing was broadcast.
   */
  async pay(id: string, bytes: Buffer): Promise<Buffer> {
    const turn = this.#last.then(() => this.take(id, bytes));
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  /** @throws PaymentError `unknown-request`. */
  async state(id: string): Promise<PaymentState> {
    const stored = await this.store.request(id);
    const confirmations = await Promise.all(stored.payments.map((payment) => this.confirmationsOf(payment)));
    const known = confirmations.filter((count) => count !== undefined);
    if (known.length > 0) {
      const best = Math.max(...known);
      return best === 0 ? { state: 'unconfirmed' } : { state: 'confirmed', confirmations: best };
    }
    if (stored.payments.some((payment) => payment.acknowledgement)) return { state: 'missing' };
    return { state: isExpired(detailsOf(stored), this.options.clock()) ? 'expired' : 'open' };
  }

  private async take(id: string, bytes: Buffer): Promise<Buffer> {
    const stored = await this.store.request(id);
    const before = stored.payments.find((payment) => payment.payment.equals(bytes));
    if (before?.acknowledgement) return before.acknowledgement;
    const details = detailsOf(stored);
    const payment = decodePayment(bytes);
    const transactions = answeringTransactions(payment, details);
    // What was interrupted may be finished, however late.
    if (!before) checkExpiry(details, this.options.clock());
    await this.refuseSecondPayment(stored, before);
    const due = payableOutputs(details);
    const paying = await unclaimed(this.store, payingOutputs(transactions, due.outputs), id);
    checkPaid(paying, due);
    const acknowledgement = acknowledgePayment(bytes);
    const taken: StoredPayment = before ?? {
      receivedAt: this.options.clock(), payment: bytes, txids: transactions.map(({ txid }) => txid), refundTo: payment.refundTo
    };
    await this.broadcast(stored, taken, transactions, paying);
    await claim(this.store, paying, id);
    await this.store.save(withPayment(stored, { ...taken, acknowledgement }));
    return acknowledgement;
  }

  /** Another Payment is taken only once the chain has forgotten the first. */
  private async refuseSecondPayment(stored: StoredRequest, before: StoredPayment | undefined): Promise<void> {
    for (const payment of stored.payments) {
      if (payment !== before && await this.confirmationsOf(payment) !== undefined) {
        throw new PaymentError('already-paid', 'The request is paid already.');
      }
    }
  }

  /** The Payment is stored first: with it goes where to send a refund. */
  private async broadcast(stored: StoredRequest, taken: StoredPayment, transactions: readonly Transaction[], paying: readonly PayingOutput[]): Promise<void> {
    await this.store.save(withPayment(stored, taken));
    const counts = await this.countsOf(transactions.map(({ txid }) => txid));
    const unknown = transactions.filter((_, index) => counts[index] === undefined);
    if (unknown.length === 0) return;
    try {
      await this.chain.broadcast(parentsFirst(unknown).map(({ bytes }) => bytes));
    } catch (error) {
      if (error instanceof PaymentError && !await this.isWorthKeeping(stored, taken, paying)) await this.store.save(withoutPayment(stored, taken));
      throw error;
    }
  }

  /** A refused Payment of which a part that pays got through: the customer's coins may be gone. */
  private async isWorthKeeping(stored: StoredRequest, taken: StoredPayment, paying: readonly PayingOutput[]): Promise<boolean> {
    const partial = withoutPayment(stored, taken).payments.filter(({ acknowledgement }) => acknowledgement === undefined);
    if (partial.length >= MAX_PARTIAL_PAYMENTS) return false;
    return (await this.countsOf(paying.map(({ txid }) => txid))).some((count) => count !== undefined);
  }

  /** Of the transaction that has fewest; undefined when one is missing. */
  private async confirmationsOf({ txids }: StoredPayment): Promise<number | undefined> {
    const counts = await this.countsOf(txids);
    return counts.some((count) => count === undefined) ? undefined : Math.min(...counts as number[]);
  }

  private async countsOf(txids: readonly Buffer[]): Promise<(number | undefined)[]> {
    return Promise.all(txids.map((txid) => this.chain.confirmations(txid)));
  }

  private urlOf(id: string): string {
    return `${this.options.baseUrl}/${id}`;
  }
}

function withPayment(stored: StoredRequest, payment: StoredPayment): StoredRequest {
  return { ...stored, payments: [...withoutPayment(stored, payment).payments, payment] };
}

function withoutPayment(stored: StoredRequest, payment: StoredPayment): StoredRequest {
  return { ...stored, payments: stored.payments.filter((other) => !other.payment.equals(payment.payment)) };
}
