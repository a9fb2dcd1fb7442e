// What the sessions of all protocols have in common: their times, what their client costs and has yet to read, and their end.

import { detailsOf } from '../../turns/error-text';
import { FEW_UNREAD_BYTES, MOST_UNREAD_BYTES, MOST_UNREAD_NOTIFICATION_BYTES, type Outflow } from './outbox';
import type { Account } from '../bounds/cost';
import type { ServerLogger } from '../logger';
import type { Connection, ConnectionUser } from './connection';

/** Points for the bytes of a message. */
const BYTES_PER_POINT = 5_000;

export interface ClientSessionParts {
  readonly connection: Connection;
  readonly account: Account;
  readonly outflow: Outflow;
  readonly logger: ServerLogger;
  /** Called when the client has gone. */
  readonly onClose: (session: ClientSession) => void;
}

/** A client that is connected. Times are as performance.now(). */
export abstract class ClientSession implements ConnectionUser {
  readonly openedAt = performance.now();
  /** When the last message came; undefined before the first. */
  heardAt: number | undefined;
  protected readonly connection: Connection;
  protected readonly account: Account;
  readonly #parts: ClientSessionParts;
  #endedAt: number | undefined;
  #isClosed = false;

  protected constructor(parts: ClientSessionParts) {
    this.#parts = parts;
    this.connection = parts.connection;
    this.account = parts.account;
  }

  /** Whether it may make room for another client: it has no subscriptions, no request is being answered, and nothing waits to be read. */
  abstract get isIdle(): boolean;

  /** Takes a message, after its bytes were charged. */
  protected abstract take(message: Buffer): void;

  abstract progressed(): void;

  /** Lets go of everything that is held for the client. It may still be sent something. Called once. */
  protected abstract release(): void;

  get isGone(): boolean {
    return this.#isClosed || this.connection.isGone;
  }

  /** When the session was ended; undefined before that. */
  get endedAt(): number | undefined {
    return this.#endedAt;
  }

  /** Adds to what the client has cost, in points: about a tenth of a millisecond of processor time each. */
  charge(points: number): void {
    this.account.charge(points);
  }

  receive(message: Buffer): void {
    this.heardAt = performance.now();
    this.chargeBytes(message.length);
    this.take(message);
  }

  closed(): void {
    this.#close();
    this.#parts.onClose(this);
  }

  /** The client has to connect again, since it was not notified of something. */
  failed(error: unknown): void {
    this.#parts.logger.error(`a client could not be told: ${detailsOf(error)}`);
    this.destroy();
  }

  /** Closes the connection once everything that was sent has gone out. */
  end(): void {
    this.#close();
    this.connection.end();
  }

  destroy(): void {
    this.#close();
    this.connection.destroy();
  }

  protected chargeBytes(bytes: number): void {
    this.charge(bytes / BYTES_PER_POINT);
  }

  /** Whether the client has read enough to be notified of more; `waiting`: bytes of notifications that were not sent yet. */
  protected canBeNotified(waiting = 0): boolean {
    const most = this.#parts.outflow.isFull ? FEW_UNREAD_BYTES : MOST_UNREAD_NOTIFICATION_BYTES;
    return this.connection.unreadBytes + waiting <= most;
  }

  /** Whether the client has read enough for having more of its requests answered. */
  protected canBeAnswered(): boolean {
    return this.connection.unreadBytes <= (this.#parts.outflow.isFull ? FEW_UNREAD_BYTES : MOST_UNREAD_BYTES);
  }

  /** Reads on from the client, unless it is busy or has too much left to read. */
  protected readOn(isBusy: boolean): void {
    if (isBusy || this.connection.unreadBytes > MOST_UNREAD_BYTES) this.connection.pause();
    else this.connection.resume();
  }

  #close(): void {
    if (this.#endedAt !== undefined) return;
    this.#endedAt = performance.now();
    this.release();
    this.#isClosed = true;
  }
}
