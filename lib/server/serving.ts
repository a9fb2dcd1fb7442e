// What serves the requests of all interfaces. Opened before them, and closed after them.

import { merge, type Observable } from 'rxjs';
import { Proxies } from './bounds/proxies';
import { Unfinished } from './bounds/unfinished';
import { AnswerCache } from './cache/answer-cache';
import { ReplyCache } from './cache/replies';
import { ShownTip } from './consistency/shown-tip';
import { WaitingReads } from './consistency/waiting-reads';
import { Connections } from './http/connections';
import { EntityTags } from './http/entity-tags';
import { Responses } from './http/responses';
import { CLOSING_MS, MOST_BYTES_IN_FLIGHT, type Limits } from './limits';
import { Gate, type Warmup } from './work/gate';
import { GatedReader } from './work/gated-reader';
import { WorkQueue } from './work/work-queue';
import type { Socket } from 'node:net';
import type { ChainIndex, IndexSnapshot } from '../index/types';
import type { HttpHost } from '../node/types/http-host';
import type { NodeSource } from '../node/types/source';
import type { ServerLogger } from './logger';

export interface ServingOptions {
  readonly warmup: Warmup;
  readonly limits: Limits;
  /** Whether requests need the node's API key. */
  readonly auth: boolean;
  /** Memory for replies and what they are made from. */
  readonly answerCacheBytes: number;
  /** Addresses and networks of proxies that name their clients. */
  readonly trustedProxies: readonly string[];
}

export interface ServingParts {
  readonly host: HttpHost;
  readonly node: NodeSource;
  readonly index: ChainIndex;
  /** Emits when interfaces show another state that depend on more than the index. */
  readonly moved$: Observable<unknown>;
  /** What the bytes of answers depend on beside the chain: the version of the program, and options. */
  readonly edition: string;
  readonly options: ServingOptions;
  readonly logger: ServerLogger;
}

/** What a request over HTTP passes on its way to a reply. */
export interface HttpServing {
  readonly host: Pick<HttpHost, 'isApiKey'>;
  readonly options: Pick<ServingOptions, 'limits' | 'auth'>;
  readonly logger: ServerLogger;
  readonly gate: Pick<Gate, 'isRehearsing' | 'requireOpen' | 'requireReady' | 'status'>;
  /** Connections of the rehearsal, which is answered before clients are. */
  readonly own: WeakSet<Socket>;
  readonly queue: WorkQueue;
  readonly replies: ReplyCache;
  readonly responses: Responses;
  readonly unfinished: Unfinished;
  readonly proxies: Proxies;
  /** For caches between the service and its clients. */
  readonly tags: EntityTags;
  /** The tip of the index. */
  readonly shown: ShownTip;
  /** Requests for a state that is not there yet. */
  readonly waitingReads: WaitingReads;
}

export class Serving implements HttpServing {
  readonly host: HttpHost;
  readonly node: NodeSource;
  readonly options: ServingOptions;
  readonly logger: ServerLogger;
  readonly gate: Gate;
  /** The index; answers only while the gate is open. */
  readonly reader: GatedReader<IndexSnapshot>;
  readonly queue: WorkQueue;
  readonly cache: AnswerCache;
  readonly replies: ReplyCache;
  readonly responses: Responses;
  readonly shown: ShownTip;
  readonly waitingReads: WaitingReads;
  /** Memory for what clients have begun to send. */
  readonly unfinished: Unfinished;
  readonly proxies: Proxies;
  readonly tags: EntityTags;
  readonly own = new WeakSet<Socket>();
  /** The connections of the HTTP server. */
  readonly connections: Connections;

  constructor({ host, node, index, moved$, edition, options, logger }: ServingParts) {
    const { warmup, limits, answerCacheBytes } = options;
    this.proxies = new Proxies(options.trustedProxies);
    this.unfinished = new Unfinished(undefined, this.proxies);
    this.tags = new EntityTags(edition);
    this.host = host;
    this.node = node;
    this.options = options;
    this.logger = logger;
    this.gate = new Gate(node, index, warmup);
    this.reader = new GatedReader(index.reader, this.gate);
    this.queue = new WorkQueue(limits.threads, limits.workQueue);
    this.cache = new AnswerCache(answerCacheBytes);
    this.replies = new ReplyCache(this.cache, node, this.reader);
    this.responses = new Responses(host.server, {
      mostBytes: MOST_BYTES_IN_FLIGHT,
      readRate: { bytesPerSecond: limits.readRate, windowMs: limits.timeoutMs }
    });
    this.shown = new ShownTip(() => this.reader.read(({ tip }) => tip));
    this.waitingReads = new WaitingReads(node.position, merge(index.tip$, node.position.moved$, moved$), (request) =>
      this.proxies.shareOf(this.proxies.clientOf(request))
    );
    this.connections = new Connections(host.server, limits.timeoutMs, CLOSING_MS);
  }

  open(): void {
    this.gate.open();
    this.connections.open();
  }

  /** Why requests are refused; undefined while they are answered. */
  get status(): string | undefined {
    return this.gate.isReady ? undefined : this.gate.status();
  }

  /** Refuses requests that still wait. */
  close(): void {
    this.connections.close();
    this.queue.close();
    this.gate.close();
  }
}
