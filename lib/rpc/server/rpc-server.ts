// Takes calls over HTTP and replies to them: access, slots of the work queue, and the forms of replies and errors (httprpc.cpp of Bitcoin
// Core). Calls that are the node's own are passed on to it one by one.

import { misc, CallError } from '../../answers/errors';
import { minimumOf, sequenceHeaders, type Minimum } from '../../server/consistency/minimum';
import { NotHereYetError } from '../../server/consistency/waiting-reads';
import { errorHeaders, queueFull, HttpError, RETRY_AFTER, type HeaderList } from '../../server/errors';
import { NO_BODY, readBody } from '../../server/http/body';
import { errorReply, errorText, resultFrame } from '../../server/json-rpc/frames';
import { MOST_BYTES_IN_FLIGHT } from '../../server/limits';
import { refusalOf } from '../../server/refusal';
import { ClientGoneError } from '../../turns/client';
import { Slice, nextTurn } from '../../turns/slices';
import { RpcClient, type ActiveCall, type Answer, type CallContext, type CallDefinition } from '../call';
import { CALLS } from '../call-table';
import { brokenDown, inWarmup, methodNotFound, outOfMemory } from '../errors';
import { isOwnCall, ownAnswer, ownCallWaits } from '../own-calls';
import { isBad, isNotification, listedMethod, parseCalls, statusOf, type BadCall, type Call, type Parsed } from '../json-rpc';
import { Parameters, usageOf } from '../parameters';
import { WrongPasswords } from './wrong-passwords';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HeaderRecord } from '../../index/types';
import type { ChangePoint } from '../../node/types/fleet';
import type { InterfaceTimes } from '../../server/figures/request-times';
import type { HttpServing } from '../../server/serving';
import type { Access, Denial, Rights } from './access';

/** Bitcoin Core's limit (MAX_SIZE), for clients with access; for others REST's limit applies. */
const MOST_BODY_BYTES = 0x0200_0000;

/** Texts up to this length are concatenated. */
const SMALL_BYTES = 65_536;

const UNAUTHORIZED: HeaderList = ['WWW-Authenticate', 'Basic realm="jsonrpc"'];
const JSON_TYPE: HeaderList = ['Content-Type', 'application/json'];
const TEXT_TYPE: HeaderList = ['Content-Type', 'text/plain'];

/** How a client is refused whose body nobody looks at. `later`: it has sent too many wrong passwords. */
const REFUSALS: Readonly<Record<Denial | 'later', readonly [status: number, headers: HeaderList]>> = {
  forbidden: [403, []],
  missing: [401, UNAUTHORIZED],
  wrong: [401, UNAUTHORIZED],
  later: [503, RETRY_AFTER]
};

export interface RpcServerParts {
  readonly serving: HttpServing;
  readonly context: CallContext;
  readonly access: Access;
  /** Counts calls; undefined: nobody does. */
  readonly times?: InterfaceTimes | undefined;
}

/** Under this name the node's own calls are counted. */
const OWN_CALLS = 'of the node';

/** The result of a call. */
type Outcome = { readonly answer: Answer } | { readonly error: CallError };

/** The tips of the states that calls were answered from; undefined: there was none. */
type Tips = ReadonlySet<HeaderRecord | undefined>;

interface Job {
  readonly call: Call | BadCall;
  readonly isHeavy: boolean;
  readonly waits: boolean;
  /** @throws CallError, and errors of endpoints, index and node */
  run(client: RpcClient): Promise<Answer>;
}

export class RpcServer {
  readonly #parts: RpcServerParts;
  readonly #wrongPasswords = new WrongPasswords();
  readonly #active = new Set<ActiveCall>();

  constructor(parts: RpcServerParts) {
    this.#parts = parts;
  }

  /** The calls that are being answered. */
  get active(): readonly ActiveCall[] {
    return [...this.#active];
  }

  readonly handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    try {
      const { options, unfinished, proxies } = this.#parts.serving;
      const address = proxies.clientOf(request) ?? '';
      const { socket } = request;
      const grant = this.#wrongPasswords.areTooMany(address, socket) ? 'later' : this.#parts.access.grant(request);
      if (typeof grant === 'string') {
        await this.#refuse(request, response, grant, address);
        return;
      }
      this.#wrongPasswords.accept(address, socket);
      const body = await readBody(request, { ...options.limits, maxBodyBytes: MOST_BODY_BYTES, unfinished, isTrusted: true });
      const parsed = parseCalls(body);
      const denial = denialOf(parsed, grant);
      if (denial === 'forbidden') this.#send(response, 403, [], [NO_BODY]);
      else {
        const minimum = await this.#untilShown(request);
        await this.#serve(denial ?? parsed, response, minimum);
      }
    } catch (error) {
      this.#fail(response, error);
    }
  };

  /** Ends the delays of refused requests. */
  close(): void {
    this.#wrongPasswords.close();
  }

  /** `address`: the client's. @throws ClientGoneError */
  async #refuse(request: IncomingMessage, response: ServerResponse, refusal: keyof typeof REFUSALS, address: string): Promise<void> {
    const { logger, options, unfinished } = this.#parts.serving;
    if (refusal === 'wrong') logger.debug(`incorrect password attempt from ${address === '' ? 'a client that has gone' : address}`);
    const delayed = refusal === 'wrong' ? this.#wrongPasswords.delay(address, request.socket) : undefined;
    // Some clients read no reply before they have sent everything.
    await readBody(request, { ...options.limits, unfinished }).catch(passOverRefusal);
    await delayed;
    this.#send(response, ...REFUSALS[refusal], [NO_BODY]);
  }

  /** Waits for the state that the request asks for, and gives it. @throws HttpError 400, 503; ClientGoneError */
  async #untilShown(request: IncomingMessage): Promise<Minimum | undefined> {
    const { waitingReads, shown } = this.#parts.serving;
    const minimum = minimumOf(request, waitingReads.log);
    if (minimum !== undefined) await waitingReads.until(minimum, shown, request);
    return minimum;
  }

  /** Answers the calls and sends the reply. @throws HttpError 503 if the answers are older than the request asks for; ClientGoneError */
  async #serve({ calls, isBatch }: Parsed, response: ServerResponse, minimum: Minimum | undefined): Promise<void> {
    const { responses } = this.#parts.serving;
    const client = new RpcClient(response.req.socket);
    const slice = new Slice();
    const outcomes: Outcome[] = [];
    let replies: (string | Buffer)[][];
    let tips: Tips;
    let changes: readonly ChangePoint[];
    try {
      const jobs: Job[] = [];
      for (const call of calls) {
        if (slice.isOver()) await nextTurn();
        jobs.push(this.#jobFor(call));
      }
      tips = await this.#run(jobs, client, slice, outcomes);
      changes = changesIn(outcomes);
      // In the middle of a reorganization the tip is lower than before. Who is told of no change would make it again.
      if (minimum !== undefined && changes.length === 0)
        for (const tip of tips) if (tip !== undefined && tip.height < minimum.height) throw new NotHereYetError(minimum, tip);
      replies = await repliesTo(calls, outcomes, isBatch, slice);
    } catch (error) {
      releaseAll(outcomes);
      throw error;
    }
    await responses.endOfTurn();
    for (const outcome of outcomes)
      if ('answer' in outcome && outcome.answer.release !== undefined) responses.whenOver(response, outcome.answer.release);
    const state = this.#stateHeaders(tips, changes);
    // An empty batch says nothing of its version, and gets an empty list, as of Bitcoin Core.
    if (replies.length === 0 && calls.length > 0) this.#send(response, 204, state, []);
    else {
      const status = isBatch ? 200 : statusFor(calls[0] as Call, outcomes[0] as Outcome);
      const text = isBatch ? ['[', ...replies.flat(), ']\n'] : [...(replies[0] ?? []), '\n'];
      this.#send(response, status, [...JSON_TYPE, ...state], joined(text), changes.length > 0);
    }
  }

  /** Name the block of the answers if all are of one, and what shows the last change that they made. */
  #stateHeaders(tips: Tips, changes: readonly ChangePoint[]): HeaderList {
    const [tip] = tips.size === 1 ? tips : [];
    const change = changes.findLast((each) => each !== 'unknown');
    return [...(tip === undefined ? [] : this.#parts.serving.shown.headersOf(tip)), ...sequenceHeaders(change)];
  }

  /**
   * Runs the calls in their order: those that may wait without a slot, others that follow one another in one slot. `outcomes` gets the result
   * of each. Gives the tips of the states that they were answered from, but for those that may wait. @throws HttpError, ClientGoneError
   */
  async #run(jobs: readonly Job[], client: RpcClient, slice: Slice, outcomes: Outcome[]): Promise<Tips> {
    const { queue, responses, shown } = this.#parts.serving;
    let bytes = 0;
    const settle = async (job: Job, i: number): Promise<void> => {
      outcomes[i] = bytes > MOST_BYTES_IN_FLIGHT ? { error: outOfMemory() } : await this.#outcomeOf(job, client);
      if ('answer' in outcomes[i]) for (const { length } of outcomes[i].answer.parts) bytes += length;
    };
    const tips = new Set<HeaderRecord | undefined>();
    const settleAll = async (from: number, to: number): Promise<void> => {
      tips.add(shown.now);
      for (let i = from; i < to; i++) {
        // Most calls never wait, so a long batch would hold the event loop.
        if (i > from && slice.isOver()) {
          await nextTurn();
          requireClient(client);
        }
        await settle(jobs[i] as Job, i); // within
      }
      tips.add(shown.now);
    };
    const lane = jobs.some(({ isHeavy, waits }) => isHeavy && !waits) ? 'heavy' : 'small';
    // The memory for waiting replies is full: a long one could not be sent, and once a call has changed something it would have to be.
    if ((lane === 'heavy' || jobs.length > 1) && responses.isFull) throw queueFull();
    // A batch enters the queue once, as Bitcoin Core's do: once a call was made it is refused no more.
    if (jobs[0]?.waits === true && jobs.some(({ waits }) => !waits)) await queue.run(client, () => undefined, lane);
    for (let from = 0, to = 1; from < jobs.length; from = to++) {
      const job = jobs[from] as Job; // within
      if (job.waits) {
        if (slice.isOver()) await nextTurn();
        requireClient(client);
        await settle(job, from);
        continue;
      }
      while (jobs[to]?.waits === false) to++;
      await queue.run(client, () => settleAll(from, to), lane, from === 0 ? 'bounded' : 'patient');
    }
    return tips;
  }

  async #outcomeOf(job: Job, client: RpcClient): Promise<Outcome> {
    const active = isBad(job.call) ? undefined : { method: job.call.method, begin: performance.now() };
    try {
      if (active !== undefined) this.#active.add(active);
      const { times } = this.#parts;
      const run = (): Promise<Answer> => job.run(client);
      return { answer: await (times === undefined || isBad(job.call) ? run() : times.during(nameOf(job.call), run)) };
    } catch (error) {
      if (error instanceof ClientGoneError) throw error;
      return { error: this.#asRpcError(error) };
    } finally {
      if (active !== undefined) this.#active.delete(active);
    }
  }

  #jobFor(call: Call | BadCall): Job {
    const light = { call, isHeavy: false, waits: false };
    if (isBad(call)) return { ...light, run: () => Promise.reject(call.error) };
    const {
      context,
      serving: { gate }
    } = this.#parts;
    const definition = definitionOf(call);
    if (definition === undefined) {
      if (!isOwnCall(call.method, context.node)) return { ...light, run: () => Promise.reject(methodNotFound()) };
      return { ...light, waits: ownCallWaits(call.method), run: () => ownAnswer(call, context.node) };
    }
    const read = parametersOf(call, definition);
    return {
      call,
      isHeavy: read instanceof Parameters && definition.isHeavy?.(read) === true,
      waits: definition.waits === true,
      run: async (client) => {
        gate.requireReady();
        if (!(read instanceof Parameters)) throw read;
        return definition.answer(read, context, client);
      }
    };
  }

  /** Errors of index and node that mean "not ready" become Bitcoin Core's warmup error. */
  #asRpcError(error: unknown): CallError {
    if (error instanceof CallError) return error;
    const { gate, logger } = this.#parts.serving;
    const refusal = refusalOf(error, gate, logger);
    if (refusal.kind === 'not-ready') return inWarmup(refusal.error.what);
    return refusal.error.status === 500 ? brokenDown() : misc(refusal.error.message);
  }

  /** Answers a request that failed as a whole. */
  #fail(response: ServerResponse, error: unknown): void {
    const { socket } = response.req;
    if (socket.destroyed || error instanceof ClientGoneError) return;
    const { gate, logger } = this.#parts.serving;
    const { kind, error: known } = refusalOf(error, gate, logger);
    const status = kind === 'busy' ? 503 : known.status;
    this.#send(response, status, [...errorHeaders(known, status), ...TEXT_TYPE], [Buffer.from(known.message)]);
  }

  /** `isDue`: the reply tells of changes that calls have made. */
  #send(response: ServerResponse, status: number, headers: HeaderList, parts: readonly Buffer[], isDue = false): void {
    if (response.destroyed) return;
    const length = parts.reduce((sum, part) => sum + part.length, 0);
    const all = status === 204 ? headers : [...headers, 'Content-Length', String(length)];
    this.#parts.serving.responses.sendParts(response, status, all, parts, isDue);
  }
}

/** Of a body that is too long, or encoded, the client is told nothing. @throws ClientGoneError */
function passOverRefusal(error: unknown): void {
  if (!(error instanceof HttpError)) throw error;
}

/** Why no call is made, or the error that stands for all of them; undefined: each may be made. */
function denialOf({ calls, isBatch }: Parsed, rights: Rights): 'forbidden' | Parsed | undefined {
  for (const call of calls) {
    if (isBad(call) && !(isBatch && rights.areListed)) continue;
    const method = listedMethod(call);
    if (typeof method !== 'string') return { calls: [method], isBatch: false };
    if (!rights.allows(method)) return 'forbidden';
  }
  return undefined;
}

function definitionOf(call: Call | BadCall): CallDefinition | undefined {
  return isBad(call) ? undefined : CALLS.get(call.method);
}

const nameOf = ({ method }: Call): string => (CALLS.has(method) ? method : OWN_CALLS);

function parametersOf({ method, params }: Call, { parameters }: CallDefinition): Parameters | CallError {
  try {
    return new Parameters(parameters, params, usageOf(method, parameters));
  } catch (error) {
    if (error instanceof CallError) return error;
    throw error;
  }
}

/** @throws ClientGoneError */
function requireClient({ isGone }: RpcClient): void {
  if (isGone) throw new ClientGoneError('the client left before all of its calls were made');
}

/** For answers that will not be sent. */
function releaseAll(outcomes: readonly Outcome[]): void {
  for (const outcome of outcomes) if ('answer' in outcome) outcome.answer.release?.();
}

const changesIn = (outcomes: readonly Outcome[]): ChangePoint[] =>
  outcomes.flatMap((outcome) => ('answer' in outcome ? (outcome.answer.change ?? []) : []));

/** The texts of each reply, in a batch with a comma before each but the first. */
async function repliesTo(
  calls: readonly (Call | BadCall)[],
  outcomes: readonly Outcome[],
  isBatch: boolean,
  slice: Slice
): Promise<(string | Buffer)[][]> {
  const replies: (string | Buffer)[][] = [];
  for (const [i, outcome] of outcomes.entries()) {
    if (i > 0 && slice.isOver()) await nextTurn();
    const call = calls[i] as Call | BadCall; // an outcome for each
    // In a batch a malformed notification gets no reply either.
    if (isNotification(call.form) && (isBatch || !isBad(call))) continue;
    const texts = replyTo(call.form, outcome);
    replies.push(isBatch ? joined([replies.length > 0 ? ',' : '', ...texts]) : texts);
  }
  return replies;
}

function replyTo(form: Call['form'], outcome: Outcome): (string | Buffer)[] {
  if ('error' in outcome) return [errorReply(form, errorText(outcome.error))];
  const [before, behind] = resultFrame(form);
  return [before, ...outcome.answer.parts, behind];
}

/** Errors of well-formed calls of version 2.0 have status 200. */
function statusFor(call: Call | BadCall, outcome: Outcome): number {
  return 'error' in outcome && (isBad(call) || !call.form.isVersion2) ? statusOf(outcome.error) : 200;
}

/** Concatenates runs of short texts; long texts are not copied. */
function joined(texts: readonly (string | Buffer)[]): Buffer[] {
  const parts: Buffer[] = [];
  let short: Buffer[] = [];
  const flush = (): void => {
    if (short.length > 0) parts.push(short.length === 1 ? (short[0] as Buffer) : Buffer.concat(short));
    short = [];
  };
  for (const text of texts) {
    const bytes = typeof text === 'string' ? Buffer.from(text) : text;
    if (bytes.length > SMALL_BYTES) {
      flush();
      parts.push(bytes);
    } else short.push(bytes);
  }
  flush();
  return parts;
}
