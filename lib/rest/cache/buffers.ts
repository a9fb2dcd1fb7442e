// Memory for long replies that is used again. New memory for each is expensive: the system
// gives its pages one by one, and the collector marks everything for every few of them. A
// room has holders: who makes the reply, the cache, each client on its way. It is free again
// once the last of them has let go. One that never does costs new room and nothing else: the
// collector takes the room, as if nobody had counted.

import { ownMemory, type Allocate } from '../../bitcoin/text-writer';

/** Shorter replies cost the collector little: they have memory of their own, and nobody counts. */
const LEAST_BYTES = 1 << 16;

/** Rooms of a common size fit the next reply too. */
const ROOM_STEP = 1 << 16;

/** A room may be this many times as large as what is wanted. */
const MOST_TOO_LARGE = 2;

/** More free rooms are of no use: three of the largest blocks as JSON. */
const MOST_FREE_BYTES = 36 << 20;

/** Lets go. A second call does nothing. */
export type Release = () => void;

/** Memory for what one reply is made in. */
export interface Making {
  readonly allocate: Allocate;
  /** Lets go of all of it. Who is to have the reply must hold it by then. */
  readonly release: Release;
}

const nothing: Release = () => undefined;

export class ReplyMemory {
  private readonly free: ArrayBufferLike[] = [];
  private freeBytes = 0;
  /** Of the rooms that are not free. */
  private readonly holders = new WeakMap<ArrayBufferLike, number>();

  private readonly mostFreeBytes: number;

  /** `cacheBytes`: no more is kept free than the cache for answers may have. */
  constructor(cacheBytes: number) {
    this.mostFreeBytes = Math.min(cacheBytes, MOST_FREE_BYTES);
  }

  making(): Making {
    const holds: Release[] = [];
    return {
      allocate: (length) => {
        if (length < LEAST_BYTES) return ownMemory(length);
        const room = this.takeFree(length) ?? ownMemory(Math.ceil(length / ROOM_STEP) * ROOM_STEP).buffer;
        this.holders.set(room, 0);
        holds.push(this.holdRoom(room));
        return Buffer.from(room);
      },
      release: () => { for (const release of holds) release(); }
    };
  }

  /** Holds the memory behind bytes that somebody holds; that from elsewhere is left to the collector. */
  hold({ buffer: room }: Buffer): Release {
    return this.holders.has(room) ? this.holdRoom(room) : nothing;
  }

  private holdRoom(room: ArrayBufferLike): Release {
    this.change(room, 1);
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      if (this.change(room, -1) === 0) this.keepFree(room);
    };
  }

  private change(room: ArrayBufferLike, by: number): number {
    const count = (this.holders.get(room) ?? 0) + by;
    this.holders.set(room, count);
    return count;
  }

  private keepFree(room: ArrayBufferLike): void {
    this.holders.delete(room);
    this.free.push(room);
    this.freeBytes += room.byteLength;
    // Those that were freed first have sizes that nobody asks for any more.
    while (this.freeBytes > this.mostFreeBytes) this.freeBytes -= this.free.shift()?.byteLength ?? 0;
  }

  private takeFree(length: number): ArrayBufferLike | undefined {
    // The one freed last may still be in the processor's cache.
    const at = this.free.findLastIndex(({ byteLength }) => byteLength >= length && byteLength <= length * MOST_TOO_LARGE);
    const [room] = at < 0 ? [] : this.free.splice(at, 1);
    this.freeBytes -= room?.byteLength ?? 0;
    return room;
  }
}
