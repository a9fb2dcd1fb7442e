// Sends messages to their receivers, of one origin a few at a time, so that a slow receiver delays nobody else's.

import { deliver } from './delivery';
import { signatureHeaders } from './signature';
import type { ServerLogger } from '../../server/logger';
import type { Message, Outbox } from './outbox';

/** Deliveries under way to one origin. */
const MOST_AT_ONE_ORIGIN = 4;

export interface WebhookLogger extends ServerLogger {
  info(message: string): void;
  warning(message: string): void;
}

export interface Delivered {
  readonly id: string;
  readonly message: Message;
  /** Undefined: the receiver has it. */
  readonly failure: string | undefined;
}

export interface DeliveriesParts {
  /** Of the signatures. */
  readonly key: Buffer;
  /** Where messages may go. */
  readonly origins: readonly string[];
  /** By default ten seconds. */
  readonly attemptMs?: number;
  /** Ends all deliveries. */
  readonly signal: AbortSignal;
  /** Called when a delivery has ended. */
  readonly ended: () => void;
  readonly logger: WebhookLogger;
}

export class Deliveries {
  /** What has ended, the oldest first; whoever takes note of a delivery removes it. */
  readonly ended: Delivered[] = [];
  readonly #parts: DeliveriesParts;
  /** How many are under way to an origin. */
  readonly #counts = new Map<string, number>();
  readonly #underWay = new Set<Promise<void>>();
  /** Origins whose last answer was a failure. */
  readonly #failing = new Set<string>();

  constructor(parts: DeliveriesParts) {
    this.#parts = parts;
  }

  /** Resolves when nothing is under way any more. To be called after the signal was given. */
  async close(): Promise<void> {
    await Promise.all(this.#underWay);
  }

  hasRoomAt(origin: string): boolean {
    return this.#countAt(origin) < MOST_AT_ONE_ORIGIN;
  }

  /** `id`: of the order. `origin`: that of its URL. */
  start(id: string, origin: string, { url }: Outbox, message: Message): void {
    const delivery = this.#send(id, origin, url, message);
    this.#underWay.add(delivery);
    void delivery.then(() => this.#underWay.delete(delivery));
  }

  async #send(id: string, origin: string, url: string, message: Message): Promise<void> {
    this.#counts.set(origin, this.#countAt(origin) + 1);
    const failure = await this.#attempt(origin, url, message);
    this.#counts.set(origin, this.#countAt(origin) - 1);
    if (!this.#parts.signal.aborted) this.#sayWhetherFailing(origin, failure);
    this.ended.push({ id, message, failure });
    this.#parts.ended();
  }

  async #attempt(origin: string, url: string, { id, body }: Message): Promise<string | undefined> {
    const { key, origins, attemptMs, signal } = this.#parts;
    if (!origins.includes(origin)) return 'its origin is not allowed any more';
    const headers = signatureHeaders(key, id, Math.floor(Date.now() / 1_000), body);
    return deliver({ url, headers, body, signal, timeoutMs: attemptMs });
  }

  #countAt(origin: string): number {
    return this.#counts.get(origin) ?? 0;
  }

  /** Once when an origin begins to fail, and once when it no longer does. */
  #sayWhetherFailing(origin: string, failure: string | undefined): void {
    const { logger } = this.#parts;
    if (failure === undefined) {
      if (this.#failing.delete(origin)) logger.info(`payments: ${origin} takes webhooks again.`);
    } else if (!this.#failing.has(origin)) {
      this.#failing.add(origin);
      logger.warning(`payments: ${origin} did not take a webhook: ${failure}. It is sent again.`);
    }
  }
}
