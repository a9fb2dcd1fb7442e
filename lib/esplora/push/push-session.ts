// One client of mempool's WebSocket: its requests, and what it is sent. Its messages are handled one after the other, so that the answer
// to a ping means that everything before the ping is in effect.

import { setTimeout as delay } from 'node:timers/promises';
import { onceLive } from '../../answers/scripts/once-live';
import { refusalOf } from '../../server/refusal';
import { ClientSession } from '../../server/sockets/client-session';
import { ClientGoneError } from '../../turns/client';
import { objectOf, partsOf, type Field } from '../messages';
import { difficultyFields, initialFields, poolFields, projectedFields, type StateContext } from '../mempool/state';
import { NextMessage, type Update } from './next-message';
import { ProjectedPlaces } from './projected-places';
import { kindOf, readRequest, type History, type PushRequest, type Wants } from './request';
import { TrackedLists, type TrackingClient } from './tracked-lists';
import { TrackedTransactions, type TransactionClient } from './tracked-transactions';
import type { Observable } from 'rxjs';
import type { AddressPrefixes } from '../../bitcoin/address';
import type { ScriptReader, ScriptSnapshot, ScriptsState } from '../../scripts/types';
import type { Account } from '../../server/bounds/cost';
import type { ClientSubscriptionMemory } from '../../server/bounds/subscription-memory';
import type { InterfaceTimes } from '../../server/figures/request-times';
import type { ServerLogger } from '../../server/logger';
import type { Connection } from '../../server/sockets/connection';
import type { Outflow } from '../../server/sockets/outbox';
import type { Gate } from '../../server/work/gate';
import type { BlockListener, BlockUpdates } from './block-updates';
import type { PoolListener, PoolUpdate, PoolUpdates } from './pool-updates';
import type { ScriptUpdate, ScriptUpdates } from './script-updates';
import type { TransactionUpdate, TransactionUpdates } from './transaction-updates';

/** The cost of reading and writing a message, in points. */
const REQUEST_POINTS = 1;

/** What the client gets for a history that this server does not keep. */
const EMPTY_HISTORIES: Readonly<Record<History, Field>> = {
  replacements: ['rbfLatest', '[]'],
  replacementsSummary: ['rbfLatestSummary', '[]'],
  accelerations: ['accelerations', '{"accelerations":[]}']
};

export interface PushSessionParts {
  readonly context: StateContext;
  readonly scripts: { readonly reader: ScriptReader; readonly state$: Observable<ScriptsState> };
  readonly blockUpdates: BlockUpdates;
  readonly poolUpdates: PoolUpdates;
  readonly scriptUpdates: ScriptUpdates;
  readonly transactionUpdates: TransactionUpdates;
  /** The prefixes of accepted addresses. */
  readonly prefixes: readonly AddressPrefixes[];
  /** The most scripts that one client may track. */
  readonly maxSubscriptions: number;
  readonly outflow: Outflow;
  readonly gate: Pick<Gate, 'status'>;
  readonly logger: ServerLogger;
  /** Counts requests; undefined: nobody does. */
  readonly times: InterfaceTimes | undefined;
}

/** The client's side of a session. */
export interface PushClient {
  readonly connection: Connection;
  /** For the scripts that it tracks. */
  readonly memory: ClientSubscriptionMemory;
  readonly account: Account;
}

export class PushSession extends ClientSession implements BlockListener, PoolListener, TrackingClient, TransactionClient {
  readonly #parts: PushSessionParts;
  readonly #lists: TrackedLists;
  readonly #transactions: TrackedTransactions;
  #wants: Wants = { blocks: false, stats: false, mempoolBlocks: false };
  #trackedBlock: number | undefined;
  readonly #next = new NextMessage();
  /** The confirmation of its transaction, until the block comes that it belongs to. */
  #confirmed: { readonly height: number; readonly field: Field } | undefined;
  /** Updates that come while an answer is being made are sent after the answer, which may describe the state before them. */
  #newer: Field[][] | undefined;
  #isAtWork = false;

  constructor(parts: PushSessionParts, { connection, memory, account }: PushClient, onClose: (session: ClientSession) => void) {
    super({ connection, account, onClose, outflow: parts.outflow, logger: parts.logger });
    this.#parts = parts;
    this.#lists = new TrackedLists(this, parts.scriptUpdates, memory, parts.maxSubscriptions);
    this.#transactions = new TrackedTransactions(this, parts.transactionUpdates, memory);
    parts.poolUpdates.add(this);
    connection.open(this);
    connection.keepAlive(() => {
      if (this.heardAt !== undefined) this.heardAt = performance.now();
    });
  }

  get isIdle(): boolean {
    const isSubscribed = this.#wants.blocks || this.awaitsPool || this.#lists.size > 0;
    return !isSubscribed && !this.isAnswering && this.connection.unreadBytes === 0;
  }

  protected get isAnswering(): boolean {
    return this.#isAtWork;
  }

  get awaitsPool(): boolean {
    const { stats, mempoolBlocks } = this.#wants;
    return stats || mempoolBlocks || this.#trackedBlock !== undefined || this.#transactions.size > 0;
  }

  get trackedBlock(): number | undefined {
    return this.#trackedBlock;
  }

  protected take(message: Buffer): void {
    this.charge(REQUEST_POINTS);
    if (this.account.isOverdrawn) {
      this.end('cost');
      return;
    }
    const request = readRequest(message, this.#parts.prefixes, this.#lists.most);
    if (request === undefined) {
      this.end('malformed');
      return;
    }
    this.#isAtWork = true;
    this.connection.pause();
    const { times } = this.#parts;
    const answer = (): Promise<void> => this.#answer(request);
    const answering = times === undefined ? answer() : times.during(kindOf(request), answer);
    void Promise.resolve(answering)
      .catch(this.#fail)
      .then(async () => {
        const { delayMs } = this.account;
        // A client that has cost much is read from again later.
        if (delayMs > 0) await delay(delayMs, undefined, { ref: false });
        this.#isAtWork = false;
        this.#wake();
        this.answered();
      });
  }

  progressed(): void {
    this.#wake();
  }

  chainChanged(field: Field, top: number): void {
    // Each block is told in a message of its own.
    if (this.#next.has('block') || this.#next.has('blocks')) this.#endMessage();
    this.#add([field]);
    if (field[0] !== 'block' || this.#confirmed?.height !== top) return;
    this.#add([this.#confirmed.field]);
    this.#confirmed = undefined;
  }

  transactionUpdated(txid: Buffer, update: TransactionUpdate): void {
    const { fields, confirmed } = this.#transactions.fieldsOf(txid, update);
    this.#confirmed = confirmed ?? this.#confirmed;
    this.#add(fields);
  }

  scriptUpdated(script: string, update: ScriptUpdate): void {
    this.#add(this.#lists.updatesOf(script, update));
  }

  poolChanged({ places, stats, projected, blocks }: PoolUpdate): void {
    const changed = this.#trackedBlock === undefined ? undefined : blocks.get(this.#trackedBlock);
    this.#add([
      ...(this.#wants.stats ? stats : []),
      ...(this.#wants.mempoolBlocks ? projected : []),
      ...(changed === undefined ? [] : [['projected-block-transactions', changed] as const]),
      ...this.#transactions.placesIn(places)
    ]);
  }

  endRound(): void {
    this.#add(this.#transactions.takeRound());
    if (this.#confirmed !== undefined) this.#add([this.#confirmed.field]);
    this.#confirmed = undefined;
    this.#endMessage();
  }

  #add(updates: readonly Update[]): void {
    for (const update of updates) {
      if (this.#next.take(update)) continue;
      this.#endMessage();
      this.#next.take(update);
    }
  }

  #endMessage(): void {
    const fields = this.#next.end();
    if (fields.length === 0) return;
    if (this.#newer === undefined) this.#update(fields);
    else this.#newer.push(fields);
  }

  async #answer(request: PushRequest): Promise<void> {
    const newer = (this.#newer = [] as Field[][]);
    try {
      if (request.action === 'init') this.#send([objectOf(await this.#greeting())]);
      const fields = [
        ...(await this.#want(request)),
        ...(await this.#trackTransactions(request)),
        ...(await this.#lists.take(request)),
        ...(await this.#trackBlock(request.mempoolBlock)),
        ...request.histories.map((history) => EMPTY_HISTORIES[history]),
        ...(request.action === 'ping' ? [['pong', 'true'] as const] : [])
      ];
      if (fields.length > 0) this.#send(partsOf(fields));
    } finally {
      this.#newer = undefined;
    }
    for (const fields of newer) this.#update(fields);
  }

  /** The client has to connect again to repeat a request that cannot be answered now. */
  readonly #fail = (error: unknown): void => {
    if (!this.isGone) refusalOf(error, this.#parts.gate, this.#parts.logger);
    this.end();
  };

  async #greeting(): Promise<Field[]> {
    const { blockUpdates, context } = this.#parts;
    return this.#read(async ({ index }) => [['blocks', await blockUpdates.latest(index)], ...(await initialFields(context, index))]);
  }

  async #want({ want, refreshesBlocks }: PushRequest): Promise<Field[]> {
    const { blockUpdates, context } = this.#parts;
    const before = this.#wants;
    const wants = want ?? before;
    const fields: Field[] = [];
    if (wants.blocks && !before.blocks) fields.push(['blocks', await this.#read(({ index }) => blockUpdates.add(this, index))]);
    else if (refreshesBlocks) fields.push(['blocks', await this.#read(({ index }) => blockUpdates.latest(index))]);
    if (!wants.blocks) blockUpdates.delete(this);
    if (wants.mempoolBlocks && !before.mempoolBlocks) fields.push(...(await projectedFields(context)));
    if (wants.stats && !before.stats) {
      fields.push(...(await poolFields(context)));
      fields.push(...(await this.#read(({ index }) => Promise.resolve(difficultyFields(context, index)))));
    }
    this.#wants = wants;
    if (this.isGone) this.#forget();
    return fields;
  }

  async #trackTransactions({ transaction, transactions, watchesPool }: PushRequest): Promise<Field[]> {
    const read = <T>(use: (snapshot: ScriptSnapshot) => Promise<T>): Promise<T> => this.#read(use);
    const fields = transaction === undefined ? [] : await this.#transactions.trackOne(transaction, watchesPool, read);
    if (transactions !== undefined) {
      const fault = await this.#transactions.trackMany(transactions, read);
      if (fault !== undefined) fields.push(['track-txs-error', JSON.stringify(fault)]);
    }
    if (this.#transactions.size === 0 || (transaction === undefined && transactions === undefined)) return fields;
    fields.push(...this.#transactions.placesIn(new ProjectedPlaces(await this.#parts.context.projections.get())));
    return [...fields, ...this.#transactions.takeRound()];
  }

  async #trackBlock(block: number | null | undefined): Promise<Field[]> {
    if (block === undefined) return [];
    this.#trackedBlock = block ?? undefined;
    if (block === null) return [];
    const lists = await this.#parts.poolUpdates.lists();
    // Changes from here on are told.
    return [['projected-block-transactions', await lists.whole(block)]];
  }

  /** @throws ClientGoneError also when the index was closed */
  async #read<T>(use: (snapshot: ScriptSnapshot) => Promise<T>): Promise<T> {
    const { scripts } = this.#parts;
    const ask = async (): Promise<{ readonly answer: T }> => ({ answer: await scripts.reader.read(use) });
    const found = await onceLive(scripts, ask, () => this.isGone);
    if (found === undefined) throw new ClientGoneError('the client left before it was answered');
    return found.answer;
  }

  #update(fields: readonly Field[]): void {
    if (!this.isGone) this.countNotification();
    this.#send(partsOf(fields));
  }

  #send(message: readonly Buffer[]): void {
    if (this.isGone) return;
    if (!this.canBeNotified()) {
      this.cutOff('unread');
      return;
    }
    this.chargeBytes(message.reduce((sum, { length }) => sum + length, 0));
    this.connection.send(message);
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
    const { blockUpdates, poolUpdates } = this.#parts;
    blockUpdates.delete(this);
    poolUpdates.delete(this);
    this.#transactions.clear();
    this.#lists.clear();
  }
}
