// What the sessions of all protocols have in common: their times, what their client costs and has yet to read, and their end.

import { detailsOf } from '../../system/error-text';
import { FEW_UNREAD_BYTES, MOST_UNREAD_BYTES, MOST_UNREAD_NOTIFICATION_BYTES, type Outflow } from './outbox';
import type { Account } from '../bounds/cost';
import type { ServerLogger } from '../logger';
import type { Connection, ConnectionUser } from './connection';

/** Points for the bytes of a message. */
const BYTES_PER_POINT = 5_000;

/**
 * Why a client is cut off. `cost`: it has cost too much. `unread`: it does not read what it is notified of. `idle`: nothing came from it for
 * long. `room`: another one needed its place. `malformed`: it does not speak the protocol. `missed`: it was not notified of something.
 */
export const CUT_OFF_REASONS = ['cost', 'unread', 'idle', 'room', 'malformed', 'missed'] as const;
export type CutOffReason = (typeof CUT_OFF_REASONS)[number];

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
  /** Why it was cut off; undefined: it was not. */
  cutOffFor: CutOffReason | undefined;
  protected readonly connection: Connection;
  protected readonly account: Account;
  readonly #parts: ClientSessionParts;
  #endedAt: number | undefined;
  #isFinishing = false;
  #isClosed = false;

  protected constructor(parts: ClientSessionParts) {
    this.#parts = parts;
    this.connection = parts.connection;
    this.account = parts.account;
  }

  /** Whether it may make room for another client: it has no subscriptions, no request is being answered, and nothing waits to be read. */
  abstract get isIdle(): boolean;

  /** Whether the client waits for something that it has asked. */
  protected abstract get isAnswering(): boolean;

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

  receive(message: Buffer, at: number): void {
    this.heardAt = at;
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
    this.cutOff('missed');
  }

  /** Closes the connection at once. */
  cutOff(reason: CutOffReason): void {
    this.cutOffFor ??= reason;
    this.destroy();
  }

  /** Closes the connection once everything that was sent has gone out. `reason`: if the client is cut off. */
  end(reason?: CutOffReason): void {
    this.cutOffFor ??= reason;
    this.#close();
    this.connection.end();
  }

  /** Ends the session once what the client has asked so far is answered. */
  finish(): void {
    this.#isFinishing = true;
    this.connection.pause();
    this.answered();
  }

  destroy(): void {
    this.#close();
    this.connection.destroy();
  }

  /** To be called when a request was answered. */
  protected answered(): void {
    if (this.#isFinishing && !this.isAnswering) this.end();
  }

  /** To be called for each notification of something that the client has subscribed to. */
  protected countNotification(): void {
    this.#parts.outflow.notifications++;
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
    if (isBusy || this.#isFinishing || this.connection.unreadBytes > MOST_UNREAD_BYTES) this.connection.pause();
    else this.connection.resume();
  }

  #close(): void {
    if (this.#endedAt !== undefined) return;
    this.#endedAt = performance.now();
    this.release();
    this.#isClosed = true;
  }
}
