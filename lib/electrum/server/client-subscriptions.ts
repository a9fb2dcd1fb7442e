// The subscriptions of one client, and its notifications.

import { keyOf, keyOfOutpoint, toDisplayHex } from '../../bitcoin/hash';
import { TooManySubscriptionsError, type ClientSubscriptionMemory } from '../../server/bounds/subscription-memory';
import { CODES, ElectrumError } from '../errors';
import { outpointText } from '../outpoint-text';
import type { OutpointListener, OutpointNotifier } from '../../answers/outpoints/outpoint-notifier';
import type { OutpointStatus } from '../../answers/outpoints/outpoint-status';
import type { Outpoint } from '../../bitcoin/transaction';
import type { StatusNotifier } from '../../answers/status/status-notifier';
import type { StatusChange, StatusListener } from '../../answers/status/subscribed-script';
import type { TipListener, TipNotifier } from '../../answers/updates/tip-notifier';
import type { HeaderRecord } from '../../index/types';
import type { Client } from '../../turns/client';
import type { NotifiedClient, ScriptMethod, ScriptStatus, Subscriptions } from '../method';

/** What clients can subscribe to. */
export interface Notifiers {
  readonly tips: TipNotifier;
  readonly statuses: StatusNotifier;
  readonly outpoints: OutpointNotifier;
}

/** What the notifications about tips are about. */
const TIPS = 'tips';

const BY_HASH = 'blockchain.scripthash.subscribe';

const UPPER_CASE = /[A-F]/;

/** `status`: as a latin1 string; empty: the script has no transactions. */
const bytesOf = (status: string): ScriptStatus => (status === '' ? undefined : Buffer.from(status, 'latin1'));

export interface SubscriptionLimits {
  /** The most scripts and outpoints of one client. */
  readonly maxSubscriptions: number;
  /** The most transactions of a script that clients may subscribe to. */
  readonly maxHistory: number;
}

/** Requests for one subscription that are being answered. */
interface Answering {
  count: number;
  /** Whether there is no subscription if all of them fail. */
  isNew: boolean;
  /** The notification that is sent afterwards. */
  send: (() => void) | undefined;
}

export class ClientSubscriptions implements Subscriptions, StatusListener, TipListener, OutpointListener {
  readonly #notifiers: Notifiers;
  readonly #client: NotifiedClient;
  readonly #limits: SubscriptionLimits;
  readonly #memory: ClientSubscriptionMemory;
  /** The client's name for each script, by the script's SHA-256, one character a byte; undefined for a hash in lower case. */
  readonly #names = new Map<string, string | undefined>();
  /** Scripts to which the client has subscribed by another method than that for hashes. */
  readonly #methods = new Map<string, ScriptMethod>();
  /** By key. */
  readonly #outpoints = new Map<string, Outpoint>();
  /** By script, and by the key of an outpoint. */
  readonly #answering = new Map<string, Answering>();
  #hasTips = false;
  #isClosed = false;

  constructor(notifiers: Notifiers, client: NotifiedClient, memory: ClientSubscriptionMemory, limits: SubscriptionLimits) {
    this.#notifiers = notifiers;
    this.#client = client;
    this.#memory = memory;
    this.#limits = limits;
  }

  get isEmpty(): boolean {
    return !this.#hasTips && this.#names.size + this.#outpoints.size === 0;
  }

  addHeaders(known: HeaderRecord): void {
    if (this.#isClosed) return;
    this.#hasTips = true;
    this.#notifiers.tips.add(this, known);
    this.#client.withdraw(TIPS);
  }

  addScript(
    script: Buffer,
    name: string,
    worked?: (transactions: number) => void,
    method: ScriptMethod = BY_HASH
  ): ScriptStatus | Promise<ScriptStatus> {
    const { maxHistory } = this.#limits;
    const key = keyOf(script);
    const isNew = !this.#names.has(key);
    if (isNew) this.#take();
    this.#names.set(key, UPPER_CASE.test(name) ? name : undefined);
    if (method === BY_HASH) this.#methods.delete(key);
    else this.#methods.set(key, method);
    try {
      const adding = this.#notifiers.statuses.add(key, this, maxHistory, worked);
      return adding instanceof Promise ? this.#addLater(key, adding, isNew) : this.#added(key, adding);
    } catch (error) {
      if (isNew) this.#forget(key);
      throw error;
    }
  }

  async #addLater(key: string, adding: Promise<string>, isNew: boolean): Promise<ScriptStatus> {
    const answering = this.#beginAnswer(key, isNew);
    try {
      return this.#added(key, await adding);
    } catch (error) {
      if (isLastOf(answering)) this.#forget(key);
      throw error;
    } finally {
      this.#endAnswer(key, answering);
    }
  }

  #added(key: string, status: string): ScriptStatus {
    this.#noteAnswered(key);
    // The client has gone or unsubscribed meanwhile.
    if (this.#isClosed || !this.#names.has(key)) this.#notifiers.statuses.delete(key, this);
    return bytesOf(status);
  }

  removeScript(script: Buffer): boolean {
    const key = keyOf(script);
    this.#notifiers.statuses.delete(key, this);
    this.#client.withdraw(key);
    return this.#forget(key);
  }

  statusOf(script: Buffer, worked: (transactions: number) => void): ScriptStatus | Promise<ScriptStatus> {
    const status = this.#notifiers.statuses.statusOf(keyOf(script), this.#limits.maxHistory, worked);
    return status instanceof Promise ? status.then(bytesOf) : bytesOf(status);
  }

  async addOutpoint(outpoint: Outpoint, client: Client, worked: (rows: number) => void): Promise<string> {
    const key = keyOfOutpoint(outpoint.txid, outpoint.index);
    const isNew = !this.#outpoints.has(key);
    if (isNew) this.#take();
    this.#outpoints.set(key, outpoint);
    const answering = this.#beginAnswer(key, isNew);
    try {
      const status = await this.#notifiers.outpoints.add(outpoint, this, client, worked);
      this.#noteAnswered(key);
      if (this.#isClosed || !this.#outpoints.has(key)) this.#notifiers.outpoints.delete(outpoint, this);
      return outpointText(status);
    } catch (error) {
      if (isLastOf(answering) && this.#outpoints.delete(key)) this.#memory.giveBack();
      throw error;
    } finally {
      this.#endAnswer(key, answering);
    }
  }

  removeOutpoint(outpoint: Outpoint): boolean {
    const key = keyOfOutpoint(outpoint.txid, outpoint.index);
    this.#notifiers.outpoints.delete(outpoint, this);
    this.#client.withdraw(key);
    const isThere = this.#outpoints.delete(key);
    if (isThere) this.#memory.giveBack();
    return isThere;
  }

  /** Ends all subscriptions. */
  close(): void {
    this.#isClosed = true;
    this.#memory.close();
    this.#notifiers.tips.delete(this);
    this.#notifiers.statuses.leave(this.#names.keys(), this);
    this.#notifiers.outpoints.leave(this.#outpoints.values(), this);
  }

  changed(change: StatusChange): void {
    this.#afterAnswer(change.script, () => {
      if (this.#names.has(change.script)) this.#notify(change);
    });
  }

  outpointChanged(outpoint: Outpoint, status: OutpointStatus): void {
    const key = keyOfOutpoint(outpoint.txid, outpoint.index);
    this.#afterAnswer(key, () => {
      if (!this.#outpoints.has(key)) return;
      const params = `["${toDisplayHex(outpoint.txid)}",${outpoint.index},${outpointText(status)}]`;
      this.#client.notify('blockchain.outpoint.subscribe', params, key);
    });
  }

  tipChanged({ header, height }: HeaderRecord): void {
    this.#client.notify('blockchain.headers.subscribe', JSON.stringify([{ hex: header.toString('hex'), height }]), TIPS);
  }

  failed(error: unknown): void {
    this.#client.failed(error);
  }

  /** @throws ElectrumError when the client has as many subscriptions as it may have, or there is no memory for a further one */
  #take(): void {
    const { maxSubscriptions } = this.#limits;
    if (this.#names.size + this.#outpoints.size >= maxSubscriptions)
      throw new ElectrumError(CODES.badRequest, `too many subscriptions: at most ${maxSubscriptions} scripts and outpoints`);
    try {
      this.#memory.take();
    } catch (error) {
      throw error instanceof TooManySubscriptionsError ? new ElectrumError(CODES.badRequest, error.message) : error;
    }
  }

  /** Whether there was such a subscription. */
  #forget(key: string): boolean {
    const isThere = this.#names.delete(key);
    this.#methods.delete(key);
    if (isThere) this.#memory.giveBack();
    return isThere;
  }

  /** Notifies now, or once a subscription to the same thing was answered. */
  #afterAnswer(key: string, send: () => void): void {
    if (this.#isClosed) return;
    const answering = this.#answering.get(key);
    if (answering === undefined) send();
    else answering.send = send;
  }

  #beginAnswer(key: string, isNew: boolean): Answering {
    const answering = this.#answering.get(key) ?? { count: 0, isNew, send: undefined };
    answering.count++;
    answering.isNew ||= isNew;
    this.#answering.set(key, answering);
    return answering;
  }

  #noteAnswered(key: string): void {
    const answering = this.#answering.get(key);
    // A change that came meanwhile is older than this answer.
    if (answering !== undefined) Object.assign(answering, { isNew: false, send: undefined });
    this.#client.withdraw(key);
  }

  /** The answer is sent in this turn, and a newer status must not be sent before it. */
  #endAnswer(key: string, answering: Answering): void {
    answering.count--;
    setImmediate(() => {
      if (answering.count > 0 || this.#answering.get(key) !== answering) return;
      this.#answering.delete(key);
      if (!this.#isClosed) answering.send?.();
    });
  }

  #notify({ script, status }: StatusChange): void {
    const name = this.#names.get(script) ?? toDisplayHex(Buffer.from(script, 'latin1'));
    const text = status === '' ? null : Buffer.from(status, 'latin1').toString('hex');
    this.#client.notify(this.#methods.get(script) ?? BY_HASH, JSON.stringify([name, text]), script);
  }
}

/** Whether the subscription ends with this request, which has failed: others may still be answered, or have been. */
const isLastOf = ({ count, isNew }: Answering): boolean => count === 1 && isNew;
