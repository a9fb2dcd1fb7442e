// Notifications that a client has not been sent yet. A newer one about the same thing takes the place of an older one.

import type { Connection } from '../../server/sockets/connection';
import type { Outflow } from '../../server/sockets/outbox';

export interface PendingNotificationsParts {
  readonly connection: Pick<Connection, 'send'>;
  readonly outflow: Pick<Outflow, 'countOthers'>;
  /** Whether replies are still to come that may contain an older status. */
  readonly mustWait: () => boolean;
}

export class PendingNotifications {
  readonly #parts: PendingNotificationsParts;
  /** By what they are about. */
  readonly #texts = new Map<string, string>();
  #bytes = 0;
  #sending: NodeJS.Immediate | undefined;

  constructor(parts: PendingNotificationsParts) {
    this.#parts = parts;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** There is none about the same thing. */
  add(text: string, about: string): void {
    this.#texts.set(about, text);
    this.#count(text.length);
    this.sendSoon();
  }

  withdraw(about: string): void {
    const text = this.#texts.get(about);
    if (text === undefined) return;
    this.#texts.delete(about);
    this.#count(-text.length);
  }

  /** Sends them after the replies that are ready in this turn, which may contain an older status of the script. */
  sendSoon(): void {
    if (this.#texts.size > 0) this.#sending ??= setImmediate(this.#send);
  }

  /** Drops all. */
  close(): void {
    clearImmediate(this.#sending);
    this.#clear();
  }

  readonly #send = (): void => {
    this.#sending = undefined;
    const { connection, mustWait } = this.#parts;
    if (mustWait()) return;
    for (const text of this.#texts.values()) connection.send(text);
    this.#clear();
  };

  #clear(): void {
    // Without any, -0 would be added: V8 then gives all sessions another shape.
    if (this.#texts.size === 0) return;
    this.#texts.clear();
    this.#count(-this.#bytes);
  }

  #count(bytes: number): void {
    this.#bytes += bytes;
    this.#parts.outflow.countOthers(bytes);
  }
}
