// One client: its requests wait here, ten of them are worked on at a time, and replies are sent as they are ready. If a client asks faster
// than it is answered, or does not read its replies, its requests are not read either.

import { POINTS_PER_MS, type DiskTime } from '../../server/bounds/disk-time';
import { ClientSession } from '../../server/sockets/client-session';
import { ClientGoneError } from '../../turns/client';
import { CODES, ElectrumError, electrumErrorOf } from '../errors';
import { errorReply, isBad, lengthOf, notification, readMessage, resultReply, type Reply, type Request } from './message';
import { OpenRequests, type Job } from './open-requests';
import { valuesOf } from './parameters';
import { PendingNotifications } from './pending-notifications';
import { Batch, SingleReply, type Replies } from './replies';
import { FIRST_PROTOCOL, negotiate, type MethodsOf } from './versions';
import type { Account } from '../../server/bounds/cost';
import type { Unfinished } from '../../server/bounds/unfinished';
import type { ServerLogger } from '../../server/logger';
import type { Connection } from '../../server/sockets/connection';
import type { Outflow } from '../../server/sockets/outbox';
import type { Gate } from '../../server/work/gate';
import type { Lane, WorkQueue } from '../../server/work/work-queue';
import type { ElectrumClient, Method, NotifiedClient, Protocol, Result, Subscriptions } from '../method';
import type { Turns, TurnTaker } from './turns';

/** As in ElectrumX. */
const MOST_AT_WORK = 10;

/** Reading a longer message is charged for by its time: small parts take much more than their bytes. */
const LONG_MESSAGE_BYTES = 16_384;

/** Replies up to this size are sent however many bytes wait to be read. */
const SMALL_BYTES = 64 * 1_024;

/** Bytes of the replies to a batch, which are sent together; beyond this the remaining replies are errors. */
const MOST_BATCH_BYTES = 16_000_000;

/** The cost of a request, in points, beside that of its bytes. */
const REQUEST_POINTS = 1;
const BAD_REQUEST_POINTS = 10;

const VERSION_METHOD = 'server.version';
/** Further parameters are ignored. */
const VERSION_PARAMETERS = ['client_name', 'protocol_version'];

export interface ClosableSubscriptions extends Subscriptions {
  /** Whether the client is subscribed to nothing. */
  readonly isEmpty: boolean;
  /** Ends all subscriptions. */
  close(): void;
}

export interface SessionParts {
  readonly methodsOf: MethodsOf;
  /** Name and version of the server. */
  readonly software: string;
  readonly subscriptionsOf: (client: NotifiedClient, address: string) => ClosableSubscriptions;
  readonly queue: Pick<WorkQueue, 'runAtOnce'>;
  readonly turns: Readonly<Record<Lane, Turns>>;
  readonly outflow: Outflow;
  readonly diskTime: DiskTime;
  /** Memory for requests that wait. */
  readonly unfinished: Unfinished;
  readonly gate: Pick<Gate, 'status'>;
  readonly logger: ServerLogger;
}

/** A client that has connected. */
export interface ConnectedClient {
  readonly connection: Connection;
  /** Its IP address. */
  readonly address: string;
  readonly account: Account;
}

export class Session extends ClientSession implements ElectrumClient, NotifiedClient, TurnTaker {
  readonly subscriptions: ClosableSubscriptions;
  protocol: Protocol = FIRST_PROTOCOL;
  readonly #parts: SessionParts;
  /** Of its protocol, by their names. */
  #methods: ReadonlyMap<string, Method>;
  readonly #requests: OpenRequests;
  #atWork = 0;
  #hasVersion = false;
  /** Client and server have no version of the protocol in common. */
  #isRefused = false;
  #delay: NodeJS.Timeout | undefined;
  readonly #notifications: PendingNotifications;
  #unfinishedBatches = 0;

  constructor(parts: SessionParts, { connection, address, account }: ConnectedClient, onClose: (session: ClientSession) => void) {
    super({ connection, account, onClose, outflow: parts.outflow, logger: parts.logger });
    this.#parts = parts;
    this.#methods = parts.methodsOf(this.protocol);
    const memory = parts.unfinished.open(address, () => {
      this.destroy();
    });
    this.#requests = new OpenRequests(memory);
    this.#notifications = new PendingNotifications({ connection, outflow: parts.outflow, mustWait: () => this.#unfinishedBatches > 0 });
    this.subscriptions = parts.subscriptionsOf(this, address);
    connection.open(this);
  }

  get isIdle(): boolean {
    return !this.isAnswering && this.connection.unreadBytes === 0 && this.subscriptions.isEmpty;
  }

  protected get isAnswering(): boolean {
    return this.#atWork + this.#requests.waiting > 0;
  }

  protected take(message: Buffer): void {
    const began = message.length > LONG_MESSAGE_BYTES ? performance.now() : undefined;
    const { isBatch, requests } = readMessage(message);
    if (began !== undefined) this.tookLong(performance.now() - began);
    if (this.account.isOverdrawn) {
      this.#cutOff(requests[0]?.id);
      return;
    }
    if (requests.length === 0) return;
    const replies = isBatch ? this.#newBatch(requests.length) : this.#single;
    const bytes = Math.ceil(message.length / requests.length);
    this.#requests.take();
    for (const [at, request] of requests.entries()) {
      if (isBad(request)) {
        this.charge(BAD_REQUEST_POINTS);
        replies.add(at, errorReply(request.id, request.error));
      } else this.#takeRequest(request, bytes, replies, at);
    }
    if (this.#isRefused) this.end();
    else this.#wake();
    this.#requests.taken();
  }

  notify(method: string, params: string, about: string): void {
    if (this.isGone) return;
    this.withdraw(about);
    const text = notification(method, params);
    if (!this.canBeNotified(this.#notifications.bytes)) {
      this.cutOff('unread');
      return;
    }
    this.chargeBytes(text.length);
    this.countNotification();
    this.#notifications.add(text, about);
  }

  withdraw(about: string): void {
    this.#notifications.withdraw(about);
  }

  progressed(): void {
    this.#wake();
  }

  hasWork(lane: Lane): boolean {
    return this.#requests.waitsIn(lane) && this.#mayWork;
  }

  begin(lane: Lane): Promise<void> | undefined {
    const job = this.#requests.next(lane);
    this.#atWork++;
    this.charge(REQUEST_POINTS);
    this.#slowDown();
    const reply = this.#replyTo(job, lane);
    if (reply instanceof Promise)
      return reply.then((later) => {
        this.#finish(job, later);
        this.#wake();
        this.answered();
      });
    this.#finish(job, reply);
    this.#readOn();
    this.answered();
    return undefined;
  }

  tookLong(ms: number): void {
    this.charge(ms * POINTS_PER_MS);
  }

  #finish(job: Job, reply: Reply | undefined): void {
    this.#atWork--;
    this.#requests.end(job);
    job.replies.add(job.at, reply);
  }

  #newBatch(count: number): Replies {
    this.#unfinishedBatches++;
    return new Batch(count, this.#parts.outflow, (reply) => {
      this.#unfinishedBatches--;
      if (reply !== undefined) this.#send(reply);
      this.#notifications.sendSoon();
    });
  }

  readonly #send = (reply: Reply): void => {
    if (this.isGone) return;
    this.chargeBytes(lengthOf(reply));
    this.connection.send(reply);
  };
  readonly #single: Replies = new SingleReply(this.#send);

  #takeRequest(request: Request, bytes: number, replies: Replies, at: number): void {
    const { method: name, params, id } = request;
    try {
      if (name === VERSION_METHOD) {
        replies.add(at, this.#greet(params, id));
        return;
      }
      const method = this.#methodOf(name);
      const values = valuesOf(name, method, params);
      this.#requests.add({ request, method, values, bytes, replies, at }, method.isHeavy === true ? 'heavy' : 'small');
    } catch (error) {
      this.charge(BAD_REQUEST_POINTS);
      replies.add(at, id === undefined ? undefined : errorReply(id, electrumErrorOf(error, this.#parts.gate, this.#parts.logger)));
    }
  }

  /** `server.version`, which is allowed once and need not be the first request. @throws ElectrumError */
  #greet(params: Request['params'], id: string | undefined): Reply | undefined {
    if (this.#hasVersion) throw new ElectrumError(CODES.badRequest, 'server.version already sent');
    const [, asked] = Array.isArray(params)
      ? (params as readonly unknown[])
      : VERSION_PARAMETERS.map((name) => (params as Record<string, unknown>)[name]);
    // After an error the connection is closed.
    this.#isRefused = true;
    const { version, protocol } = negotiate(asked);
    this.protocol = protocol;
    this.#methods = this.#parts.methodsOf(this.protocol);
    this.#isRefused = false;
    this.#hasVersion = true;
    return id === undefined ? undefined : resultReply(id, JSON.stringify([this.#parts.software, version]));
  }

  /** @throws ElectrumError for a method that this version of the protocol does not have */
  #methodOf(name: string): Method {
    const method = this.#methods.get(name);
    if (method === undefined) throw new ElectrumError(CODES.unknownMethod, `unknown method "${name.slice(0, 64)}"`);
    return method;
  }

  get #mayWork(): boolean {
    return !this.isGone && this.#delay === undefined && this.#atWork < MOST_AT_WORK && this.canBeAnswered();
  }

  /** To be called when something has changed: starts work and reads on, as far as the limits allow. */
  #wake(): void {
    if (this.isGone) return;
    this.#readOn();
    if (this.#requests.waiting === 0) return;
    this.#slowDown();
    this.#wantTurns();
  }

  #readOn(): void {
    this.readOn(this.#requests.isFull);
  }

  #wantTurns(): void {
    if (this.hasWork('small')) this.#parts.turns.small.want(this);
    if (this.hasWork('heavy')) this.#parts.turns.heavy.want(this);
  }

  /** Delays the next request of a client that has cost much. */
  #slowDown(): void {
    const { delayMs } = this.account;
    if (delayMs === 0 || this.#delay !== undefined) return;
    this.#delay = setTimeout(() => {
      this.#delay = undefined;
      this.#wantTurns();
    }, delayMs);
  }

  /** undefined: the request gets no reply. Never throws or rejects. */
  #replyTo(job: Job, lane: Lane): Reply | undefined | Promise<Reply | undefined> {
    const { id } = job.request;
    try {
      const result = this.#answer(job, lane);
      if (!(result instanceof Promise)) return this.#replyWith(id, result);
      return result.then((later) => this.#replyWith(id, later)).catch((error: unknown) => this.#failure(id, error));
    } catch (error) {
      return this.#failure(id, error);
    }
  }

  /** @throws ElectrumError when there is no memory for the reply */
  #replyWith(id: string | undefined, result: Result): Reply | undefined {
    return id === undefined ? undefined : resultReply(id, this.#checked(result));
  }

  #failure(id: string | undefined, error: unknown): Reply | undefined {
    if (id === undefined || error instanceof ClientGoneError) return undefined;
    return errorReply(id, electrumErrorOf(error, this.#parts.gate, this.#parts.logger));
  }

  /** @throws what the method throws, and ElectrumError when there is no memory for the reply */
  #answer({ method, values, replies }: Job, lane: Lane): Result | Promise<Result> {
    const { queue, outflow } = this.#parts;
    if (lane === 'heavy' && outflow.isFull && method.frees !== true) throw busy();
    if (replies.bytes > MOST_BATCH_BYTES) throw new ElectrumError(CODES.badRequest, 'the replies to the batch are too long');
    const work = (): Result | Promise<Result> => {
      const result = method.answer(values, this);
      return result instanceof Promise ? this.#chargedForTime(result) : result;
    };
    return queue.runAtOnce<Session, Result>(this, work, lane);
  }

  /** Methods charge for what they read; how long the disk takes for it shows only here. */
  async #chargedForTime<T>(result: Promise<T>): Promise<T> {
    const end = this.#parts.diskTime.begin();
    try {
      return await result;
    } finally {
      this.charge(end());
    }
  }

  /** The result, if there is memory for the reply. @throws ElectrumError */
  #checked(result: Result): Result {
    if (result.length > SMALL_BYTES && this.#parts.outflow.isFull) throw busy();
    return result;
  }

  /** Cuts off a client that has cost too much. */
  #cutOff(id = 'null'): void {
    this.connection.send(errorReply(id, new ElectrumError(CODES.badRequest, 'excessive resource usage')));
    this.end('cost');
  }

  protected release(): void {
    clearTimeout(this.#delay);
    this.#notifications.close();
    for (const lane of ['small', 'heavy'] as const) {
      this.#parts.turns[lane].leave(this);
      this.#requests.drop(lane);
    }
    this.subscriptions.close();
  }
}

const busy = (): ElectrumError => new ElectrumError(CODES.daemon, 'too many replies wait to be read');
