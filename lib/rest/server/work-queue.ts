// Worker slots and the queue before them (contract part 8: rpcthreads, rpcworkqueue), in two
// lanes: whole blocks and other heavy work never take the last slot, nor a place from small
// requests. A slot is held while a reply is being made, not while its client sends or reads.
// Why it is so, and not p-limit: docs/decisions/work-queue.md.

import { ClientGoneError, queueFull, unavailable } from '../errors';

/** A client that may lose patience. */
export interface Waiting {
  readonly isGone: boolean;
}

/** Work that takes milliseconds is heavy. */
export type Lane = 'small' | 'heavy';

interface Waiter {
  readonly client: Waiting;
  start(): void;
  refuse(reason: Error): void;
}

type Waiters = Readonly<Record<Lane, Waiter[]>>;

const otherLane = (lane: Lane): Lane => lane === 'small' ? 'heavy' : 'small';

export class WorkQueue {
  private readonly busy: Record<Lane, number> = { small: 0, heavy: 0 };
  private readonly heavySlots: number;
  private closed = false;
  private readonly waiters: Waiters = { small: [], heavy: [] };
  /** Whose turn it is when both wait. */
  private next: Lane = 'small';

  /** `slots`: pieces of work at a time. `depth`: how many more may wait. */
  constructor(private readonly slots: number, private readonly depth: number) {
    this.heavySlots = Math.max(1, slots - 1);
  }

  /**
   * Runs `work` for the client when a slot is free. Work that returns no promise and need not
   * wait is answered without one.
   * @throws RestError when the queue is full or closed; ClientGoneError, in the promise, when
   * the client left before its turn.
   */
  run<C extends Waiting, R>(client: C, work: (client: C) => R | Promise<R>, lane: Lane): R | Promise<R> {
    if (this.closed) throw unavailable('shutting down');
    if (!this.hasSlot(lane)) return this.waitAndRun(client, work, lane);
    this.busy[lane]++;
    return this.runInSlot(client, work, lane);
  }

  /** Refuses those who wait, and everybody after them. */
  close(): void {
    this.closed = true;
    for (const lane of [this.waiters.small, this.waiters.heavy])
      for (const waiter of lane.splice(0)) waiter.refuse(unavailable('shutting down'));
  }

  private hasSlot(lane: Lane): boolean {
    const { small, heavy } = this.busy;
    return small + heavy < this.slots && (lane === 'small' || heavy < this.heavySlots);
  }

  private async waitAndRun<C extends Waiting, R>(client: C, work: (client: C) => R | Promise<R>, lane: Lane): Promise<R> {
    this.makeRoom(lane);
    await new Promise<void>((start, refuse) => { this.waiters[lane].push({ client, start, refuse }); });
    return this.runInSlot(client, work, lane);
  }

  /** A place for one more: of somebody who left, or for small requests that of the youngest heavy one. @throws RestError */
  private makeRoom(lane: Lane): void {
    const { small, heavy } = this.waiters;
    const isFull = (): boolean => small.length + heavy.length >= this.depth;
    if (!isFull()) return;
    dropGone(small);
    dropGone(heavy);
    if (!isFull()) return;
    const displaced = lane === 'small' ? heavy.pop() : undefined;
    if (displaced === undefined) throw queueFull();
    displaced.refuse(queueFull());
  }

  /** Runs in a slot that is already taken, and frees it. */
  private runInSlot<C extends Waiting, R>(client: C, work: (client: C) => R | Promise<R>, lane: Lane): R | Promise<R> {
    let result;
    try {
      result = work(client);
    } catch (error) {
      this.release(lane);
      throw error;
    }
    if (result instanceof Promise) return result.finally(() => { this.release(lane); });
    this.release(lane);
    return result;
  }

  /** Frees the slot and hands it to whoever is next and still there. */
  private release(lane: Lane): void {
    this.busy[lane]--;
    if (this.waiters.small.length + this.waiters.heavy.length === 0) return;
    if (!this.startOne(this.next)) this.startOne(otherLane(this.next));
  }

  /** Whether there was somebody for whom there is a slot. */
  private startOne(lane: Lane): boolean {
    if (!this.hasSlot(lane)) return false;
    dropGone(this.waiters[lane]);
    const waiter = this.waiters[lane].shift();
    if (waiter === undefined) return false;
    this.busy[lane]++;
    this.next = otherLane(lane);
    waiter.start();
    return true;
  }
}

function dropGone(waiters: Waiter[]): void {
  for (const waiter of waiters.splice(0)) {
    if (waiter.client.isGone) waiter.refuse(new ClientGoneError('the client left before its turn'));
    else waiters.push(waiter);
  }
}
