// The way of a request to its reply: a cached reply if there is one; otherwise the route, gate, key, body, queue and the gate again. The
// reply or the error is sent in the words of the interface.

import { ClientGoneError, type Client } from '../turns/client';
import { minimumOf, sequenceHeaders } from './consistency/minimum';
import { NotHereYetError } from './consistency/waiting-reads';
import { errorHeaders, HttpError, queueFull, unavailable, type HeaderList } from './errors';
import { requireApiKey } from './http/auth';
import { hasBody, NO_BODY } from './http/body';
import { hasCopy, withoutBody } from './http/entity-tags';
import { refusalOf, type Refusal } from './refusal';
import type { IncomingMessage } from 'node:http';
import type { HeaderRecord } from '../index/types';
import type { ShownTip } from './consistency/shown-tip';
import type { HttpContext, Middleware } from './app';
import type { Reply } from './http/reply';
import type { HttpServing } from './serving';
import type { Gate } from './work/gate';

/** How an interface words its replies. */
export interface Words<R extends Reply> {
  /** Headers of a success. */
  headersOf(reply: R, request: IncomingMessage): HeaderList;
  /** The status and text of a refusal. */
  errorOf(refusal: Refusal): Pick<HttpError, 'status' | 'message' | 'headers'>;
  /** Headers of an error besides its `own`; `body`: its text as bytes. */
  errorHeadersOf(body: Buffer, request: IncomingMessage, own: HeaderList): HeaderList;
  /** What stands behind the text of an error. */
  readonly lineEnd: string;
  /** Whether replies have entity tags. */
  readonly hasTags: boolean;
}

/** The state that an interface answers from. */
export interface AnsweredState {
  readonly gate: Pick<Gate, 'requireOpen' | 'status'>;
  readonly shown: ShownTip;
}

export interface AnsweringParts<R extends Reply> {
  readonly serving: HttpServing;
  /** Of this interface. */
  readonly state: AnsweredState;
  readonly words: Words<R>;
}

/** How often an answer is made at most while the chain moves. */
const MOST_TRIES = 3;

/**
 * Sends the reply that `next` leaves in the context, or its error. A request that asks for a later state waits for it before. The block of the
 * state is named in replies and in refusals that were made from it.
 */
export function sending<R extends Reply>({ serving, state: { gate, shown }, words }: AnsweringParts<R>): Middleware {
  const { gate: common, own, responses, logger, waitingReads, host, options, tags } = serving;
  const tipHeaders = (tip: HeaderRecord | undefined): HeaderList => (tip === undefined ? NO_HEADERS : shown.headersOf(tip));
  const fail = ({ req, res, tip }: HttpContext, error: unknown): void => {
    if (req.socket.destroyed || error instanceof ClientGoneError) return;
    const refusal = refusalOf(error, gate, logger);
    const known = words.errorOf(refusal);
    // Text from the client is latin1, as Node reads it, so its bytes come back unchanged.
    const body = known.message === '' ? NO_BODY : Buffer.from(`${known.message}${words.lineEnd}`, 'latin1');
    // Where the last state has ended there is no block to name.
    const named = error instanceof NotHereYetError ? error.tip : refusal.kind === 'not-ready' ? undefined : tip;
    const headers = [...errorHeaders(known, known.status), ...words.errorHeadersOf(body, req, known.headers), ...tipHeaders(named)];
    responses.send(res, known.status, headers, body);
  };
  return async (context, next) => {
    const { req, res } = context;
    try {
      if (common.isRehearsing && !own.has(req.socket)) throw unavailable(common.status());
      const minimum = minimumOf(req, waitingReads.log);
      if (minimum !== undefined) {
        if (options.auth) requireApiKey(req, host);
        await waitingReads.until(minimum, shown, req);
      }
      await next();
      const reply = context.reply as R; // the routes answer, or throw
      // Whatever is sent instead: the reply is over then, too.
      if (reply.release !== undefined) responses.whenOver(res, reply.release);
      const { tip } = context;
      // In the middle of a reorganization the tip is lower than before. Who is told of no change would make it again.
      if (minimum !== undefined && reply.change === undefined && tip !== undefined && tip.height < minimum.height)
        throw new NotHereYetError(minimum, tip);
      await responses.endOfTurn();
      const headers = [...words.headersOf(reply, req), ...tipHeaders(tip), ...sequenceHeaders(reply.change)];
      const tag = words.hasTags && isRead(req) ? tags.of(reply) : undefined;
      if (tag === undefined) responses.send(res, 200, headers, reply.body);
      else if (hasCopy(req, tag)) responses.send(res, 304, [...withoutBody(headers), 'ETag', tag], NO_BODY);
      else responses.send(res, 200, [...headers, 'ETag', tag], reply.body);
    } catch (error) {
      fail(context, error);
    }
  };
}

/** Answers with a reply that is cached for this target and this state. A request with a body asks for more than its target says. */
export function fromCache({ host, replies, options }: HttpServing, shown: ShownTip): Middleware {
  return (context, next) => {
    const { req } = context;
    const cached = hasBody(req) ? undefined : replies.find(req.url ?? '');
    if (cached === undefined) return next();
    if (options.auth) requireApiKey(req, host);
    giveCached(context, cached, shown);
    return DONE;
  };
}

const isRead = ({ method }: IncomingMessage): boolean => method === 'GET' || method === 'HEAD';

const DONE: Promise<void> = Promise.resolve();

const NO_HEADERS: HeaderList = [];

/** To be called in the turn in which the reply was found to be right. @throws HttpError 503 if no state is shown any more */
function giveCached(context: HttpContext, cached: Reply, shown: ShownTip): void {
  context.tip = cached.tip ?? shown.required;
  context.reply = cached;
  context.route = cached.route;
}

/** What a route does with a request. */
export interface Asked<C extends Client> {
  /** Undefined for a route that reads no body. */
  readonly readBody?: ((request: IncomingMessage) => Promise<Buffer>) | undefined;
  /** The request as its endpoint sees it. */
  readonly requestWith: (body: Buffer) => C;
  readonly isHeavy: (client: C) => boolean;
  readonly endpoint: (client: C) => Promise<Reply>;
  /** Whether replies may be cached. */
  readonly isCached: boolean;
}

/** Makes the reply to a request whose route was found. */
export async function answer<C extends Client>(
  context: HttpContext,
  { host, queue, replies, responses, options }: HttpServing,
  { gate, shown }: AnsweredState,
  { readBody, requestWith, isHeavy, endpoint, isCached }: Asked<C>
): Promise<void> {
  const { req: request } = context;
  gate.requireOpen();
  if (options.auth) requireApiKey(request, host);
  // Bodies are read before the queue: a slow sender holds no slot.
  const body = readBody !== undefined && hasBody(request) ? await readBody(request) : NO_BODY;
  const { url = '' } = request;
  const question = body.length === 0 ? url : `${url} ${body.toString('latin1')}`;
  const cached = isCached && hasBody(request) ? replies.find(question) : undefined;
  if (cached !== undefined) {
    giveCached(context, cached, shown);
    return;
  }
  const asked = requestWith(body);
  const lane = isHeavy(asked) ? 'heavy' : 'small';
  // The memory for waiting replies is full: the reply could not be sent.
  if (lane === 'heavy' && responses.isFull) throw queueFull();
  const make = (): Promise<Reply> =>
    queue.run(
      asked,
      (client) => {
        // The gate may have closed while the body came, or while the request waited for a slot.
        gate.requireOpen();
        return atOneBlock(context, shown, isCached ? MOST_TRIES : 1, () => endpoint(client));
      },
      lane
    );
  context.reply = await (isCached ? replies.make(question, context.route, make) : make());
}

/**
 * Makes an answer and puts the tip of its state into the context. No two states share a tip object: if it was the same before and afterwards,
 * all that was read between is of that state. An answer that does not say its tip itself, and met two states, is made again; the last
 * one is taken for the older of them. Nothing is answered while no state is shown.
 * @throws HttpError 503
 */
async function atOneBlock(context: HttpContext, shown: ShownTip, mostTries: number, make: () => Promise<Reply>): Promise<Reply> {
  for (let tries = 1; ; tries++) {
    const before = shown.required;
    const isLast = tries === mostTries;
    context.tip = before;
    try {
      const reply = await make();
      if (reply.tip !== undefined) context.tip = reply.tip;
      else if (!isLast && reply.change === undefined && shown.now !== before) {
        reply.release?.();
        continue;
      }
      return reply;
    } catch (error) {
      if (isLast || !(error instanceof HttpError) || shown.now === before) throw error;
    }
  }
}
