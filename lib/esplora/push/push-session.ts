// One client of mempool's WebSocket: its requests, and what it is told. Its messages are handled one after the other, so that the answer
// to a ping means that everything before the ping is in effect.

import { setTimeout as delay } from 'node:timers/promises';
import { onceLive } from '../../answers/status/once-live';
import { HistoryTooLongError } from '../../scripts/errors';
import { TooManySubscriptionsError, type ClientSubscriptionMemory } from '../../server/bounds/subscription-memory';
import { refusalOf } from '../../server/refusal';
import { ClientSession } from '../../server/sockets/client-session';
import { ClientGoneError } from '../../turns/client';
import { objectOf, partsOf, piecesOf, type Field } from './messages';
import { readRequest, type NamedScripts, type PushRequest, type Tracking } from './request';
import type { Observable } from 'rxjs';
import type { AddressPrefixes } from '../../bitcoin/address';
import type { ScriptReader, ScriptSnapshot, ScriptsState } from '../../scripts/types';
import type { Account } from '../../server/bounds/cost';
import type { ServerLogger } from '../../server/logger';
import type { Connection } from '../../server/sockets/connection';
import type { Outflow } from '../../server/sockets/outbox';
import type { Gate } from '../../server/work/gate';
import type { BlockListener, BlockNews } from './block-news';
import type { News, ScriptListener, ScriptNews } from './script-news';
import type { StatsListener, StatsNews } from './stats-news';
import type { TransactionListener, TransactionNews } from './transaction-news';

/** mempool's limit, for each kind of list. */
const MOST_TRACKED = 100;

/** The cost of reading and writing a message, in points. */
const REQUEST_POINTS = 1;
/** The cost of reading a name. */
const NAME_POINTS = 0.1;
/** The cost of tracking a script: its history is read. */
const TRACK_POINTS = 3;

const KINDS = ['address', 'addresses', 'scripts'] as const;
type Kind = (typeof KINDS)[number];

const ERROR_FIELDS = { address: 'track-address-error', addresses: 'track-addresses-error', scripts: 'track-scriptpubkeys-error' } as const;

/** What the entries of a list are called in errors. */
const NOUNS = { address: 'addresses', addresses: 'addresses', scripts: 'scriptpubkeys' } as const;

const NONE: NamedScripts = new Map();

export interface PushSessionParts {
  readonly scripts: { readonly reader: ScriptReader; readonly state$: Observable<ScriptsState> };
  readonly blockNews: BlockNews;
  readonly statsNews: StatsNews;
  readonly scriptNews: ScriptNews;
  readonly transactionNews: TransactionNews;
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

export class PushSession extends ClientSession implements BlockListener, StatsListener, ScriptListener, TransactionListener {
  readonly #parts: PushSessionParts;
  readonly #memory: ClientSubscriptionMemory;
  readonly #lists: Record<Kind, NamedScripts> = { address: NONE, addresses: NONE, scripts: NONE };
  /** The scripts that are tracked for this client. */
  readonly #tracked = new Set<string>();
  #transaction: Buffer | undefined;
  readonly #wants = { blocks: false, stats: false };
  /** News that came while an answer is being made. They are sent after the answer, which may describe the state before them. */
  #newer: Buffer[] | undefined;
  #isAtWork = false;

  constructor(parts: PushSessionParts, { connection, memory, account }: PushClient, onClose: (session: ClientSession) => void) {
    super({ connection, account, onClose, outflow: parts.outflow, logger: parts.logger });
    this.#parts = parts;
    this.#memory = memory;
    connection.open(this);
    connection.keepAlive(() => {
      if (this.heardAt !== undefined) this.heardAt = performance.now();
    });
  }

  get isIdle(): boolean {
    const { blocks, stats } = this.#wants;
    const isSubscribed = blocks || stats || this.#transaction !== undefined || this.#tracked.size > 0;
    return !isSubscribed && !this.#isAtWork && this.connection.unreadBytes === 0;
  }

  /** The longest list that is read. */
  get #mostTracked(): number {
    return Math.min(MOST_TRACKED, this.#parts.maxSubscriptions);
  }

  protected take(message: Buffer): void {
    this.charge(REQUEST_POINTS);
    const request = this.account.isOverdrawn ? undefined : readRequest(message.toString(), this.#parts.prefixes, this.#mostTracked);
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

  blockNews(message: Buffer): void {
    this.#tellNewer(message);
  }

  statsNews(message: Buffer): void {
    this.#tell([message]);
  }

  transactionNews(message: Buffer): void {
    this.#tellNewer(message);
  }

  scriptNews(script: string, { pooled, confirmed, removed }: News): void {
    const { address, addresses, scripts } = this.#lists;
    const fields: Field[] = [];
    if (address.has(script)) {
      if (removed !== undefined) fields.push(['address-removed-transactions', removed]);
      if (pooled !== undefined) fields.push(['address-transactions', pooled]);
      if (confirmed !== undefined) fields.push(['block-transactions', confirmed]);
    }
    const lists = [
      ['multi-address-transactions', addresses.get(script)],
      ['multi-scriptpubkey-transactions', scripts.get(script)]
    ] as const;
    for (const [field, name] of lists) {
      if (name === undefined) continue;
      const news = piecesOf([
        ['mempool', pooled ?? '[]'],
        ['confirmed', confirmed ?? '[]'],
        ['removed', removed ?? '[]']
      ]);
      fields.push([field, piecesOf([[name, news]])]);
    }
    if (fields.length > 0) this.#tell(partsOf(fields));
  }

  /** Never rejects. */
  async #answer(request: PushRequest): Promise<void> {
    const newer = (this.#newer = [] as Buffer[]);
    try {
      if (request.action === 'init') this.#tell([objectOf(await this.#greeting())]);
      const fields = [
        ...(await this.#want(request.want)),
        ...(await this.#trackLists(request)),
        ...(request.action === 'ping' ? [['pong', 'true'] as const] : [])
      ];
      await this.#trackTransaction(request.transaction);
      if (fields.length > 0) this.#tell([objectOf(fields)]);
    } catch (error) {
      // The client has to connect again to repeat a request that cannot be answered now.
      if (!this.isGone) refusalOf(error, this.#parts.gate, this.#parts.logger);
      this.end();
    }
    this.#newer = undefined;
    for (const message of newer) this.#tell([message]);
  }

  async #greeting(): Promise<Field[]> {
    const { blockNews, statsNews } = this.#parts;
    const blocks = await this.#read(({ index }) => blockNews.latest(index));
    return [['blocks', blocks], ...(await statsNews.fields())];
  }

  async #want(want: PushRequest['want']): Promise<Field[]> {
    if (want === undefined) return [];
    const { blockNews, statsNews } = this.#parts;
    const fields: Field[] = [];
    if (want.blocks && !this.#wants.blocks) fields.push(['blocks', await this.#read(({ index }) => blockNews.add(this, index))]);
    else if (!want.blocks) blockNews.delete(this);
    if (want.stats && !this.#wants.stats) {
      statsNews.add(this);
      fields.push(...(await statsNews.fields()));
    } else if (!want.stats) statsNews.delete(this);
    Object.assign(this.#wants, want);
    if (this.isGone) this.#forget();
    return fields;
  }

  async #trackTransaction(txid: PushRequest['transaction']): Promise<void> {
    if (txid === undefined) return;
    const { transactionNews } = this.#parts;
    if (this.#transaction !== undefined) transactionNews.untrack(this.#transaction, this);
    this.#transaction = txid ?? undefined;
    if (txid === null) return;
    const message = await this.#read((snapshot) => transactionNews.track(txid, this, snapshot));
    if (this.isGone) this.#forget();
    else if (message !== undefined) this.#tell([message]);
  }

  async #trackLists(request: PushRequest): Promise<Field[]> {
    const fields: Field[] = [];
    for (const kind of KINDS) {
      const tracking = request[kind];
      const fault = tracking && (await this.#track(kind, tracking));
      if (fault !== undefined) fields.push([ERROR_FIELDS[kind], JSON.stringify(fault)]);
    }
    return fields;
  }

  /** Gives the error, if there is one. The list is empty then, unless the only error is that some entries could not be read. */
  async #track(kind: Kind, { entries, scripts, unreadable }: Tracking): Promise<string | undefined> {
    const { scriptNews } = this.#parts;
    const most = this.#mostTracked;
    const isTooMuch = entries > most;
    this.#lists[kind] = scripts;
    let fault = isTooMuch
      ? `too many ${NOUNS[kind]} requested, this connection supports tracking a maximum of ${most} ${NOUNS[kind]}`
      : unreadable && `cannot be read: ${unreadable}`;
    this.charge(Math.min(entries, most) * NAME_POINTS);
    try {
      for (const script of this.#lists[kind].keys()) {
        if (this.#tracked.has(script) || this.isGone) continue;
        this.charge(TRACK_POINTS);
        this.#memory.take();
        await scriptNews.track(script, this).catch((error: unknown) => {
          this.#memory.giveBack();
          throw error;
        });
        this.#tracked.add(script);
      }
    } catch (error) {
      const known = faultOf(error);
      if (known === undefined) throw error;
      this.#lists[kind] = NONE;
      fault = known;
    }
    if (this.isGone) this.#forget();
    for (const script of this.#tracked) {
      if (KINDS.some((one) => this.#lists[one].has(script))) continue;
      scriptNews.untrack(script, this);
      this.#tracked.delete(script);
      this.#memory.giveBack();
    }
    return fault;
  }

  /** @throws ClientGoneError also when the index was closed */
  async #read<T>(use: (snapshot: ScriptSnapshot) => Promise<T>): Promise<T> {
    const { scripts } = this.#parts;
    const ask = async (): Promise<{ readonly answer: T }> => ({ answer: await scripts.reader.read(use) });
    const found = await onceLive(scripts, ask, () => this.isGone);
    if (found === undefined) throw new ClientGoneError('the client left before it was answered');
    return found.answer;
  }

  #tellNewer(message: Buffer): void {
    if (this.#newer === undefined) this.#tell([message]);
    else this.#newer.push(message);
  }

  #tell(message: readonly Buffer[]): void {
    if (this.isGone) return;
    if (!this.canBeTold()) {
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

  /** Stops everything that the client is told. */
  #forget(): void {
    const { blockNews, statsNews, scriptNews, transactionNews } = this.#parts;
    blockNews.delete(this);
    statsNews.delete(this);
    for (const kind of KINDS) this.#lists[kind] = NONE;
    for (const script of this.#tracked) scriptNews.untrack(script, this);
    this.#tracked.clear();
    this.#memory.close();
    if (this.#transaction !== undefined) transactionNews.untrack(this.#transaction, this);
  }
}

/** What a client is told if a list cannot be tracked; undefined if the reason is not in the list. */
function faultOf(error: unknown): string | undefined {
  if (error instanceof HistoryTooLongError) return 'history too large';
  return error instanceof TooManySubscriptionsError ? error.message : undefined;
}
