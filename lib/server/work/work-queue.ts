// Slots for work and the queue before them (`rpcthreads` and `rpcworkqueue` of Bitcoin Core), in two lanes: whole blocks and other
// heavy work never take the last one of several slots, and give up their places in a full queue to small requests. A slot is held while a reply is
// being made, not while its client sends or reads. Why this is not p-limit: docs/decisions/work-queue.md.

import { setImmediate } from 'node:timers/promises';
import { ClientGoneError } from '../../turns/client';
import { queueFull, unavailable } from '../errors';
import { Durations } from '../figures/durations';
import type { Client } from '../../turns/client';

/** Work that takes milliseconds is heavy. */
export type Lane = 'small' | 'heavy';

/** `patient`: may wait even if the queue is full, and takes no place in it. For callers that bound how many of their requests wait. */
export type Patience = 'bounded' | 'patient';

interface Waiter {
  readonly client: Client;
  readonly patience: Patience;
  start(): void;
  refuse(reason: Error): void;
}

const otherLane = (lane: Lane): Lane => (lane === 'small' ? 'heavy' : 'small');

export class WorkQueue {
  /** How long work had to wait for a slot that did not get one at once. */
  readonly waits: Readonly<Record<Lane, Durations>> = { small: new Durations(), heavy: new Durations() };
  /** Requests that were refused because too many waited. */
  refused = 0;
  readonly #slots: number;
  readonly #heavySlots: number;
  readonly #depth: number;
  readonly #busy: Record<Lane, number> = { small: 0, heavy: 0 };
  readonly #waiters: Readonly<Record<Lane, Waiter[]>> = { small: [], heavy: [] };
  /** Heavy work that has waited and begins in a turn of its own: what comes meanwhile must not begin before it. */
  #beginning = 0;
  #closed = false;
  /** The lane whose turn it is when requests wait in both. */
  #next: Lane = 'small';

  /** `slots`: pieces of work at a time. `depth`: how many more may wait. */
  constructor(slots: number, depth: number) {
    this.#slots = slots;
    this.#heavySlots = Math.max(1, slots - 1);
    this.#depth = depth;
  }

  /** How much work is under way, and how much waits, in a lane. */
  load(lane: Lane): { readonly running: number; readonly waiting: number } {
    return { running: this.#busy[lane], waiting: this.#waiters[lane].length };
  }

  /**
   * Runs `work` for the client when a slot is free.
   * @throws HttpError when the queue is full or closed; ClientGoneError when the client left before its turn.
   */
  async run<C extends Client, R>(client: C, work: (client: C) => R | Promise<R>, lane: Lane, patience: Patience = 'bounded'): Promise<R> {
    // Requests that came in the same read as this one may be answered by the next turn.
    if (patience === 'bounded' && !this.#mayBegin(lane) && this.#isFull) await setImmediate();
    if (this.#closed) throw unavailable('shutting down');
    if (this.#mayBegin(lane)) this.#busy[lane]++;
    else await this.#waitForSlot(client, lane, patience);
    try {
      return await work(client);
    } finally {
      this.#release(lane);
    }
  }

  /**
   * As `run` for patient callers, but work that needs no promise is done in this turn if a slot is free: then its result or error comes without
   * a promise.
   */
  runAtOnce<C extends Client, R>(client: C, work: (client: C) => R | Promise<R>, lane: Lane): R | Promise<R> {
    if (this.#closed || !this.#mayBegin(lane)) return this.run(client, work, lane, 'patient');
    this.#busy[lane]++;
    let result: R | Promise<R>;
    try {
      result = work(client);
    } catch (error) {
      this.#release(lane);
      throw error;
    }
    if (result instanceof Promise) return this.#settled(result, lane);
    this.#release(lane);
    return result;
  }

  async #settled<R>(result: Promise<R>, lane: Lane): Promise<R> {
    try {
      return await result;
    } finally {
      this.#release(lane);
    }
  }

  /** Refuses all waiting and all later requests. */
  close(): void {
    this.#closed = true;
    for (const lane of [this.#waiters.small, this.#waiters.heavy])
      for (const waiter of lane.splice(0)) waiter.refuse(unavailable('shutting down'));
  }

  #hasSlot(lane: Lane): boolean {
    const { small, heavy } = this.#busy;
    return small + heavy < this.#slots && (lane === 'small' || heavy < this.#heavySlots);
  }

  /** Whether work that comes now need not wait. */
  #mayBegin(lane: Lane): boolean {
    return this.#hasSlot(lane) && (lane === 'small' || this.#beginning === 0);
  }

  get #isFull(): boolean {
    const { small, heavy } = this.#waiters;
    return [small, heavy].reduce((sum, waiters) => sum + waiters.filter(isBounded).length, 0) >= this.#depth;
  }

  /** Resolves once a slot is taken for the client. @throws HttpError when the queue is full */
  #waitForSlot(client: Client, lane: Lane, patience: Patience): Promise<void> {
    const { small, heavy } = this.#waiters;
    if (patience === 'bounded' && this.#isFull) [small, heavy].forEach(dropGone);
    if (patience === 'bounded' && this.#isFull) {
      // The heavy request that came last gives up its place to a small request.
      const youngest = lane === 'small' ? heavy.findLastIndex(isBounded) : -1;
      this.refused++;
      if (youngest < 0) throw queueFull();
      heavy.splice(youngest, 1)[0]?.refuse(queueFull());
    }
    const since = performance.now();
    return new Promise((resolve, refuse) => {
      const start = (): void => {
        this.waits[lane].count((performance.now() - since) / 1_000);
        resolve();
      };
      this.#waiters[lane].push({ client, patience, start: lane === 'heavy' ? () => void this.#beginNextTurn(start) : start, refuse });
    });
  }

  /** Heavy work that finds everything in memory ends in the turn in which it began: a queue of it would be done in one piece. */
  async #beginNextTurn(start: () => void): Promise<void> {
    this.#beginning++;
    await setImmediate();
    this.#beginning--;
    start();
    // What came meanwhile may have found a slot.
    this.#startOne('heavy');
  }

  /** Frees the slot and hands it to the next waiting client that has not gone. */
  #release(lane: Lane): void {
    this.#busy[lane]--;
    if (this.#waiters.small.length + this.#waiters.heavy.length === 0) return;
    if (!this.#startOne(this.#next)) this.#startOne(otherLane(this.#next));
  }

  /** Starts a request of the lane, if one waits and may have a slot; says whether it did. */
  #startOne(lane: Lane): boolean {
    if (!this.#hasSlot(lane)) return false;
    dropGone(this.#waiters[lane]);
    const waiter = this.#waiters[lane].shift();
    if (waiter === undefined) return false;
    this.#busy[lane]++;
    this.#next = otherLane(lane);
    waiter.start();
    return true;
  }
}

const isBounded = ({ patience }: Waiter): boolean => patience === 'bounded';

function dropGone(waiters: Waiter[]): void {
  for (const waiter of waiters.splice(0)) {
    if (waiter.client.isGone) waiter.refuse(new ClientGoneError('the client left before its turn'));
    else waiters.push(waiter);
  }
}
