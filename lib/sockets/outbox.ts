// Replies and notifications on their way to one client: in pieces, with turns of the event loop in between, for the system copies
// megabytes at once while everybody else waits. So do many clients that are told something at a time: they take turns. What the client
// has yet to read counts with the replies of REST.

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

/** The system is given no more in a turn than this, and for no longer. */
const TURN_BYTES = 4 * AHEAD_BYTES;
const TURN_MS = 1;

/** Outboxes that have something for the system, in order; each says how many bytes it took. */
const ready: (() => number)[] = [];
let isScheduled = false;

function takeTurn(flush: () => number): void {
  ready.push(flush);
  schedule();
}

function schedule(): void {
  if (isScheduled || ready.length === 0) return;
  isScheduled = true;
  setImmediate(flushSome);
}

function flushSome(): void {
  const end = performance.now() + TURN_MS;
  try {
    for (let bytes = 0; bytes < TURN_BYTES && performance.now() < end;) {
      const flush = ready.shift();
      if (flush === undefined) break;
      bytes += flush();
    }
  } finally {
    isScheduled = false;
    schedule();
  }
}

interface Part {
  readonly bytes: Buffer;
  /** Of its message. */
  readonly isLast: boolean;
}

export class Outbox {
  readonly #parts: OutboxParts;
  /** Messages one after the other, each in one part or several. */
  readonly #waiting: Part[] = [];
  /** Of the first part. */
  #sent = 0;
  /** Of the parts here. */
  #bytes = 0;
  #counted = 0;
  #isReady = false;
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

  /** A message; the same memory may wait for many clients. */
  add(...message: readonly Buffer[]): void {
    if (this.#isClosed || this.#ended !== undefined) return;
    if (this.unreadBytes === 0) this.progressAt = performance.now();
    for (const [i, bytes] of message.entries()) {
      this.#waiting.push({ bytes, isLast: i === message.length - 1 });
      this.#bytes += bytes.length;
    }
    this.#count();
    // Those of one turn go together.
    this.#wake();
  }

  /** Calls back when everything was handed to the system or waits for it. Nothing is added any more. */
  end(ended: () => void): void {
    this.#ended = ended;
    this.#wake();
  }

  /** Drops everything: the client has gone. */
  close(): void {
    this.#isClosed = true;
    this.#waiting.length = 0;
    this.#parts.outflow.countOthers(-this.#counted);
    this.#counted = 0;
  }

  #wake(): void {
    if (this.#isReady) return;
    this.#isReady = true;
    takeTurn(this.#flush);
  }

  readonly #flush = (): number => {
    this.#isReady = false;
    const { socket, write } = this.#parts;
    if (this.#isClosed || socket.destroyed) return 0;
    let bytes = 0;
    socket.cork();
    while (bytes < AHEAD_BYTES && this.#waiting.length > 0 && socket.writableLength < AHEAD_BYTES) {
      const part = this.#waiting[0] as Part; // above none
      const piece = part.bytes.subarray(this.#sent, this.#sent + PIECE_BYTES);
      this.#sent += piece.length;
      this.#bytes -= piece.length;
      bytes += piece.length;
      const isEnd = this.#sent === part.bytes.length;
      if (isEnd) {
        this.#waiting.shift();
        this.#sent = 0;
      }
      write(piece, isEnd && part.isLast, this.#written);
    }
    socket.uncork();
    this.#count();
    if (this.#waiting.length === 0) this.#ended?.();
    return bytes;
  };

  readonly #written = (): void => {
    if (this.#isClosed) return;
    this.progressAt = performance.now();
    this.#count();
    if (this.#waiting.length > 0) this.#wake();
    this.#parts.progressed();
  };

  #count(): void {
    const bytes = this.unreadBytes;
    if (bytes === this.#counted || this.#isClosed) return;
    this.#parts.outflow.countOthers(bytes - this.#counted);
    this.#counted = bytes;
  }
}
