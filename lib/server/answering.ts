// The way of a request to its reply: a cached reply if there is one; otherwise the route, gate, key, body, queue and the gate again. The
// reply or the error is sent in the words of the interface.

import { ClientGoneError, type Client } from '../turns/client';
import { errorHeaders, queueFull, unavailable, type HeaderList, type HttpError } from './errors';
import { requireApiKey } from './http/auth';
import { hasBody, NO_BODY } from './http/body';
import { refusalOf, type Refusal } from './refusal';
import type { IncomingMessage } from 'node:http';
import type { HttpContext, Middleware, Next } from './app';
import type { Reply } from './http/reply';
import type { HttpServing } from './serving';
import type { Gate } from './work/gate';

/** How an interface words its replies. */
export interface Words<R extends Reply> {
  /** Headers of a success. */
  headersOf(reply: R, request: IncomingMessage): HeaderList;
  /** The status and text of a refusal. */
  errorOf(refusal: Refusal): Pick<HttpError, 'status' | 'message' | 'headers'>;
  /** Headers of an error besides its own; `body`: its text as bytes. */
  errorHeadersOf(body: Buffer, request: IncomingMessage): HeaderList;
  /** What stands behind the text of an error. */
  readonly lineEnd: string;
}

export interface AnsweringParts<R extends Reply> {
  readonly serving: HttpServing;
  /** Of this interface. */
  readonly gate: Pick<Gate, 'requireOpen' | 'status'>;
  readonly words: Words<R>;
}

/** Sends the reply that `next` leaves in the context, or its error. */
export function sending<R extends Reply>({
  serving: { gate: common, own, responses, logger },
  gate,
  words
}: AnsweringParts<R>): Middleware {
  const fail = ({ req, res }: HttpContext, error: unknown): void => {
    if (req.socket.destroyed || error instanceof ClientGoneError) return;
    const known = words.errorOf(refusalOf(error, gate, logger));
    // Text from the client is latin1, as Node reads it, so its bytes come back unchanged.
    const body = known.message === '' ? NO_BODY : Buffer.from(`${known.message}${words.lineEnd}`, 'latin1');
    responses.send(res, known.status, [...errorHeaders(known, known.status), ...words.errorHeadersOf(body, req)], body);
  };
  return async (context, next) => {
    const { req, res } = context;
    try {
      if (common.isRehearsing && !own.has(req.socket)) throw unavailable(common.status());
      await next();
      const reply = context.reply as R; // the routes answer, or throw
      await responses.endOfTurn();
      if (reply.release !== undefined) responses.whenOver(res, reply.release);
      responses.send(res, 200, words.headersOf(reply, req), reply.body);
    } catch (error) {
      fail(context, error);
    }
  };
}

/** Answers with a reply that is cached for this target and this state. A request with a body asks for more than its target says. */
export function fromCache({ host, replies, options }: HttpServing): Middleware {
  return (context, next) => {
    const { req } = context;
    const cached = hasBody(req) ? undefined : replies.find(req.url ?? '');
    if (cached === undefined) return next();
    if (options.auth) requireApiKey(req, host);
    context.reply = cached;
    return DONE;
  };
}

const DONE: Promise<void> = Promise.resolve();

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
  gate: Pick<Gate, 'requireOpen'>,
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
    context.reply = cached;
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
        return endpoint(client);
      },
      lane
    );
  context.reply = await (isCached ? replies.make(question, make) : make());
}

/** One middleware of several, each of which calls the one behind it. */
export function inOrder(...list: readonly Middleware[]): Middleware {
  return list.reduceRight<Middleware>(
    (behind, first) => (context, next) => first(context, () => behind(context, next)),
    (_context: HttpContext, next: Next) => next()
  );
}
