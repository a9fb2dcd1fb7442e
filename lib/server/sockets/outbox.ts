// Replies and notifications on their way to one client. They are sent in pieces, with turns of the event loop in between, since all other
// work waits while the operating system copies megabytes. For the same reason clients that are notified together take turns. Bytes that a
// client has yet to read count with the replies of REST.

import type { Socket } from 'node:net';
import type { ReadSocket, SlowReaders } from '../bounds/slow-readers';

/** Bytes that are handed over before the operating system has taken them. */
const AHEAD_BYTES = 256 * 1_024;

/** How many bytes are handed over in one turn of the event loop, and for how long. */
const TURN_BYTES = 4 * AHEAD_BYTES;
const TURN_MS = 1;

/** A client with more unread bytes than this is cut off when it is notified. */
export const MOST_UNREAD_NOTIFICATION_BYTES = 32_000_000;

/** While a client has more than this to read, no further replies are made for it. */
export const MOST_UNREAD_BYTES = 256 * 1_024;

/** This limit while all clients together have too much to read. */
export const FEW_UNREAD_BYTES = 64 * 1_024;

/** Counts what waits to be read, by the clients of every protocol. */
export interface Outflow {
  /** True while no further large reply may be made. */
  readonly isFull: boolean;
  /** Counts memory until it is released as often as it was held. However many clients have yet to read it, it counts once. */
  hold(memory: ArrayBufferLike): void;
  release(memory: ArrayBufferLike): void;
  /** Bytes that were handed over to clients whose connections stay open. */
  othersSentBytes: number;
  /** Notifications for such clients. */
  notifications: number;
  /** Clients that have something to read. */
  readonly slowReaders: Pick<SlowReaders, 'watch' | 'unwatch'>;
  /** Counts bytes that are not handed over yet; negative when they were or are dropped. */
  countOthers(bytes: number): void;
}

/** UTF-8. Short texts are given as strings: one call hands over many of them. */
export type Bytes = string | Buffer;

/** A message, whole or in parts. Many clients may share the memory of its buffers. */
export type OutboundMessage = string | readonly Bytes[];

/** A part of a message. `isLast`: the message ends with it. */
export interface Part {
  readonly bytes: Bytes;
  readonly isLast: boolean;
}

/** A string is a whole message. */
export type Piece = string | Part;

export const bytesOf = (piece: Piece): Bytes => (typeof piece === 'string' ? piece : piece.bytes);

export const partOf = (piece: Piece): Part => (typeof piece === 'string' ? { bytes: piece, isLast: true } : piece);

export interface OutboxParts {
  /** The client's connection. The operating system has not taken the bytes that wait in it. */
  readonly socket: ReadSocket & Pick<Socket, 'destroyed'>;
  /** Hands over pieces, one after the other. `written`: to be called once the operating system has all of them. */
  readonly write: (pieces: readonly Piece[], written: () => void) => void;
  readonly outflow: Pick<Outflow, 'hold' | 'release' | 'slowReaders' | 'countOthers' | 'othersSentBytes'>;
  /** Called when the client has taken something. */
  readonly progressed: () => void;
}

export class Outbox {
  readonly #parts: OutboxParts;
  /** Messages one after the other. */
  #waiting: Piece[] = [];
  /** Bytes of the first one that were handed over. */
  #sent = 0;
  /** Bytes of all that were not handed over. */
  #bytes = 0;
  /** What was handed over in each turn, and was not taken by the operating system. */
  readonly #handedOver: (readonly Piece[])[] = [];
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

  /** Dropped once the client has gone, and after `end`. */
  add(message: OutboundMessage): void {
    if (this.#isClosed || this.#ended !== undefined) return;
    if (typeof message === 'string') this.#push(message);
    else for (let i = 0; i < message.length; i++) this.#push({ bytes: message[i] as Bytes, isLast: i === message.length - 1 }); // below the length
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
    for (const pieces of [...this.#handedOver, this.#waiting]) this.#release(pieces);
    this.#handedOver.length = this.#waiting.length = 0;
  }

  #push(piece: Piece): void {
    this.#waiting.push(piece);
    this.#bytes += lengthOf(piece);
    const bytes = bytesOf(piece);
    if (typeof bytes === 'string') this.#parts.outflow.countOthers(bytes.length);
    else this.#parts.outflow.hold(bytes.buffer);
  }

  /** To be called for what the client has taken, or will never take. */
  #release(pieces: readonly Piece[]): void {
    const { outflow } = this.#parts;
    for (const piece of pieces) {
      const bytes = bytesOf(piece);
      if (typeof bytes === 'string') outflow.countOthers(-bytes.length);
      else if (!(piece instanceof Cut)) outflow.release(bytes.buffer);
    }
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
    const { socket, write, outflow } = this.#parts;
    if (this.#isClosed || socket.destroyed) return 0;
    const before = this.#bytes;
    if (this.#waiting.length > 0 && socket.writableLength < AHEAD_BYTES) {
      const pieces = this.#taken();
      this.#handedOver.push(pieces);
      write(pieces, this.#written);
      this.#watch(this.unreadBytes > 0);
    }
    const bytes = before - this.#bytes;
    outflow.othersSentBytes += bytes;
    if (this.#waiting.length === 0) this.#ended?.();
    return bytes;
  };

  /** Takes out what is handed over at once. */
  #taken(): readonly Piece[] {
    if (this.#sent === 0 && this.#bytes <= AHEAD_BYTES) {
      const all = this.#waiting;
      this.#waiting = [];
      this.#bytes = 0;
      return all;
    }
    const taken: Piece[] = [];
    for (let room = AHEAD_BYTES; room > 0 && this.#waiting.length > 0;) {
      const piece = this.#rest(this.#waiting[0] as Piece, room); // there is one
      taken.push(piece);
      const length = lengthOf(piece);
      this.#bytes -= length;
      room -= length;
      if (piece instanceof Cut) this.#sent += length;
      else {
        this.#waiting.shift();
        this.#sent = 0;
      }
    }
    return taken;
  }

  /** What was not handed over of a piece; a long buffer is cut. */
  #rest(piece: Piece, most: number): Piece {
    if (typeof piece === 'string' || typeof piece.bytes === 'string') return piece;
    const { bytes, isLast } = piece;
    const end = this.#sent + most;
    if (end < bytes.length) return new Cut(bytes.subarray(this.#sent, end));
    return this.#sent === 0 ? piece : { bytes: bytes.subarray(this.#sent), isLast };
  }

  readonly #written = (): void => {
    if (this.#isClosed) return;
    // Pieces are taken in the order in which they were handed over.
    this.#release(this.#handedOver.shift() ?? []);
    if (this.#waiting.length > 0) this.#wake();
    else if (this.unreadBytes === 0) this.#watch(false);
    this.#parts.progressed();
  };
}

/** The beginning or the middle of a long part. */
class Cut implements Part {
  readonly isLast = false;

  constructor(readonly bytes: Buffer) {}
}

/** The length of strings is counted in characters: nearly all have one byte. */
const lengthOf = (piece: Piece): number => bytesOf(piece).length;

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
