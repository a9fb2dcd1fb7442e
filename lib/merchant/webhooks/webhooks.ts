// Tells the receivers that orders name (`notify_url`) of each change of an order's status. One step at a time looks at orders about which
// something may have changed, writes messages, and takes note of what was delivered; so each outbox has one writer. Deliveries run beside
// the steps: of one order one at a time, in order.

import { Loop } from '../../follow/loop';
import { IndexUnavailableError } from '../../index/errors';
import { PaymentError } from '../../payments/error';
import { detailsOf } from '../../system/error-text';
import { progressJson, type OrderProgress } from '../orders/progress';
import { DamagedRecordError, type StoredRequest } from '../orders/record';
import { Deliveries, type Delivered, type WebhookLogger } from './deliveries';
import { withMessage, withoutFirst, type Message, type Outbox, type OutboxStore } from './outbox';
import type { Merchant } from '../orders/merchant';
import type { OrderObserver } from '../orders/order-watch';

/** Between the first two attempts; each further pause is twice as long as the one before, up to an hour. */
const FIRST_PAUSE_MS = 5_000;
const HOUR_MS = 3_600_000;

/** How long a message is sent again and again. */
const GIVE_UP_MS = 3 * 24 * HOUR_MS;

/** Also of a message that is older: while the node was off nobody tried. They take about an hour and a half. */
const LEAST_ATTEMPTS = 10;

/** After an error of the disk; while a status cannot be known, the first pause, and each further one is twice as long, up to an hour. */
const UNREADABLE_PAUSE_MS = 10_000;

/** The longest wait for an order to expire: the system's clock may be set forward meanwhile. */
const MOST_WAIT_MS = 60_000;

export interface WebhookPatience {
  /** By default five seconds. */
  readonly firstPauseMs?: number;
  /** By default three days. */
  readonly giveUpMs?: number;
  /** By default ten seconds. */
  readonly attemptMs?: number;
}

export interface WebhooksParts extends WebhookPatience {
  /** Called once it is open. */
  readonly merchant: () => Pick<Merchant, 'progress'>;
  readonly outboxes: OutboxStore;
  /** Of the signatures. */
  readonly key: Buffer;
  /** Where messages may go. */
  readonly origins: readonly string[];
  /** Whether node and index are in sync and the chain was searched: statuses are looked up only then. */
  readonly isReady: () => boolean;
  readonly logger: WebhookLogger;
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

/** An order whose status cannot be known for now. */
interface UnknownOrder {
  /** Before the next look. */
  readonly pauseMs: number;
  /** When it is due, in the time of `performance.now()`. */
  readonly dueAt: number;
}

export class Webhooks extends Loop implements OrderObserver {
  readonly #parts: WebhooksParts;
  /** The receivers of orders that are watched, by id. */
  readonly #urls = new Map<string, string>();
  readonly #orders = new Map<string, NotifiedOrder>();
  /** Orders about which something may have changed. */
  readonly #changed = new Set<string>();
  /** Open orders, and when they expire in Unix milliseconds. */
  readonly #expiring = new Map<string, number>();
  /** The order that is being looked at. */
  #lookedAt: string | undefined;
  /** A pruned node may never know. */
  readonly #unknown = new Map<string, UnknownOrder>();
  /** Orders with messages that wait, by origin, those that were tried last at the end: there may be thousands at one that takes nothing. */
  readonly #waiting = new Map<string, Set<string>>();
  readonly #deliveries: Deliveries;
  #pausedUntil = -Infinity;

  constructor(parts: WebhooksParts) {
    super();
    this.#parts = parts;
    this.#deliveries = new Deliveries({
      ...parts,
      signal: this.signal,
      ended: () => {
        this.wake();
      }
    });
  }

  /** Takes up the messages that were not delivered before. To be called once the merchant is open. */
  async open(): Promise<void> {
    const { outboxes, logger } = this.#parts;
    for (const id of await outboxes.ids()) {
      try {
        const outbox = await outboxes.read(id);
        if (outbox !== undefined) this.#take(id, outbox);
      } catch (error) {
        if (!(error instanceof DamagedRecordError)) throw error;
        logger.error(`payments: ${error.message}`);
      }
      this.#changed.add(id);
    }
    this.run();
  }

  /** Resolves when nothing is sent or written any more. */
  override async close(): Promise<void> {
    await super.close();
    await this.#deliveries.close();
  }

  followed({ id, notifyUrl }: StoredRequest): void {
    if (notifyUrl === undefined) return;
    this.#urls.set(id, notifyUrl);
    this.#note(id);
  }

  touched(id: string): void {
    if (this.#urls.has(id)) this.#note(id);
  }

  left(id: string): void {
    if (this.#urls.delete(id)) this.#note(id);
  }

  /** Node and index are in sync, or the chain has moved on. */
  readonly settled = (): void => {
    for (const id of this.#unknown.keys()) this.#changed.add(id);
    // It may be found unknown by what was before.
    if (this.#lookedAt !== undefined) this.#changed.add(this.#lookedAt);
    this.wake();
  };

  /** The chain has taken blocks back: what was in them may be in none now. */
  reorganized(): void {
    for (const id of this.#urls.keys()) this.#changed.add(id);
    this.wake();
  }

  #note(id: string): void {
    this.#changed.add(id);
    this.wake();
  }

  #take(id: string, outbox: Outbox): NotifiedOrder {
    const order = { outbox, origin: new URL(outbox.url).origin, attempts: 0, dueAt: -Infinity, isUnderWay: false };
    this.#orders.set(id, order);
    if (outbox.waiting.length > 0) this.#lineUp(id, order);
    return order;
  }

  protected dueIn(): number {
    const now = performance.now();
    if (this.#pausedUntil > now) return this.#pausedUntil - now;
    if (this.isWoken) return 0;
    let ms = this.#nextDelivery() - now;
    // A step looks at nothing until then, so what is due would be due again at once.
    if (this.#parts.isReady()) {
      for (const at of this.#expiring.values()) ms = Math.min(ms, MOST_WAIT_MS, at - Date.now());
      for (const { dueAt } of this.#unknown.values()) ms = Math.min(ms, dueAt - now);
    }
    return ms;
  }

  protected async step(): Promise<void> {
    await this.#noteDelivered();
    this.#startDeliveries();
    if (!this.#parts.isReady()) return;
    await this.#lookAtChanged();
    this.#startDeliveries();
  }

  protected failed(error: unknown): void {
    this.#pausedUntil = performance.now() + UNREADABLE_PAUSE_MS;
    // What is left to do is found without being woken again.
    this.wake();
    this.#parts.logger.error(`payments: webhooks: ${detailsOf(error)}`);
  }

  // What has changed

  async #lookAtChanged(): Promise<void> {
    const [time, now] = [Date.now(), performance.now()];
    for (const [id, expiresAt] of this.#expiring) if (expiresAt <= time) this.#changed.add(id);
    for (const [id, { dueAt }] of this.#unknown) if (dueAt <= now) this.#changed.add(id);
    for (const id of [...this.#changed]) {
      if (this.signal.aborted) return;
      // What happens from now on is looked at again.
      this.#changed.delete(id);
      const before = this.#unknown.get(id);
      this.#unknown.delete(id);
      this.#lookedAt = id;
      try {
        await this.#lookAt(id);
      } catch (error) {
        if (error instanceof DamagedRecordError) {
          this.#parts.logger.error(`payments: ${error.message}`);
          continue;
        }
        // The record was deleted.
        if (error instanceof PaymentError && error.code === 'unknown-request') this.left(id);
        else if (isPassing(error)) {
          const pauseMs = before === undefined ? UNREADABLE_PAUSE_MS : Math.min(HOUR_MS, 2 * before.pauseMs);
          this.#unknown.set(id, { pauseMs, dueAt: performance.now() + pauseMs });
        } else {
          this.#changed.add(id);
          throw error;
        }
      } finally {
        this.#lookedAt = undefined;
      }
    }
  }

  async #lookAt(id: string): Promise<void> {
    const { merchant, outboxes } = this.#parts;
    const url = this.#urls.get(id);
    if (url === undefined) {
      this.#expiring.delete(id);
      await this.#drop(id);
      return;
    }
    const progress = await merchant().progress(id);
    const { status, expires } = progress;
    if (status === 'open' && expires !== undefined) this.#expiring.set(id, (Number(expires) + 1) * 1_000);
    else this.#expiring.delete(id);
    const order = this.#orders.get(id) ?? this.#take(id, (await outboxes.read(id)) ?? { url, waiting: [] });
    if (status === order.outbox.status) return;
    const createdAt = new Date();
    const next = withMessage(order.outbox, id, { createdAt, status, body: bodyOf(progress, createdAt) });
    await outboxes.save(id, next);
    order.outbox = next;
    if (this.#waiting.get(order.origin)?.has(id) !== true) this.#lineUp(id, order);
  }

  /** Forgets an order that is watched no longer, once its receiver knows everything. */
  async #drop(id: string): Promise<void> {
    const order = this.#orders.get(id);
    if (order === undefined || order.outbox.waiting.length > 0) return;
    this.#orders.delete(id);
    await this.#parts.outboxes.remove(id);
  }

  // Deliveries

  #nextDelivery(): number {
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

  #lineUp(id: string, { origin }: NotifiedOrder): void {
    const ids = this.#waiting.get(origin) ?? new Set();
    ids.delete(id);
    this.#waiting.set(origin, ids.add(id));
  }

  #startDeliveries(): void {
    if (this.signal.aborted) return;
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

  async #noteDelivered(): Promise<void> {
    const { ended } = this.#deliveries;
    for (let [first] = ended; first !== undefined; [first] = ended) {
      await this.#noteOne(first);
      ended.shift();
    }
  }

  async #noteOne({ id, message, failure }: Delivered): Promise<void> {
    const { outboxes, firstPauseMs = FIRST_PAUSE_MS, giveUpMs = GIVE_UP_MS } = this.#parts;
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
      if (!this.#urls.has(id)) await this.#drop(id);
      if (failure !== undefined) this.#sayGivenUp(id, message, failure);
    }
    order.isUnderWay = false;
  }

  #sayGivenUp(id: string, { status }: Message, failure: string): void {
    this.#parts.logger.error(`payments: order ${id}: its receiver was not told that it is ${status}, and will not be: ${failure}.`);
  }
}

/** Type, time and data, as the Standard Webhooks specification recommends. */
function bodyOf(progress: OrderProgress, time: Date): string {
  return JSON.stringify({ type: `order.${progress.status}`, timestamp: time.toISOString(), data: progressJson(progress) });
}

/** Whether the status of an order is only unknown for now. */
function isPassing(error: unknown): boolean {
  return error instanceof IndexUnavailableError || (error instanceof PaymentError && error.code === 'not-yet-known');
}
