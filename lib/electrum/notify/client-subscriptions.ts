// What one client is subscribed to, and how it is told.

import { toDisplayHex } from '../../bitcoin/hash';
import { HistoryTooLongError } from '../../scripts/errors';
import { CODES, ElectrumError } from '../errors';
import type { HeaderRecord } from '../../index/types';
import type { Subscriptions } from '../method';
import type { ScriptNotifier, TipListener } from '../../script-status/script-notifier';
import type { StatusChange, StatusListener } from '../../script-status/subscribed-script';

/** The client, as far as it is told of things by itself. `about`: a script's SHA-256, one character a byte, or `TIPS`. */
export interface ToldClient {
  /** `params`: as JSON text. What was said about the same and is not on its way yet is not said any more. */
  notify(method: string, params: string, about: string): void;
  /** The same, when the client is answered what is newer. */
  withdraw(about: string): void;
}

const TIPS = 'tips';

export interface SubscriptionLimits {
  /** Scripts of one client. */
  readonly maxSubscriptions: number;
  /** Transactions of a script that somebody may subscribe to. */
  readonly maxHistory: number;
}

export class ClientSubscriptions implements Subscriptions, StatusListener, TipListener {
  readonly #notifier: ScriptNotifier;
  readonly #client: ToldClient;
  readonly #limits: SubscriptionLimits;
  /** By the script's SHA-256, one character a byte; the name, where it is not written in lower case. */
  readonly #names = new Map<string, string | undefined>();
  /** Those that are being answered: what the client is to be told afterwards. */
  readonly #answering = new Map<string, StatusChange | undefined>();
  #isClosed = false;

  constructor(notifier: ScriptNotifier, client: ToldClient, limits: SubscriptionLimits) {
    this.#notifier = notifier;
    this.#client = client;
    this.#limits = limits;
  }

  addHeaders(known: HeaderRecord): void {
    if (this.#isClosed) return;
    this.#notifier.addTips(this, known);
    this.#client.withdraw(TIPS);
  }

  async addScript(script: Buffer, name: string, worked?: (transactions: number) => void): Promise<Buffer | undefined> {
    const { maxSubscriptions, maxHistory } = this.#limits;
    const key = script.toString('latin1');
    const isNew = !this.#names.has(key);
    if (isNew && this.#names.size >= maxSubscriptions)
      throw new ElectrumError(CODES.badRequest, `too many subscriptions: at most ${maxSubscriptions} scripts`);
    this.#names.set(key, name === toDisplayHex(script) ? undefined : name);
    this.#answering.set(key, undefined);
    try {
      const status = await this.#notifier.add(key, this, maxHistory, worked);
      // What it was told meanwhile is older.
      this.#answering.set(key, undefined);
      this.#client.withdraw(key);
      // It has left, or taken it back, while it waited.
      if (this.#isClosed || !this.#names.has(key)) this.#notifier.delete(key, this);
      return status === '' ? undefined : Buffer.from(status, 'latin1');
    } catch (error) {
      if (isNew) this.#names.delete(key);
      if (error instanceof HistoryTooLongError) throw new ElectrumError(CODES.badRequest, 'history too large');
      throw error;
    } finally {
      // The answer goes out in this turn, and what is newer must not come before it.
      setImmediate(() => this.#release(key));
    }
  }

  removeScript(script: Buffer): boolean {
    const key = script.toString('latin1');
    this.#notifier.delete(key, this);
    this.#client.withdraw(key);
    return this.#names.delete(key);
  }

  /** Nobody is told any more. */
  close(): void {
    this.#isClosed = true;
    this.#notifier.deleteTips(this);
    this.#notifier.leave(this.#names.keys(), this);
  }

  changed(change: StatusChange): void {
    if (this.#isClosed) return;
    if (this.#answering.has(change.script)) this.#answering.set(change.script, change);
    else this.#tell(change);
  }

  tipChanged({ header, height }: HeaderRecord): void {
    this.#client.notify('blockchain.headers.subscribe', JSON.stringify([{ hex: header.toString('hex'), height }]), TIPS);
  }

  #release(key: string): void {
    const change = this.#answering.get(key);
    this.#answering.delete(key);
    if (change !== undefined && !this.#isClosed && this.#names.has(key)) this.#tell(change);
  }

  #tell({ script, status }: StatusChange): void {
    const name = this.#names.get(script) ?? toDisplayHex(Buffer.from(script, 'latin1'));
    const text = status === '' ? null : Buffer.from(status, 'latin1').toString('hex');
    this.#client.notify('blockchain.scripthash.subscribe', JSON.stringify([name, text]), script);
  }
}
