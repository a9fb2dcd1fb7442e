// One client of mempool's WebSocket: its requests, and what it is sent. Its messages are handled one after the other, so that the answer
// to a ping means that everything before the ping is in effect.

import { setTimeout as delay } from 'node:timers/promises';
import { onceLive } from '../../answers/scripts/once-live';
import { refusalOf } from '../../server/refusal';
import { ClientSession } from '../../server/sockets/client-session';
import { ClientGoneError } from '../../turns/client';
import { objectOf, partsOf, type Field } from './messages';
import { readRequest, type PushRequest } from './request';
import { TrackedLists, type TrackingClient } from './tracked-lists';
import type { Observable } from 'rxjs';
import type { AddressPrefixes } from '../../bitcoin/address';
import type { ScriptReader, ScriptSnapshot, ScriptsState } from '../../scripts/types';
import type { Account } from '../../server/bounds/cost';
import type { ClientSubscriptionMemory } from '../../server/bounds/subscription-memory';
import type { ServerLogger } from '../../server/logger';
import type { Connection } from '../../server/sockets/connection';
import type { Outflow } from '../../server/sockets/outbox';
import type { Gate } from '../../server/work/gate';
import type { BlockListener, BlockUpdates } from './block-updates';
import type { ScriptUpdate, ScriptUpdates } from './script-updates';
import type { StatsListener, StatsUpdates } from './stats-updates';
import type { TransactionListener, TransactionUpdates } from './transaction-updates';

/** The cost of reading and writing a message, in points. */
const REQUEST_POINTS = 1;

export interface PushSessionParts {
  readonly scripts: { readonly reader: ScriptReader; readonly state$: Observable<ScriptsState> };
  readonly blockUpdates: BlockUpdates;
  readonly statsUpdates: StatsUpdates;
  readonly scriptUpdates: ScriptUpdates;
  readonly transactionUpdates: TransactionUpdates;
  /** The prefixes of accepted addresses. */
  readonly prefixes: readonly AddressPrefixes[];
  /** The most scripts that one client may track. */
  readonly maxSubscriptions: number;
  readonly outflow: Outflow;
  readonly gate: Pick<Gate, 'status'>;
  readonly logger: ServerLogger;
}

/** The client's side of a session. */
export interface PushClient {
  readonly connection: Connection;
  /** For the scripts that it tracks. */
  readonly memory: ClientSubscriptionMemory;
  readonly account: Account;
}

export class PushSession extends ClientSession implements BlockListener, StatsListener, TrackingClient, TransactionListener {
  readonly #parts: PushSessionParts;
  readonly #lists: TrackedLists;
  #transaction: Buffer | undefined;
  readonly #wants = { blocks: false, stats: false };
  /** Updates that came while an answer is being made. They are sent after the answer, which may describe the state before them. */
  #newer: Buffer[] | undefined;
  #isAtWork = false;

  constructor(parts: PushSessionParts, { connection, memory, account }: PushClient, onClose: (session: ClientSession) => void) {
    super({ connection, account, onClose, outflow: parts.outflow, logger: parts.logger });
    this.#parts = parts;
    this.#lists = new TrackedLists(this, parts.scriptUpdates, memory, parts.maxSubscriptions);
    connection.open(this);
    connection.keepAlive(() => {
      if (this.heardAt !== undefined) this.heardAt = performance.now();
    });
  }

  get isIdle(): boolean {
    const { blocks, stats } = this.#wants;
    const isSubscribed = blocks || stats || this.#transaction !== undefined || this.#lists.size > 0;
    return !isSubscribed && !this.#isAtWork && this.connection.unreadBytes === 0;
  }

  protected take(message: Buffer): void {
    this.charge(REQUEST_POINTS);
    const request = this.account.isOverdrawn ? undefined : readRequest(message.toString(), this.#parts.prefixes, this.#lists.most);
    if (request === undefined) {
      this.end();
      return;
    }
    this.#isAtWork = true;
    this.connection.pause();
    void this.#answer(request).then(async () => {
      const { delayMs } = this.account;
      // A client that has cost much is read from again later.
      if (delayMs > 0) await delay(delayMs, undefined, { ref: false });
      this.#isAtWork = false;
      this.#wake();
    });
  }

  progressed(): void {
    this.#wake();
  }

  chainChanged(message: Buffer): void {
    this.#sendAfterAnswer(message);
  }

  statsChanged(message: Buffer): void {
    this.#send([message]);
  }

  transactionUpdated(message: Buffer): void {
    this.#sendAfterAnswer(message);
  }

  scriptUpdated(script: string, update: ScriptUpdate): void {
    const fields = this.#lists.fieldsOf(script, update);
    if (fields.length > 0) this.#send(partsOf(fields));
  }

  /** Never rejects. */
  async #answer(request: PushRequest): Promise<void> {
    const newer = (this.#newer = [] as Buffer[]);
    try {
      if (request.action === 'init') this.#send([objectOf(await this.#greeting())]);
      const fields = [
        ...(await this.#want(request.want)),
        ...(await this.#lists.take(request)),
        ...(request.action === 'ping' ? [['pong', 'true'] as const] : [])
      ];
      await this.#trackTransaction(request);
      if (fields.length > 0) this.#send([objectOf(fields)]);
    } catch (error) {
      // The client has to connect again to repeat a request that cannot be answered now.
      if (!this.isGone) refusalOf(error, this.#parts.gate, this.#parts.logger);
      this.end();
    }
    this.#newer = undefined;
    for (const message of newer) this.#send([message]);
  }

  async #greeting(): Promise<Field[]> {
    const { blockUpdates, statsUpdates } = this.#parts;
    const blocks = await this.#read(({ index }) => blockUpdates.latest(index));
    return [['blocks', blocks], ...(await statsUpdates.fields())];
  }

  async #want(want: PushRequest['want']): Promise<Field[]> {
    if (want === undefined) return [];
    const { blockUpdates, statsUpdates } = this.#parts;
    const fields: Field[] = [];
    if (want.blocks && !this.#wants.blocks) fields.push(['blocks', await this.#read(({ index }) => blockUpdates.add(this, index))]);
    else if (!want.blocks) blockUpdates.delete(this);
    if (want.stats && !this.#wants.stats) {
      statsUpdates.add(this);
      fields.push(...(await statsUpdates.fields()));
    } else if (!want.stats) statsUpdates.delete(this);
    Object.assign(this.#wants, want);
    if (this.isGone) this.#forget();
    return fields;
  }

  async #trackTransaction({ transaction: txid, watchesPool }: PushRequest): Promise<void> {
    if (txid === undefined) return;
    const { transactionUpdates } = this.#parts;
    if (this.#transaction !== undefined) transactionUpdates.untrack(this.#transaction, this);
    this.#transaction = txid ?? undefined;
    if (txid === null) return;
    const message = await this.#read((snapshot) => transactionUpdates.track(txid, this, snapshot));
    if (this.isGone) this.#forget();
    else if (message !== undefined) this.#send([message]);
    else if (watchesPool) this.#tellReplaced(txid);
  }

  /** A client that asks for a transaction that was replaced gets to know that, and nothing more of it, as from mempool's backend. */
  #tellReplaced(txid: Buffer): void {
    const { transactionUpdates } = this.#parts;
    const message = transactionUpdates.replaced(txid);
    if (message === undefined) return;
    transactionUpdates.untrack(txid, this);
    this.#transaction = undefined;
    this.#send([message]);
  }

  /** @throws ClientGoneError also when the index was closed */
  async #read<T>(use: (snapshot: ScriptSnapshot) => Promise<T>): Promise<T> {
    const { scripts } = this.#parts;
    const ask = async (): Promise<{ readonly answer: T }> => ({ answer: await scripts.reader.read(use) });
    const found = await onceLive(scripts, ask, () => this.isGone);
    if (found === undefined) throw new ClientGoneError('the client left before it was answered');
    return found.answer;
  }

  #sendAfterAnswer(message: Buffer): void {
    if (this.#newer === undefined) this.#send([message]);
    else this.#newer.push(message);
  }

  #send(message: readonly Buffer[]): void {
    if (this.isGone) return;
    if (!this.canBeNotified()) {
      this.destroy();
      return;
    }
    this.chargeBytes(message.reduce((sum, { length }) => sum + length, 0));
    this.connection.send(...message);
  }

  /** Reads on from the client, unless a message is being handled or the client has too much left to read. */
  #wake(): void {
    if (!this.isGone) this.readOn(this.#isAtWork);
  }

  protected release(): void {
    this.#forget();
  }

  /** Stops all updates for the client. */
  #forget(): void {
    const { blockUpdates, statsUpdates, transactionUpdates } = this.#parts;
    blockUpdates.delete(this);
    statsUpdates.delete(this);
    this.#lists.clear();
    if (this.#transaction !== undefined) transactionUpdates.untrack(this.#transaction, this);
  }
}
