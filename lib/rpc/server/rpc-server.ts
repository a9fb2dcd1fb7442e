// Takes calls over HTTP and replies to them: access, and the forms of replies and errors (httprpc.cpp of Bitcoin Core).

import { minimumOf, sequenceHeaders, type Minimum } from '../../server/consistency/minimum';
import { NotHereYetError } from '../../server/consistency/waiting-reads';
import { errorHeaders, HttpError, RETRY_AFTER, type HeaderList } from '../../server/errors';
import { NO_BODY, readBody } from '../../server/http/body';
import { refusalOf } from '../../server/refusal';
import { ClientGoneError } from '../../turns/client';
import { runInSlices, Slice } from '../../turns/slices';
import { RpcClient, type ActiveCall } from '../call';
import { isBad, listedMethod, parseCalls, type Call, type Parsed } from '../json-rpc';
import { CallRunner, type CallRunnerParts, type Outcome, type Tips } from './call-runner';
import { joined, repliesTo, statusFor } from './replies';
import { WrongPasswords } from './wrong-passwords';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ChangePoint } from '../../node/types/fleet';
import type { HttpServing } from '../../server/serving';
import type { Access, Denial, Rights } from './access';

/** Bitcoin Core's limit (MAX_SIZE), for clients with access; for others REST's limit applies. */
const MOST_BODY_BYTES = 32 * 1_024 * 1_024;

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

export interface RpcServerParts extends CallRunnerParts {
  readonly serving: HttpServing;
  readonly access: Access;
}

export class RpcServer {
  readonly #parts: RpcServerParts;
  readonly #wrongPasswords = new WrongPasswords();
  readonly #runner: CallRunner;

  constructor(parts: RpcServerParts) {
    this.#parts = parts;
    this.#runner = new CallRunner(parts);
  }

  /** The calls that are being answered. */
  get active(): readonly ActiveCall[] {
    return this.#runner.active;
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
      const client = new RpcClient(socket);
      const parsed = await runInSlices(parseCalls(body), client);
      const denial = denialOf(parsed, grant);
      if (denial === 'forbidden') this.#send(response, 403, [], [NO_BODY]);
      else {
        const minimum = await this.#untilShown(request);
        await this.#serve(denial ?? parsed, response, client, minimum);
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
  async #serve({ calls, isBatch }: Parsed, response: ServerResponse, client: RpcClient, minimum: Minimum | undefined): Promise<void> {
    const { responses } = this.#parts.serving;
    const slice = new Slice();
    const outcomes: Outcome[] = [];
    let replies: (string | Buffer)[][];
    let tips: Tips;
    let changes: readonly ChangePoint[];
    try {
      tips = await this.#runner.run(calls, client, slice, outcomes);
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

/** For answers that will not be sent. */
function releaseAll(outcomes: readonly Outcome[]): void {
  for (const outcome of outcomes) if ('answer' in outcome) outcome.answer.release?.();
}

const changesIn = (outcomes: readonly Outcome[]): ChangePoint[] =>
  outcomes.flatMap((outcome) => ('answer' in outcome ? (outcome.answer.change ?? []) : []));
