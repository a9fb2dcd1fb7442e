// The requests of one client that have no reply yet. They wait, small and heavy ones each in their order, or are worked on. Both are bounded,
// and the memory for them is counted.

import type { UnfinishedMessage } from '../../server/bounds/unfinished';
import type { Lane } from '../../server/work/work-queue';
import type { Method } from '../method';
import type { Request } from './message';
import type { Replies } from './replies';

/** As in ElectrumX. */
const MOST_WAITING = 500;

/** Bytes of requests that wait or are worked on. */
const MOST_BYTES = 1_000_000;

/** A request that can be answered. */
export interface Job {
  readonly request: Request;
  readonly method: Method;
  readonly values: readonly unknown[];
  /** Its share of the message's bytes. */
  readonly bytes: number;
  readonly replies: Replies;
  /** Its place in the message. */
  readonly at: number;
}

export class OpenRequests {
  readonly #memory: UnfinishedMessage;
  readonly #waiting: Readonly<Record<Lane, Job[]>> = { small: [], heavy: [] };
  #bytes = 0;
  /** Whether requests are being taken: then their bytes are counted afterwards, without those that were answered at once. */
  #isTaking = false;

  constructor(memory: UnfinishedMessage) {
    this.#memory = memory;
  }

  /** How many wait. */
  get waiting(): number {
    const { small, heavy } = this.#waiting;
    return small.length + heavy.length;
  }

  /** Whether there are so many that no more should be read. */
  get isFull(): boolean {
    return this.waiting > MOST_WAITING || this.#bytes > MOST_BYTES;
  }

  waitsIn(lane: Lane): boolean {
    return this.#waiting[lane].length > 0;
  }

  /** Requests of one message are added until `taken` is called. */
  take(): void {
    this.#isTaking = true;
  }

  taken(): void {
    this.#isTaking = false;
    this.#memory.set(this.#bytes);
  }

  add(job: Job, lane: Lane): void {
    this.#bytes += job.bytes;
    this.#waiting[lane].push(job);
  }

  /** The next one of a lane, which waits no longer. To be called only if `waitsIn`. */
  next(lane: Lane): Job {
    return this.#waiting[lane].shift() as Job;
  }

  /** Releases the memory of one that waits no longer. */
  end({ bytes }: Job): void {
    this.#bytes -= bytes;
    if (!this.#isTaking) this.#memory.set(this.#bytes);
  }

  /** Ends all of a lane that wait: nobody answers them. */
  drop(lane: Lane): void {
    for (const job of this.#waiting[lane].splice(0)) {
      this.end(job);
      job.replies.add(job.at, undefined);
    }
  }
}
