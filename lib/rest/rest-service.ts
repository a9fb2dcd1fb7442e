// The REST service put together: what the plugin opens and closes.

import type { Socket } from 'node:net';
import type { Observable } from 'rxjs';
import { AnswerCache } from '../server/cache/answer-cache';
import { restApp } from './app';
import { type ServerLogger } from '../server/logger';
import { Gate, GatedReader, type Warmup } from '../server/work/gate';
import { Connections } from '../server/http/connections';
import { CLOSING_MS, MOST_BYTES_IN_FLIGHT, type Limits } from '../server/limits';
import { Mount, under } from '../server/http/mount';
import { RawBlocks } from '../answers/blocks/raw-blocks';
import { PoolTexts } from '../answers/pool/texts';
import { ReplyCache } from '../server/cache/replies';
import { BlockTexts } from '../answers/blocks/texts';
import { Responses } from '../server/http/responses';
import { noSuchPath } from '../server/errors';
import { RestRequest } from './endpoint';
import { type EndpointContext } from '../answers/context';
import { findRoute, restRoutes } from './routes';
import { NO_BODY } from '../server/http/body';
import { SpentOutputs } from '../answers/blocks/spent-outputs';
import { Unfinished } from '../server/bounds/unfinished';
import { WorkQueue } from '../server/work/work-queue';
import type { ChainIndex } from '../index/types';
import type { NodeSource } from '../node/types';
import type { Profile } from '../views/profile';
import type { Reply } from '../server/http/reply';

const PREFIX = '/rest';

export interface RestServiceOptions {
  readonly warmup: Warmup;
  /** Whether bin and hex carry witnesses (`rpcserialversion`). */
  readonly witness: boolean;
  /** Whether blocks have filters. */
  readonly filters: boolean;
  /** Whether requests need the node's API key. */
  readonly auth: boolean;
  readonly limits: Limits;
  /** The edition of Bitcoin Core's interface that is spoken. */
  readonly profile: Profile;
  /** Memory for replies and the blocks they are made from. */
  readonly answerCacheBytes: number;
}

export interface RestServiceParts {
  readonly node: NodeSource;
  readonly index: ChainIndex;
  readonly options: RestServiceOptions;
  readonly logger: ServerLogger;
}

/** The parts that the other interfaces (RPC, Esplora, Electrum) share with REST. */
export interface RestShared {
  readonly context: EndpointContext;
  readonly gate: Gate;
  readonly queue: WorkQueue;
  readonly responses: Responses;
  /** Memory for what clients of all interfaces have begun to send. */
  readonly unfinished: Unfinished;
  /** The connections of the node's HTTP server. */
  readonly connections: Connections;
  /** The reply to a GET, made without checking gate or key and without queueing. @throws HttpError, and errors of index and node */
  readonly ask: (target: string, client: { readonly socket: Pick<Socket, 'destroyed'> }) => Promise<Reply>;
}

export class RestService {
  readonly shared: RestShared;
  /** Whether requests are answered: emits the current value, then every change. */
  readonly ready$: Observable<boolean>;
  readonly #gate: Gate;
  readonly #queue: WorkQueue;
  readonly #mount: Mount;

  constructor({ node, index, options, logger }: RestServiceParts) {
    const { warmup, witness, filters, auth, limits, profile, answerCacheBytes } = options;
    const gate = (this.#gate = new Gate(node, index, warmup));
    this.ready$ = gate.ready$;
    const queue = (this.#queue = new WorkQueue(limits.threads, limits.workQueue));
    const cache = new AnswerCache(answerCacheBytes);
    const reader = new GatedReader(index.reader, gate);
    const replies = new ReplyCache(cache, node, reader);
    const context: EndpointContext = {
      node,
      profile,
      gate,
      witness,
      filters,
      limits,
      cache,
      reader,
      blocks: new RawBlocks(node, cache),
      texts: new BlockTexts(answerCacheBytes),
      poolTexts: new PoolTexts(node.pool, profile.fields, gate),
      spent: new SpentOutputs(node),
      txids: { of: undefined }
    };
    const routes = restRoutes(context);
    const server = node.httpServer;
    const responses = new Responses(server, {
      mostBytes: MOST_BYTES_IN_FLIGHT,
      readRate: { bytesPerSecond: limits.readRate, windowMs: limits.timeoutMs }
    });
    const unfinished = new Unfinished();
    const app = restApp({ routes, profile, gate, queue, replies, responses, limits, unfinished, node, auth, logger });
    const connections = new Connections(server, limits.timeoutMs, CLOSING_MS);
    this.shared = {
      context,
      gate,
      queue,
      responses,
      unfinished,
      connections,
      ask: async (target, { socket }) => {
        const cached = replies.find(target);
        if (cached !== undefined) return cached;
        const route = findRoute(routes, target);
        if (route === undefined) throw noSuchPath();
        const request = new RestRequest(target.slice(route.prefix.length), NO_BODY, socket, profile.parsing.cutsQuery);
        return replies.make(target, () => route.endpoint(request));
      }
    };
    this.#mount = new Mount({ server, takes: under(PREFIX), handler: app.callback(), connections, logger });
  }

  /** Takes over the paths under /rest from the node's HTTP server as soon as it listens. */
  open(): void {
    this.#gate.open();
    this.shared.connections.open();
    this.#mount.open();
  }

  /** Why requests are refused; undefined while they are answered. */
  get status(): string | undefined {
    return this.#gate.isOpen ? undefined : this.#gate.status();
  }

  /** @throws HttpError 503, with what is going on, while the gate is closed. */
  requireReady(): void {
    this.#gate.requireOpen();
  }

  /** Gives the paths back to the node, and refuses requests that still wait. */
  close(): void {
    this.#mount.close();
    this.shared.connections.close();
    this.#queue.close();
    this.#gate.close();
  }
}
