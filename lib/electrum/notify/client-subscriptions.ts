// The subscriptions of one client, and its notifications.

import { toDisplayHex } from '../../bitcoin/hash';
import { TooManySubscriptionsError, type ClientSubscriptionMemory } from '../../server/bounds/subscription-memory';
import { CODES, ElectrumError } from '../errors';
import type { StatusNotifier } from '../../answers/status/status-notifier';
import type { StatusChange, StatusListener } from '../../answers/status/subscribed-script';
import type { TipListener, TipNotifier } from '../../answers/updates/tip-notifier';
import type { HeaderRecord } from '../../index/types';
import type { ScriptStatus, Subscriptions } from '../method';

/** What clients can subscribe to. */
export interface Notifiers {
  readonly tips: TipNotifier;
  readonly statuses: StatusNotifier;
}

/** A client that is sent notifications. `about`: a script's SHA-256, one character a byte, or `TIPS`. */
export interface NotifiedClient {
  /** `params`: JSON text. Replaces a notification about the same thing that has not been sent yet. */
  notify(method: string, params: string, about: string): void;
  /** Drops a notification that has not been sent yet, because the client gets a newer answer. */
  withdraw(about: string): void;
  /** The client was not notified of something. */
  failed(error: unknown): void;
}

const TIPS = 'tips';

const UPPER_CASE = /[A-F]/;

export interface SubscriptionLimits {
  /** The most scripts of one client. */
  readonly maxSubscriptions: number;
  /** The most transactions of a script that clients may subscribe to. */
  readonly maxHistory: number;
}

export class ClientSubscriptions implements Subscriptions, StatusListener, TipListener {
  readonly #notifiers: Notifiers;
  readonly #client: NotifiedClient;
  readonly #limits: SubscriptionLimits;
  readonly #memory: ClientSubscriptionMemory;
  /** The client's name for each script, by the script's SHA-256, one character a byte; undefined for a hash in lower case. */
  readonly #names = new Map<string, string | undefined>();
  /** Scripts whose subscription is being answered, each with the change of which the client is notified afterwards. */
  readonly #answering = new Map<string, StatusChange | undefined>();
  #hasTips = false;
  #isClosed = false;

  constructor(notifiers: Notifiers, client: NotifiedClient, memory: ClientSubscriptionMemory, limits: SubscriptionLimits) {
    this.#notifiers = notifiers;
    this.#client = client;
    this.#memory = memory;
    this.#limits = limits;
  }

  get isEmpty(): boolean {
    return !this.#hasTips && this.#names.size === 0;
  }

  addHeaders(known: HeaderRecord): void {
    if (this.#isClosed) return;
    this.#hasTips = true;
    this.#notifiers.tips.add(this, known);
    this.#client.withdraw(TIPS);
  }

  addScript(script: Buffer, name: string, worked?: (transactions: number) => void): ScriptStatus | Promise<ScriptStatus> {
    const { maxSubscriptions, maxHistory } = this.#limits;
    const key = script.toString('latin1');
    const isNew = !this.#names.has(key);
    if (isNew && this.#names.size >= maxSubscriptions)
      throw new ElectrumError(CODES.badRequest, `too many subscriptions: at most ${maxSubscriptions} scripts`);
    if (isNew) this.#take();
    this.#names.set(key, UPPER_CASE.test(name) ? name : undefined);
    try {
      const adding = this.#notifiers.statuses.add(key, this, maxHistory, worked);
      return adding instanceof Promise ? this.#addLater(key, adding, isNew) : this.#added(key, adding);
    } catch (error) {
      if (isNew) this.#forget(key);
      throw error;
    }
  }

  async #addLater(key: string, adding: Promise<string>, isNew: boolean): Promise<ScriptStatus> {
    this.#answering.set(key, undefined);
    try {
      return this.#added(key, await adding);
    } catch (error) {
      if (isNew) this.#forget(key);
      throw error;
    } finally {
      // The answer is sent in this turn, and a newer status must not be sent before it.
      setImmediate(() => this.#release(key));
    }
  }

  #added(key: string, status: string): ScriptStatus {
    // A change that came meanwhile is older than this status.
    if (this.#answering.has(key)) this.#answering.set(key, undefined);
    this.#client.withdraw(key);
    // The client has gone or unsubscribed meanwhile.
    if (this.#isClosed || !this.#names.has(key)) this.#notifiers.statuses.delete(key, this);
    return status === '' ? undefined : Buffer.from(status, 'latin1');
  }

  removeScript(script: Buffer): boolean {
    const key = script.toString('latin1');
    this.#notifiers.statuses.delete(key, this);
    this.#client.withdraw(key);
    return this.#forget(key);
  }

  /** Ends all subscriptions. */
  close(): void {
    this.#isClosed = true;
    this.#memory.close();
    this.#notifiers.tips.delete(this);
    this.#notifiers.statuses.leave(this.#names.keys(), this);
  }

  changed(change: StatusChange): void {
    if (this.#isClosed) return;
    if (this.#answering.has(change.script)) this.#answering.set(change.script, change);
    else this.#notify(change);
  }

  tipChanged({ header, height }: HeaderRecord): void {
    this.#client.notify('blockchain.headers.subscribe', JSON.stringify([{ hex: header.toString('hex'), height }]), TIPS);
  }

  failed(error: unknown): void {
    this.#client.failed(error);
  }

  /** @throws ElectrumError when there is no memory for a further subscription */
  #take(): void {
    try {
      this.#memory.take();
    } catch (error) {
      throw error instanceof TooManySubscriptionsError ? new ElectrumError(CODES.badRequest, error.message) : error;
    }
  }

  /** Whether there was such a subscription. */
  #forget(key: string): boolean {
    const isThere = this.#names.delete(key);
    if (isThere) this.#memory.giveBack();
    return isThere;
  }

  #release(key: string): void {
    const change = this.#answering.get(key);
    this.#answering.delete(key);
    if (change !== undefined && !this.#isClosed && this.#names.has(key)) this.#notify(change);
  }

  #notify({ script, status }: StatusChange): void {
    const name = this.#names.get(script) ?? toDisplayHex(Buffer.from(script, 'latin1'));
    const text = status === '' ? null : Buffer.from(status, 'latin1').toString('hex');
    this.#client.notify('blockchain.scripthash.subscribe', JSON.stringify([name, text]), script);
  }
}
