// Worker slots and the queue before them (contract part 8: rpcthreads, rpcworkqueue). A slot
// is held while a reply is being made, not while its client sends or reads. Why this is not
// p-limit: docs/decisions/work-queue.md.

import { ClientGoneError, queueFull, unavailable } from './errors';

/** A client that may lose patience. */
export interface Waiting {
  readonly isGone: boolean;
}

interface Waiter {
  readonly client: Waiting;
  start(): void;
  refuse(reason: Error): void;
}

export class WorkQueue {
  private busy = 0;
  private closed = false;
  private readonly waiters: Waiter[] = [];

  /** `slots`: pieces of work at a time. `depth`: how many more may wait. */
  constructor(private readonly slots: number, private readonly depth: number) {}

  /**
   * Runs `work` for the client when a slot is free. Work that returns no promise and need not
   * wait is answered without one.
   * @throws RestError when the queue is full or closed; ClientGoneError, in the promise, when
   * the client left before its turn.
   */
  run<C extends Waiting, R>(client: C, work: (client: C) => R | Promise<R>): R | Promise<R> {
    if (this.closed) throw unavailable('shutting down');
    if (this.busy === this.slots) return this.waitAndRun(client, work);
    this.busy++;
    return this.runInSlot(client, work);
  }

  /** Refuses those who wait, and everybody after them. */
  close(): void {
    this.closed = true;
    for (const waiter of this.waiters.splice(0)) waiter.refuse(unavailable('shutting down'));
  }

  private async waitAndRun<C extends Waiting, R>(client: C, work: (client: C) => R | Promise<R>): Promise<R> {
    if (this.waiters.length >= this.depth && !this.dropGone()) throw queueFull();
    await new Promise<void>((start, refuse) => { this.waiters.push({ client, start, refuse }); });
    return this.runInSlot(client, work);
  }

  /** Takes those who left out of the queue; whether there were any. */
  private dropGone(): boolean {
    const before = this.waiters.splice(0);
    for (const waiter of before) {
      if (waiter.client.isGone) waiter.refuse(leftTooEarly());
      else this.waiters.push(waiter);
    }
    return this.waiters.length < before.length;
  }

  /** Runs in a slot that is already taken, and frees it. */
  private runInSlot<C extends Waiting, R>(client: C, work: (client: C) => R | Promise<R>): R | Promise<R> {
    let result;
    try {
      result = work(client);
    } catch (error) {
      this.release();
      throw error;
    }
    if (result instanceof Promise) return result.finally(() => { this.release(); });
    this.release();
    return result;
  }

  /** Hands the slot to whoever is next and still there. */
  private release(): void {
    for (let waiter = this.waiters.shift(); waiter !== undefined; waiter = this.waiters.shift()) {
      if (!waiter.client.isGone) {
        waiter.start();
        return;
      }
      waiter.refuse(leftTooEarly());
    }
    this.busy--;
  }
}

const leftTooEarly = (): ClientGoneError => new ClientGoneError('the client left before its turn');
