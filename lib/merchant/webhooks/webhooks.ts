// Tells the receivers that orders name (`notify_url`) of each change of an order's status. One step at a time takes note of what was
// delivered, looks at the orders about which something may have changed, and hands their statuses to the queue of deliveries.

import { Loop } from '../../follow/loop';
import { IndexUnavailableError } from '../../index/errors';
import { PaymentError } from '../../payments/error';
import { detailsOf } from '../../system/error-text';
import { DamagedRecordError, type StoredRequest } from '../orders/record';
import { DeliveryQueue, type WebhookPatience } from './delivery-queue';
import type { Merchant } from '../orders/merchant';
import type { OrderObserver } from '../orders/order-watch';
import type { WebhookLogger } from './deliveries';
import type { OutboxStore } from './outbox';

/** After an error of the disk; while a status cannot be known, the first pause, and each further one is twice as long, up to an hour. */
const UNREADABLE_PAUSE_MS = 10_000;
const LONGEST_PAUSE_MS = 3_600_000;

/** The longest wait for an order to expire: the system's clock may be set forward meanwhile. */
const MOST_WAIT_MS = 60_000;

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
  /** Orders about which something may have changed. */
  readonly #changed = new Set<string>();
  /** Open orders, and when they expire in Unix milliseconds. */
  readonly #expiring = new Map<string, number>();
  /** The order that is being looked at. */
  #lookedAt: string | undefined;
  /** A pruned node may never know. */
  readonly #unknown = new Map<string, UnknownOrder>();
  readonly #queue: DeliveryQueue;
  #pausedUntil = -Infinity;

  constructor(parts: WebhooksParts) {
    super();
    this.#parts = parts;
    this.#queue = new DeliveryQueue({
      ...parts,
      isWatched: (id) => this.#urls.has(id),
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
        await this.#queue.load(id);
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
    await this.#queue.close();
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

  protected dueIn(): number {
    const now = performance.now();
    if (this.#pausedUntil > now) return this.#pausedUntil - now;
    if (this.isWoken) return 0;
    let ms = this.#queue.nextAt() - now;
    // A step looks at nothing until then, so what is due would be due again at once.
    if (this.#parts.isReady()) {
      for (const at of this.#expiring.values()) ms = Math.min(ms, MOST_WAIT_MS, at - Date.now());
      for (const { dueAt } of this.#unknown.values()) ms = Math.min(ms, dueAt - now);
    }
    return ms;
  }

  protected async step(): Promise<void> {
    await this.#queue.noteEnded();
    this.#queue.start();
    if (!this.#parts.isReady()) return;
    await this.#lookAtChanged();
    this.#queue.start();
  }

  protected failed(error: unknown): void {
    this.#pausedUntil = performance.now() + UNREADABLE_PAUSE_MS;
    // What is left to do is found without being woken again.
    this.wake();
    this.#parts.logger.error(`payments: webhooks: ${detailsOf(error)}`);
  }

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
          const pauseMs = before === undefined ? UNREADABLE_PAUSE_MS : Math.min(LONGEST_PAUSE_MS, 2 * before.pauseMs);
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
    const url = this.#urls.get(id);
    if (url === undefined) {
      this.#expiring.delete(id);
      await this.#queue.forget(id);
      return;
    }
    const progress = await this.#parts.merchant().progress(id);
    const { status, expires } = progress;
    if (status === 'open' && expires !== undefined) this.#expiring.set(id, (Number(expires) + 1) * 1_000);
    else this.#expiring.delete(id);
    await this.#queue.add(id, url, progress);
  }
}

/** Whether the status of an order is only unknown for now. */
function isPassing(error: unknown): boolean {
  return error instanceof IndexUnavailableError || (error instanceof PaymentError && error.code === 'not-yet-known');
}
