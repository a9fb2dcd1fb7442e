// The orders for whose scripts blocks and pool are searched, in memory: their scripts, the end of the search, and outputs seen in
// the pool. Outputs in blocks are in the records.

import { isPaid, outpointKey, type PayingOutput } from '../../payments/rules/payment';
import { payableOutputs } from '../../payments/rules/request';
import { detailsOf, settling, type StoredRequest } from './record';

/** How long blocks and pool are searched for an order after its expiry, its creation, its last Payment, or the last block that paid it. */
const WATCH_MS = 90 * 24 * 3_600_000;

/** Outputs in the pool that are remembered for an order, the largest: anybody can send dust. */
const MOST_SEEN = 256;

/**
 * The standing of the Payments that settle an order. `none`: none has come. `doubt`: they are looked after. `conflicted`: a transaction in
 * the chain excludes them. `final`: they are so deep that they stay.
 */
export type Settlement = 'none' | 'doubt' | 'conflicted' | 'final';

interface WatchedOrder {
  readonly scripts: readonly string[];
  /** Unix milliseconds. */
  readonly until: number;
  settlement: Settlement;
  /** Outputs that were in the pool when they were last looked at, by outpoint. */
  readonly seen: Map<string, PayingOutput>;
  /** The last message to the operator about the order. */
  lastMessage?: string;
}

/** Is told what happens to watched orders: something about them may have changed. Its methods must not throw. */
export interface OrderObserver {
  /** The record was read at start, or written. */
  followed(stored: StoredRequest): void;
  /** An output entered or left the pool. */
  touched(id: string): void;
  /** The order is watched no longer. */
  left(id: string): void;
}

export class OrderWatch {
  readonly #observer: OrderObserver | undefined;
  readonly #orders = new Map<string, WatchedOrder>();
  readonly #byScript = new Map<string, Set<string>>();
  /** Orders with something in `seen`. */
  readonly #seen = new Set<string>();

  constructor(observer: OrderObserver | undefined) {
    this.#observer = observer;
  }

  get isEmpty(): boolean {
    return this.#orders.size === 0;
  }

  has(id: string): boolean {
    return this.#orders.has(id);
  }

  /** Begins to watch an order, or updates it from its record. */
  follow(stored: StoredRequest): void {
    const { id } = stored;
    const before = this.#orders.get(id);
    const scripts = before?.scripts ?? payableOutputs(detailsOf(stored)).outputs.map(({ script }) => keyOf(script));
    const settlement = settling(stored).length === 0 ? 'none' : 'doubt';
    this.#orders.set(id, { seen: new Map(), ...before, scripts, until: watchedUntil(stored), settlement });
    for (const script of scripts) {
      const ids = this.#byScript.get(script);
      if (ids) ids.add(id);
      else this.#byScript.set(script, new Set([id]));
    }
    this.#observer?.followed(stored);
  }

  leave(id: string): void {
    for (const script of this.#orders.get(id)?.scripts ?? []) {
      const ids = this.#byScript.get(script);
      ids?.delete(id);
      if (ids?.size === 0) this.#byScript.delete(script);
    }
    this.#orders.delete(id);
    this.#seen.delete(id);
    this.#observer?.left(id);
  }

  /** The orders that ask for a script. */
  askers(script: Buffer): ReadonlySet<string> | undefined {
    return this.#byScript.get(keyOf(script));
  }

  /** Orders with Payments that are in doubt or excluded. */
  get unsettled(): string[] {
    return this.#which(({ settlement }) => settlement === 'doubt' || settlement === 'conflicted');
  }

  /** Orders that no longer need to be watched. */
  over(now: Date): string[] {
    return this.#which((order) => isOver(order, now));
  }

  isOver(id: string, now: Date): boolean {
    const order = this.#orders.get(id);
    return order !== undefined && isOver(order, now);
  }

  settle(id: string, settlement: Settlement): void {
    const order = this.#orders.get(id);
    if (order) order.settlement = settlement;
  }

  /** Notes an output that is in the pool. */
  seenInPool(output: PayingOutput): void {
    for (const id of this.askers(output.script) ?? []) {
      const seen = this.#orders.get(id)?.seen;
      if (seen === undefined) continue;
      seen.set(outpointKey(output), output);
      if (seen.size > MOST_SEEN) seen.delete(smallestOf(seen));
      this.#seen.add(id);
      this.#observer?.touched(id);
    }
  }

  /** Whether it is in a block now, or in none, is for those to find out who are told. */
  leftPool({ script }: PayingOutput): void {
    for (const id of this.askers(script) ?? []) this.#observer?.touched(id);
  }

  forget(id: string, output: Pick<PayingOutput, 'txid' | 'index'>): void {
    const seen = this.#orders.get(id)?.seen;
    seen?.delete(outpointKey(output));
    if (seen?.size === 0) this.#seen.delete(id);
    this.#observer?.touched(id);
  }

  outputsInPool(id: string): PayingOutput[] {
    return [...(this.#orders.get(id)?.seen.values() ?? [])];
  }

  /** Orders with outputs that were seen in the pool. */
  get ordersInPool(): string[] {
    return [...this.#seen];
  }

  /** Whether `text` differs from the last message about the order. */
  isNewMessage(id: string, text: string | undefined): boolean {
    const order = this.#orders.get(id);
    if (order === undefined || order.lastMessage === text) return false;
    if (text === undefined) delete order.lastMessage;
    else order.lastMessage = text;
    return text !== undefined;
  }

  #which(test: (order: WatchedOrder) => boolean): string[] {
    return [...this.#orders].filter(([, order]) => test(order)).map(([id]) => id);
  }
}

function isOver({ until, settlement }: WatchedOrder, now: Date): boolean {
  return until < now.getTime() && settlement !== 'doubt';
}

/** The key of the output with the least satoshis, the newest of several. */
function smallestOf(outputs: ReadonlyMap<string, PayingOutput>): string {
  let key = '';
  let least: bigint | undefined;
  for (const [other, { amount }] of outputs) if (least === undefined || amount <= least) [key, least] = [other, amount];
  return key;
}

function keyOf(script: Buffer): string {
  return script.toString('latin1');
}

/** Unix milliseconds. An order without an expiry can be paid until it has been paid. */
function watchedUntil(stored: StoredRequest): number {
  const details = detailsOf(stored);
  const { createdAt, payments, received } = stored;
  const isSettled = settling(stored).length > 0 || isPaid(payableOutputs(details).outputs, received);
  const lastMoment = details.expires === undefined ? (isSettled ? 0 : Infinity) : Number(details.expires) * 1_000;
  return Math.max(lastMoment, createdAt.getTime(), ...[...payments, ...received].map(({ receivedAt }) => receivedAt.getTime())) + WATCH_MS;
}
