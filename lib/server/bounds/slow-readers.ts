// Clients have to read what was sent to them at a minimum rate: until then it takes memory that others could use.

import type { Socket } from 'node:net';

/** What a client's connection tells about what it has taken. */
export type ReadSocket = Pick<Socket, 'writableLength' | 'bytesWritten' | 'destroy'>;

export interface ReadRate {
  /** Bytes that a client has to read in a second, on average over the window. */
  readonly bytesPerSecond: number;
  readonly windowMs: number;
}

/** How often clients are looked at: several times in a window. */
const LOOKS = 10;
const LEAST_LOOK_MS = 10;
const MOST_LOOK_MS = 1_000;

interface Reader {
  /** How many replies wait. */
  replies: number;
  /** Bytes that the client has taken since it connected. */
  taken: number;
  /** Bytes by which the client is ahead of the rate: those of a whole window at most. */
  ahead: number;
}

export class SlowReaders {
  /** Clients that were cut off. */
  cutOff = 0;
  readonly #bytesPerMs: number;
  readonly #mostAhead: number;
  readonly #lookMs: number;
  readonly #readers = new Map<ReadSocket, Reader>();
  #looking: NodeJS.Timeout | undefined;
  #lookedAt = 0;

  constructor({ bytesPerSecond, windowMs }: ReadRate) {
    this.#bytesPerMs = bytesPerSecond / 1_000;
    this.#mostAhead = this.#bytesPerMs * windowMs;
    this.#lookMs = Math.max(LEAST_LOOK_MS, Math.min(MOST_LOOK_MS, windowMs / LOOKS));
  }

  /** Clients with something to read. */
  get size(): number {
    return this.#readers.size;
  }

  /** A reply waits to be read. */
  watch(socket: ReadSocket): void {
    const reader = this.#readers.get(socket);
    if (reader !== undefined) reader.replies++;
    else this.#readers.set(socket, { replies: 1, taken: takenFrom(socket), ahead: this.#mostAhead });
    if (this.#looking !== undefined) return;
    this.#lookedAt = performance.now();
    this.#looking = setInterval(this.#look, this.#lookMs).unref();
  }

  /** A reply was read, or the client has gone. */
  unwatch(socket: ReadSocket): void {
    const reader = this.#readers.get(socket);
    if (reader !== undefined && --reader.replies === 0) this.#readers.delete(socket);
  }

  readonly #look = (): void => {
    const now = performance.now();
    // While the event loop was held, nothing could be written: no client is charged for that.
    const due = Math.min(now - this.#lookedAt, 2 * this.#lookMs) * this.#bytesPerMs;
    this.#lookedAt = now;
    if (this.#readers.size === 0) {
      clearInterval(this.#looking);
      this.#looking = undefined;
    }
    for (const [socket, reader] of this.#readers) {
      const taken = takenFrom(socket);
      // A client that has taken everything so far waits for us.
      reader.ahead = socket.writableLength === 0 ? this.#mostAhead : Math.min(this.#mostAhead, reader.ahead + taken - reader.taken - due);
      reader.taken = taken;
      if (reader.ahead >= 0) continue;
      this.#readers.delete(socket);
      this.cutOff++;
      socket.destroy();
    }
  };
}

interface Handle {
  readonly bytesWritten?: number;
  readonly writeQueueSize?: number;
}

/**
 * Bytes that the operating system has taken. Node has no public figure for a write that is half done; its own socket timeout compares
 * this one (`_onTimeout` in net.js). TLS writes through the connection under it.
 */
function takenFrom(socket: ReadSocket): number {
  const { _parent, _handle } = socket as { _parent?: { _handle?: Handle | null } | null; _handle?: Handle | null };
  const { bytesWritten, writeQueueSize } = _parent?._handle ?? _handle ?? {};
  if (bytesWritten === undefined || writeQueueSize === undefined) return socket.bytesWritten - socket.writableLength;
  return bytesWritten - writeQueueSize;
}
