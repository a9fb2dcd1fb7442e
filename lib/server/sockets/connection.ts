// The connection to one client: JSON values in both directions, over any transport.

import { Inbox } from './inbox';
import { Outbox, type OutboundMessage, type Outflow, type Piece } from './outbox';
import type { Socket } from 'node:net';

/** ElectrumX's limit (MAX_RECV): longer values are dropped, or end the connection. */
export const MOST_VALUE_BYTES = 1_000_000;

/** How values go over a socket. */
export interface Transport {
  readonly isGone: boolean;
  /** Stops and continues reading from the client. */
  readonly flow: { pause(): unknown; resume(): unknown };
  /** Begins to read. `came`: called when there may be a value; `closed`: once the client has gone. */
  open(came: () => void, closed: () => void): void;
  /** The next complete value, in UTF-8, valid until the next call. */
  next(): Buffer | undefined;
  /** Sends values, or pieces of them, one after the other. `written`: to be called once the operating system has all of them. */
  write(pieces: readonly Piece[], written: () => void): void;
  /** Asks the client now and then whether it is there, if the transport has a way to ask. */
  keepAlive?(isThere: () => void): void;
  /** Closes the connection politely. */
  end(): void;
  /** Closes at once. */
  destroy(): void;
}

/** The user of a connection, which the connection calls. */
export interface ConnectionUser {
  /** A value came. `value`: UTF-8, valid during the call. `at`: about when, as performance.now(). */
  receive(value: Buffer, at: number): void;
  /** The client has read something. */
  progressed(): void;
  /** The client has gone. */
  closed(): void;
}

export class Connection {
  readonly #transport: Transport;
  readonly #outbox: Outbox;
  #inbox: Inbox | undefined;
  #user: ConnectionUser | undefined;

  /** `socket`: the one under the transport. */
  constructor(transport: Transport, socket: Socket, outflow: Outflow) {
    this.#transport = transport;
    this.#outbox = new Outbox({
      socket,
      outflow,
      write: (pieces, written) => {
        transport.write(pieces, written);
      },
      progressed: () => this.#user?.progressed()
    });
  }

  /** Begins to call the user. */
  open(user: ConnectionUser): void {
    const transport = this.#transport;
    this.#user = user;
    const inbox = (this.#inbox = new Inbox({
      next: () => transport.next(),
      receive: (value, at) => {
        user.receive(value, at);
      },
      flow: transport.flow,
      refuse: () => {
        this.destroy();
      }
    }));
    transport.open(inbox.run, () => {
      inbox.close();
      this.#outbox.close();
      user.closed();
    });
  }

  /** Calls back when the client answers, if it can be asked whether it is there. */
  keepAlive(isThere: () => void): void {
    this.#transport.keepAlive?.(isThere);
  }

  get isGone(): boolean {
    return this.#transport.isGone;
  }

  /** Bytes for the client that the operating system has not taken yet. */
  get unreadBytes(): number {
    return this.#outbox.unreadBytes;
  }

  /** Sends one value, without line ends. */
  send(value: OutboundMessage): void {
    this.#outbox.add(value);
  }

  /** Stops reading from the client. */
  pause(): void {
    this.#inbox?.pause();
  }

  resume(): void {
    this.#inbox?.resume();
  }

  /** Closes the connection once everything that was sent has gone out. */
  end(): void {
    this.#inbox?.close();
    this.#outbox.end(() => {
      this.#transport.end();
    });
  }

  /** Closes at once. */
  destroy(): void {
    this.#transport.destroy();
  }
}
