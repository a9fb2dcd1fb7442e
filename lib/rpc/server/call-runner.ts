// Makes the calls of a body: in their order, in slots of the work queue. Calls that are the node's own are passed on to it one by one.

import { misc, CallError } from '../../answers/errors';
import { queueFull } from '../../server/errors';
import { MOST_BYTES_IN_FLIGHT } from '../../server/limits';
import { refusalOf } from '../../server/refusal';
import { ClientGoneError } from '../../turns/client';
import { nextTurn, type Slice } from '../../turns/slices';
import { CALLS } from '../call-table';
import { brokenDown, inWarmup, methodNotFound, outOfMemory } from '../errors';
import { isBad, type BadCall, type Call } from '../json-rpc';
import { isOwnCall, ownAnswer, ownCallWaits } from '../own-calls';
import { Parameters, usageOf } from '../parameters';
import type { HeaderRecord } from '../../index/types';
import type { InterfaceTimes } from '../../server/figures/request-times';
import type { HttpServing } from '../../server/serving';
import type { ActiveCall, Answer, CallContext, CallDefinition, RpcClient } from '../call';

/** Under this name the node's own calls are counted. */
const OWN_CALLS = 'of the node';

/** The result of a call. */
export type Outcome = { readonly answer: Answer } | { readonly error: CallError };

/** The tips of the states that calls were answered from; undefined: there was none. */
export type Tips = ReadonlySet<HeaderRecord | undefined>;

export interface CallRunnerParts {
  readonly serving: Pick<HttpServing, 'queue' | 'responses' | 'shown' | 'gate' | 'logger'>;
  readonly context: CallContext;
  /** Counts calls; undefined: nobody does. */
  readonly times?: InterfaceTimes | undefined;
}

interface Job {
  readonly call: Call | BadCall;
  readonly isHeavy: boolean;
  readonly waits: boolean;
  /** @throws CallError, and errors of endpoints, index and node */
  run(client: RpcClient): Promise<Answer>;
}

export class CallRunner {
  readonly #parts: CallRunnerParts;
  readonly #active = new Set<ActiveCall>();

  constructor(parts: CallRunnerParts) {
    this.#parts = parts;
  }

  /** The calls that are being answered. */
  get active(): readonly ActiveCall[] {
    return [...this.#active];
  }

  /**
   * Runs the calls in their order: those that may wait without a slot, others that follow one another in one slot. `outcomes` gets the result
   * of each. Gives the tips of the states that they were answered from, but for those that may wait. @throws HttpError, ClientGoneError
   */
  async run(calls: readonly (Call | BadCall)[], client: RpcClient, slice: Slice, outcomes: Outcome[]): Promise<Tips> {
    const { queue, responses, shown } = this.#parts.serving;
    const jobs = await this.#jobsFor(calls, slice);
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

  async #jobsFor(calls: readonly (Call | BadCall)[], slice: Slice): Promise<Job[]> {
    const jobs: Job[] = [];
    for (const call of calls) {
      if (slice.isOver()) await nextTurn();
      jobs.push(this.#jobFor(call));
    }
    return jobs;
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
