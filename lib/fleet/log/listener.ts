// Subscriptions that come back: servers end those that they do not allow any more, and do not say when they allow them again.

import { loadNats } from './nats';
import type { Msg, NatsConnection, Subscription } from '@nats-io/transport-node';

/** Until a subscription is tried again. */
const RETRY_MS = 5_000;

export interface Listening {
  close(): void;
}

interface Wanted {
  readonly subject: string;
  readonly subscribe: () => Subscription;
  subscription: Subscription;
  timer: NodeJS.Timeout | undefined;
}

export class Listener {
  readonly #connection: NatsConnection;
  readonly #refused: (error: Error) => void;
  readonly #wanted = new Set<Wanted>();
  #refusedAt = -Infinity;

  /** `refused`: called when the servers do not allow a subscription; once, while they refuse one after the other, again and again. */
  constructor(connection: NatsConnection, refused: (error: Error) => void = () => undefined) {
    this.#connection = connection;
    this.#refused = refused;
    void this.#followRefusals();
  }

  /** `queue`: of those who share the messages. */
  listen(subject: string, take: (message: Msg) => void, queue?: string): Listening {
    const subscribe = (): Subscription =>
      this.#connection.subscribe(subject, {
        ...(queue !== undefined && { queue }),
        callback: (error, message) => {
          if (error === null) take(message);
        }
      });
    const wanted: Wanted = { subject, subscribe, subscription: subscribe(), timer: undefined };
    this.#wanted.add(wanted);
    const close = (): void => {
      this.#wanted.delete(wanted);
      clearTimeout(wanted.timer);
      wanted.subscription.unsubscribe();
    };
    return { close };
  }

  /** The client itself does not find a subscription with a queue by what the servers say of it. */
  async #followRefusals(): Promise<void> {
    const statuses = this.#connection.status();
    const { core } = await loadNats();
    for await (const status of statuses) {
      if (status.type !== 'error' || !(status.error instanceof core.PermissionViolationError)) continue;
      const { error } = status;
      if (error.operation === 'subscription') this.#retry(error.subject, error);
    }
  }

  #retry(subject: string, error: Error): void {
    for (const wanted of this.#wanted) {
      if (wanted.subject !== subject) continue;
      const now = performance.now();
      if (now > this.#refusedAt + 2 * RETRY_MS) this.#refused(error);
      this.#refusedAt = now;
      wanted.subscription.unsubscribe();
      clearTimeout(wanted.timer);
      wanted.timer = setTimeout(() => {
        if (!this.#connection.isClosed()) wanted.subscription = wanted.subscribe();
      }, RETRY_MS).unref();
    }
  }
}
