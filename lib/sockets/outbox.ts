// Replies and notifications on their way to one client: in pieces, with turns of the event loop in between, for the system copies
// megabytes at once while everybody else waits. What the client has yet to read counts with the replies of REST.

import type { Socket } from 'node:net';

const PIECE_BYTES = 65_536;

/** What the system is given before it has taken it. A client that takes less in its time is cut off. */
const AHEAD_BYTES = 4 * PIECE_BYTES;

/** What a client is told of by itself beyond so many unread bytes cuts it off. */
export const MOST_UNREAD_NOTIFICATION_BYTES = 32_000_000;

/** A client that has so much to read gets nothing more made. */
export const MOST_UNREAD_BYTES = 262_144;

/** The same while all clients together have too much to read. */
export const FEW_UNREAD_BYTES = 65_536;

/** Bytes that wait outside REST's responses to be read. */
export interface Outflow {
  /** True while no further large reply may be made. */
  readonly isFull: boolean;
  /** Negative: they are gone. */
  countOthers(bytes: number): void;
}

export interface OutboxParts {
  /** That of the client: what waits there is not with the system yet. */
  readonly socket: Pick<Socket, 'cork' | 'uncork' | 'writableLength' | 'destroyed'>;
  /** `isLast`: the message ends with this piece. */
  readonly write: (piece: Buffer, isLast: boolean, written: () => void) => void;
  readonly outflow: Pick<Outflow, 'countOthers'>;
  /** The client has taken something. */
  readonly progressed: () => void;
}

export class Outbox {
  readonly #parts: OutboxParts;
  readonly #messages: Buffer[] = [];
  /** Of the first message. */
  #sent = 0;
  /** Of the messages here. */
  #bytes = 0;
  #counted = 0;
  #next: NodeJS.Immediate | undefined;
  #ended: (() => void) | undefined;
  #isClosed = false;
  /** When the client took something, or began to have something to take; as performance.now(). */
  progressAt = 0;

  constructor(parts: OutboxParts) {
    this.#parts = parts;
  }

  /** What the client has yet to read, as far as the system has not taken it. */
  get unreadBytes(): number {
    return this.#bytes + this.#parts.socket.writableLength;
  }

  add(message: Buffer): void {
    if (this.#isClosed || this.#ended !== undefined) return;
    if (this.unreadBytes === 0) this.progressAt = performance.now();
    this.#messages.push(message);
    this.#bytes += message.length;
    this.#count();
    // Those of one turn go together.
    this.#next ??= setImmediate(this.#flush);
  }

  /** Calls back when everything was handed to the system or waits for it. Nothing is added any more. */
  end(ended: () => void): void {
    this.#ended = ended;
    this.#next ??= setImmediate(this.#flush);
  }

  /** Drops everything: the client has gone. */
  close(): void {
    this.#isClosed = true;
    clearImmediate(this.#next);
    this.#messages.length = 0;
    this.#parts.outflow.countOthers(-this.#counted);
    this.#counted = 0;
  }

  readonly #flush = (): void => {
    this.#next = undefined;
    const { socket, write } = this.#parts;
    if (this.#isClosed || socket.destroyed) return;
    socket.cork();
    for (let bytes = 0; bytes < AHEAD_BYTES && this.#messages.length > 0 && socket.writableLength < AHEAD_BYTES;) {
      const message = this.#messages[0] as Buffer; // above none
      const piece = message.subarray(this.#sent, this.#sent + PIECE_BYTES);
      this.#sent += piece.length;
      this.#bytes -= piece.length;
      bytes += piece.length;
      const isLast = this.#sent === message.length;
      if (isLast) {
        this.#messages.shift();
        this.#sent = 0;
      }
      write(piece, isLast, this.#written);
    }
    socket.uncork();
    this.#count();
    if (this.#messages.length === 0) this.#ended?.();
  };

  readonly #written = (): void => {
    if (this.#isClosed) return;
    this.progressAt = performance.now();
    this.#count();
    if (this.#messages.length > 0) this.#next ??= setImmediate(this.#flush);
    this.#parts.progressed();
  };

  #count(): void {
    const bytes = this.unreadBytes;
    if (bytes === this.#counted || this.#isClosed) return;
    this.#parts.outflow.countOthers(bytes - this.#counted);
    this.#counted = bytes;
  }
}
