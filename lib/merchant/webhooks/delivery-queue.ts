// The messages that wait for their receivers, of all orders: of each order one is sent at a time, again and again after growing pauses,
// until the receiver has taken it or nobody expects that any more.

import { progressJson, type OrderProgress } from '../orders/progress';
import { Deliveries, type Delivered, type DeliveriesParts } from './deliveries';
import { withMessage, withoutFirst, type Message, type Outbox, type OutboxStore } from './outbox';

/** Between the first two attempts; each further pause is twice as long as the one before, up to an hour. */
const FIRST_PAUSE_MS = 5_000;
const HOUR_MS = 3_600_000;

/** How long a message is sent again and again. */
const GIVE_UP_MS = 3 * 24 * HOUR_MS;

/** Also of a message that is older: while the node was off nobody tried. They take about an hour and a half. */
const LEAST_ATTEMPTS = 10;

export interface WebhookPatience {
  /** By default five seconds. */
  readonly firstPauseMs?: number;
  /** By default three days. */
  readonly giveUpMs?: number;
  /** By default ten seconds. */
  readonly attemptMs?: number;
}

export interface DeliveryQueueParts extends WebhookPatience, DeliveriesParts {
  readonly outboxes: OutboxStore;
  /** Orders that are not watched are forgotten once their receivers know everything. */
  readonly isWatched: (id: string) => boolean;
}

/** An order whose receiver is told. */
interface NotifiedOrder {
  outbox: Outbox;
  /** That of the receiver's URL. */
  readonly origin: string;
  /** Attempts to deliver the first message since the start. */
  attempts: number;
  /** When the next one is due, in the time of `performance.now()`: the system's clock may be set back. */
  dueAt: number;
  isUnderWay: boolean;
}

/** Its methods are called one after another, so that each outbox has one writer; deliveries run beside them. */
export class DeliveryQueue {
  readonly #parts: DeliveryQueueParts;
  readonly #orders = new Map<string, NotifiedOrder>();
  /** Orders with messages that wait, by origin, those that were tried last at the end: there may be thousands at one that takes nothing. */
  readonly #waiting = new Map<string, Set<string>>();
  readonly #deliveries: Deliveries;

  constructor(parts: DeliveryQueueParts) {
    this.#parts = parts;
    this.#deliveries = new Deliveries(parts);
  }

  /** Takes up what was not delivered before. @throws DamagedRecordError */
  async load(id: string): Promise<void> {
    const outbox = await this.#parts.outboxes.read(id);
    if (outbox !== undefined) this.#take(id, outbox);
  }

  /** Resolves when nothing is sent any more. To be called after the signal was given. */
  async close(): Promise<void> {
    await this.#deliveries.close();
  }

  /** Tells the receiver at a URL of an order's status, unless the last message said the same. @throws DamagedRecordError */
  async add(id: string, url: string, progress: OrderProgress): Promise<void> {
    const { outboxes } = this.#parts;
    const order = this.#orders.get(id) ?? this.#take(id, (await outboxes.read(id)) ?? { url, waiting: [] });
    const { status } = progress;
    if (status === order.outbox.status) return;
    const createdAt = new Date();
    const next = withMessage(order.outbox, id, { createdAt, status, body: bodyOf(progress, createdAt) });
    await outboxes.save(id, next);
    order.outbox = next;
    if (this.#waiting.get(order.origin)?.has(id) !== true) this.#lineUp(id, order);
  }

  /** Forgets an order once its receiver knows everything. */
  async forget(id: string): Promise<void> {
    const order = this.#orders.get(id);
    if (order === undefined || order.outbox.waiting.length > 0) return;
    this.#orders.delete(id);
    await this.#parts.outboxes.remove(id);
  }

  /** When the next delivery is due, in the time of `performance.now()`; Infinity: none before one that is under way has ended. */
  nextAt(): number {
    let next = Infinity;
    for (const [origin, ids] of this.#waiting) {
      // Those that wait for others of their origin are started when one of these ends.
      if (!this.#deliveries.hasRoomAt(origin)) continue;
      for (const id of ids) {
        const order = this.#orders.get(id);
        if (order !== undefined && !order.isUnderWay) next = Math.min(next, order.dueAt);
      }
    }
    return next;
  }

  /** Starts the deliveries that are due. */
  start(): void {
    if (this.#parts.signal.aborted) return;
    const now = performance.now();
    for (const [origin, ids] of this.#waiting) {
      for (const id of ids) {
        if (!this.#deliveries.hasRoomAt(origin)) break;
        const order = this.#orders.get(id);
        const [message] = order?.outbox.waiting ?? [];
        if (order === undefined || message === undefined || order.isUnderWay || order.dueAt > now) continue;
        order.isUnderWay = true;
        this.#deliveries.start(id, origin, order.outbox, message);
      }
    }
  }

  /** Takes note of the deliveries that have ended. */
  async noteEnded(): Promise<void> {
    const { ended } = this.#deliveries;
    for (let [first] = ended; first !== undefined; [first] = ended) {
      await this.#noteOne(first);
      ended.shift();
    }
  }

  async #noteOne({ id, message, failure }: Delivered): Promise<void> {
    const { outboxes, isWatched, firstPauseMs = FIRST_PAUSE_MS, giveUpMs = GIVE_UP_MS } = this.#parts;
    const order = this.#orders.get(id);
    if (order === undefined) return;
    const pauseMs = Math.min(HOUR_MS, firstPauseMs * 2 ** order.attempts);
    order.attempts++;
    const isTooOld = order.attempts >= LEAST_ATTEMPTS && Date.now() - message.createdAt.getTime() >= giveUpMs;
    if (failure !== undefined && !isTooOld) {
      order.dueAt = performance.now() + pauseMs;
      this.#lineUp(id, order);
    } else {
      const next = withoutFirst(order.outbox);
      await outboxes.save(id, next);
      Object.assign(order, { outbox: next, attempts: 0, dueAt: -Infinity });
      if (next.waiting.length === 0) this.#waiting.get(order.origin)?.delete(id);
      if (!isWatched(id)) await this.forget(id);
      if (failure !== undefined) this.#sayGivenUp(id, message, failure);
    }
    order.isUnderWay = false;
  }

  #take(id: string, outbox: Outbox): NotifiedOrder {
    const order = { outbox, origin: new URL(outbox.url).origin, attempts: 0, dueAt: -Infinity, isUnderWay: false };
    this.#orders.set(id, order);
    if (outbox.waiting.length > 0) this.#lineUp(id, order);
    return order;
  }

  #lineUp(id: string, { origin }: NotifiedOrder): void {
    const ids = this.#waiting.get(origin) ?? new Set();
    ids.delete(id);
    this.#waiting.set(origin, ids.add(id));
  }

  #sayGivenUp(id: string, { status }: Message, failure: string): void {
    this.#parts.logger.error(`payments: order ${id}: its receiver was not told that it is ${status}, and will not be: ${failure}.`);
  }
}

/** Type, time and data, as the Standard Webhooks specification recommends. */
function bodyOf(progress: OrderProgress, time: Date): string {
  return JSON.stringify({ type: `order.${progress.status}`, timestamp: time.toISOString(), data: progressJson(progress) });
}
