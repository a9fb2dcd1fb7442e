// Replies and notifications on their way to one client. They are sent in pieces, with turns of the event loop in between, since all other
// work waits while the operating system copies megabytes. For the same reason clients that are notified together take turns. Bytes that a
// client has yet to read count with the replies of REST.

import type { Socket } from 'node:net';
import type { ReadSocket, SlowReaders } from '../bounds/slow-readers';

const PIECE_BYTES = 65_536;

/** Bytes that are handed over before the operating system has taken them. */
const AHEAD_BYTES = 4 * PIECE_BYTES;

/** A client with more unread bytes than this is cut off when it is notified. */
export const MOST_UNREAD_NOTIFICATION_BYTES = 32_000_000;

/** While a client has more than this to read, no further replies are made for it. */
export const MOST_UNREAD_BYTES = 262_144;

/** This limit while all clients together have too much to read. */
export const FEW_UNREAD_BYTES = 65_536;

/** Counts what waits to be read, by the clients of every protocol. */
export interface Outflow {
  /** True while no further large reply may be made. */
  readonly isFull: boolean;
  /** Counts memory until it is released as often as it was held. However many clients have yet to read it, it counts once. */
  hold(memory: ArrayBufferLike): void;
  release(memory: ArrayBufferLike): void;
  /** Clients that have something to read. */
  readonly slowReaders: Pick<SlowReaders, 'watch' | 'unwatch'>;
  /** Counts bytes that are not handed over yet; negative when they were or are dropped. */
  countOthers(bytes: number): void;
}

export interface OutboxParts {
  /** The client's connection. The operating system has not taken the bytes that wait in it. */
  readonly socket: ReadSocket & Pick<Socket, 'cork' | 'uncork' | 'destroyed'>;
  /** `isLast`: the message ends with this piece. */
  readonly write: (piece: Buffer, isLast: boolean, written: () => void) => void;
  readonly outflow: Pick<Outflow, 'hold' | 'release' | 'slowReaders'>;
  /** Called when the client has taken something. */
  readonly progressed: () => void;
}

/** How many bytes are handed over in one turn of the event loop, and for how long. */
const TURN_BYTES = 4 * AHEAD_BYTES;
const TURN_MS = 1;

/** Outboxes that have something to send, in order; each function returns how many bytes it handed over. */
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
  /** Whether it is the last part of its message. */
  readonly isLast: boolean;
}

export class Outbox {
  readonly #parts: OutboxParts;
  /** Messages one after the other, each in one part or several. */
  readonly #waiting: Part[] = [];
  /** Bytes of the first part that were sent. */
  #sent = 0;
  /** Unsent bytes of all parts. */
  #bytes = 0;
  /** The memory of parts that were sent, but not taken by the operating system. */
  readonly #sentMemory: ArrayBufferLike[] = [];
  #isReady = false;
  #ended: (() => void) | undefined;
  #isClosed = false;
  /** Whether the client has something to read, and is watched. */
  #isWatched = false;

  constructor(parts: OutboxParts) {
    this.#parts = parts;
  }

  /** Bytes for the client that the operating system has not taken yet. */
  get unreadBytes(): number {
    return this.#bytes + this.#parts.socket.writableLength;
  }

  /** Sends a message, given in parts. Many clients may share its memory. */
  add(message: readonly Buffer[]): void {
    if (this.#isClosed || this.#ended !== undefined) return;
    this.#watch(true);
    for (const [i, bytes] of message.entries()) {
      this.#waiting.push({ bytes, isLast: i === message.length - 1 });
      this.#bytes += bytes.length;
      this.#parts.outflow.hold(bytes.buffer);
    }
    // Messages of one turn are sent together.
    this.#wake();
  }

  /** Calls back when everything was handed over. Nothing can be added from now on. */
  end(ended: () => void): void {
    this.#ended = ended;
    this.#wake();
  }

  /** Drops everything: the client has gone. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#watch(false);
    const memories = [...this.#sentMemory, ...this.#waiting.map(({ bytes }) => bytes.buffer)];
    for (const memory of memories) this.#parts.outflow.release(memory);
    this.#sentMemory.length = this.#waiting.length = 0;
  }

  #watch(isWatched: boolean): void {
    if (isWatched === this.#isWatched) return;
    this.#isWatched = isWatched;
    const { socket, outflow } = this.#parts;
    if (isWatched) outflow.slowReaders.watch(socket);
    else outflow.slowReaders.unwatch(socket);
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
        this.#sentMemory.push(part.bytes.buffer);
      }
      write(piece, isEnd && part.isLast, isEnd ? this.#partWritten : this.#written);
    }
    socket.uncork();
    if (this.#waiting.length === 0) this.#ended?.();
    return bytes;
  };

  readonly #partWritten = (): void => {
    // Parts are taken in the order in which they were sent.
    const memory = this.#sentMemory.shift();
    if (memory !== undefined) this.#parts.outflow.release(memory);
    this.#written();
  };

  readonly #written = (): void => {
    if (this.#isClosed) return;
    if (this.#waiting.length > 0) this.#wake();
    else if (this.unreadBytes === 0) this.#watch(false);
    this.#parts.progressed();
  };
}
