// All orders, the newest first, in pages. The ids are kept in memory, from the first page that is asked for on; everything else is read
// for each page anew.

import { PaymentError, messageOf } from '../../payments/error';
import { DamagedRecordError } from './record';
import type { OrderProgress, OrderStatus } from './progress';
import type { PaymentStore } from './store';

export interface OrderQuery {
  /** Only orders with this status. */
  readonly status?: OrderStatus;
  /** Only orders that are older than this one. */
  readonly before?: string;
  /** The most on one page. */
  readonly limit: number;
}

export interface OrderPage {
  readonly orders: readonly (OrderProgress | UnreadableOrder)[];
  /** `before` of the next page; absent on the last one. A page can have fewer orders than its limit, or none, and not be the last. */
  readonly next?: string;
}

/** An order of which nothing can be said: its record is damaged, or it is not known what became of a Payment, perhaps for good. */
export interface UnreadableOrder {
  readonly id: string;
  readonly error: string;
}

/** Orders that are looked at for one page: a filter may fit few of them. */
const MOST_LOOKED_AT = 500;

export class OrderList {
  readonly #store: Pick<PaymentStore, 'ids' | 'request'>;
  /** The oldest first; undefined until somebody asks for a page. */
  #ids: Set<string> | undefined;
  #loading: Promise<Set<string>> | undefined;
  /** Orders that were made while the others are being loaded. */
  #added: string[] = [];

  constructor(store: Pick<PaymentStore, 'ids' | 'request'>) {
    this.#store = store;
  }

  /** Adds the newest order, whose record is in the store. */
  add(id: string): void {
    this.#ids?.add(id);
    if (this.#loading !== undefined) this.#added.push(id);
  }

  /**
   * @param progress of an order.
   * @throws PaymentError `malformed` if `before` names no order; what `progress` throws.
   */
  async page({ status, before, limit }: OrderQuery, progress: (id: string) => Promise<OrderProgress>): Promise<OrderPage> {
    const newestFirst = [...(await this.#loaded())].reverse();
    const start = before === undefined ? 0 : newestFirst.indexOf(before) + 1;
    if (before !== undefined && start === 0) throw new PaymentError('malformed', 'before: the id of an order expected, another text came.');
    const orders: (OrderProgress | UnreadableOrder)[] = [];
    let end = start;
    for (const id of newestFirst.slice(start, start + MOST_LOOKED_AT)) {
      if (orders.length === limit) break;
      const order = await readable(id, progress);
      if (order !== undefined && (status === undefined || ('status' in order && order.status === status))) orders.push(order);
      end++;
    }
    const last = newestFirst[end - 1];
    return { orders, ...(end < newestFirst.length && last !== undefined && { next: last }) };
  }

  async #loaded(): Promise<Set<string>> {
    if (this.#ids !== undefined) return this.#ids;
    this.#loading ??= this.#load();
    try {
      return (this.#ids = await this.#loading);
    } finally {
      this.#loading = undefined;
      this.#added = [];
    }
  }

  async #load(): Promise<Set<string>> {
    const found: { readonly id: string; readonly createdAt: number }[] = [];
    for (const id of await this.#store.ids()) {
      const stored = await readable(id, (one) => this.#store.request(one));
      if (stored !== undefined) found.push({ id, createdAt: 'error' in stored ? 0 : stored.createdAt.getTime() });
    }
    found.sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
    return new Set([...found.map(({ id }) => id), ...this.#added]);
  }
}

/** What is read of an order, or why it cannot be: one such order hides no others. Undefined if its record was deleted. */
async function readable<Read>(id: string, read: (id: string) => Promise<Read>): Promise<Read | UnreadableOrder | undefined> {
  try {
    return await read(id);
  } catch (error) {
    const code = error instanceof PaymentError ? error.code : undefined;
    if (code === 'unknown-request') return undefined;
    if (error instanceof DamagedRecordError || code === 'not-yet-known') return { id, error: messageOf(error) };
    throw error;
  }
}
