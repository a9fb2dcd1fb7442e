// A real node with both indexes, Esplora's API and mempool's WebSocket, and clients of the WebSocket.

import { once } from 'node:events';
import { BehaviorSubject } from 'rxjs';
import { WebSocket, type RawData } from 'ws';
import { EsploraService } from '../../lib/esplora/esplora-service';
import { PushService } from '../../lib/esplora/push/push-service';
import { ChainIndexer } from '../../lib/index/chain-index';
import { BcoinNode } from '../../lib/node/bcoin';
import { RestService } from '../../lib/rest/rest-service';
import { ChainAnswers } from '../../lib/answers/chain-answers';
import { PoolFees } from '../../lib/answers/pool/fees';
import { ScriptPool } from '../../lib/pool/by-script/script-pool';
import { ScriptHistories } from '../../lib/answers/status/history';
import { ScriptNotifier } from '../../lib/answers/status/script-notifier';
import { ScriptIndexer } from '../../lib/scripts/script-indexer';
import { isLoopback } from '../../lib/server/bounds/address-group';
import { Sessions } from '../../lib/server/sockets/sessions';
import { SUBSCRIPTION_BYTES, SubscriptionMemory } from '../../lib/server/bounds/subscription-memory';
import { WebSockets } from '../../lib/server/sockets/web-sockets';
import { MemoryStore } from '../../lib/store/memory-store';
import { migrations } from '../../migrations';
import { readOptions } from '../../plugin/options';
import { unfailing } from './unfailing';
import { MemoryLog } from './memory-log';
import { openRegtestNode, type RegtestOptions } from './regtest-node';
import { until } from './until';
import type { AddressInfo } from 'node:net';
import type { TestFullNode } from './bcoin';

const OPTIONS = {
  maxSessions: 100,
  maxCost: 0,
  maxSubscriptions: 1_000,
  maxHistory: 80_000,
  /** Subscriptions of all clients. */
  mostOfAll: 1_000,
  auth: false,
  cors: undefined as readonly string[] | undefined
};

export interface PushNode {
  readonly node: TestFullNode;
  readonly push: PushService;
  readonly sessions: Sessions;
  readonly notifier: ScriptNotifier;
  readonly index: ChainIndexer;
  /** Whether clients may connect. */
  readonly ready$: BehaviorSubject<boolean>;
  readonly port: number;
  readonly log: MemoryLog;
}

export async function openPushNode(options: Partial<typeof OPTIONS> & RegtestOptions = {}): Promise<PushNode> {
  const { maxSessions, maxCost, maxSubscriptions, maxHistory, mostOfAll, auth, cors, ...regtest } = { ...OPTIONS, ...options };
  const ready$ = new BehaviorSubject(true);
  const log = new MemoryLog();
  let parts: Pick<PushNode, 'push' | 'sessions' | 'notifier' | 'index'> | undefined;
  let isLive: () => boolean = () => false;
  const plugin = {
    id: 'push',
    init: (host: TestFullNode) => {
      const { limits, ...others } = readOptions(host.config);
      const node = new BcoinNode(host);
      const index = new ChainIndexer({ store: new MemoryStore(), node, logger: log, migrations, ...others });
      const rest = new RestService({ node, index, options: { ...others, limits, warmup: 'indexed' }, logger: log });
      const { shared } = rest;
      const common = { node, index, logger: log, undoDepth: 1_000, scrubMs: 0 };
      const scripts = new ScriptIndexer({ ...common, store: new MemoryStore(), filling: undefined });
      const pool = new ScriptPool(node.pool, unfailing);
      const fees = new PoolFees(node, pool);
      const answers = new ChainAnswers(shared.context);
      const histories = new ScriptHistories(pool, answers.totals);
      const notifier = new ScriptNotifier({ ...common, scripts, pool, histories });
      const esplora = new EsploraService({
        shared,
        scripts,
        pool,
        fees,
        answers,
        options: { path: '/api', cors, auth, broadcast: true, maxUnspent: 500 },
        logger: log
      });
      const sessions = new Sessions({ maxSessions, maxCost, isOwn: isLoopback, timeoutMs: limits.timeoutMs });
      const push = new PushService({
        context: esplora.context,
        scripts,
        notifier,
        histories,
        sessions,
        outflow: shared.responses,
        subscriptions: new SubscriptionMemory(mostOfAll * SUBSCRIPTION_BYTES),
        gate: shared.gate,
        options: { maxSubscriptions, maxHistory },
        logger: log
      });
      const webSockets = new WebSockets({
        ...shared,
        node: shared.context.node,
        sessions,
        paths: {
          '/api/v1/ws': (channel, address) => {
            push.begin(channel, address);
          }
        },
        refusal: () => (ready$.value ? undefined : 'loading'),
        origins: cors,
        auth,
        logger: log
      });
      parts = { push, sessions, notifier, index };
      isLive = () => scripts.state.phase === 'live';
      return {
        open: async () => {
          await index.open();
          rest.open();
          esplora.open();
          webSockets.open();
          await pool.open();
          notifier.open();
          push.open();
          scripts.open();
        },
        close: async () => {
          webSockets.close();
          await sessions.close();
          esplora.close();
          await push.close();
          await notifier.close();
          await scripts.close();
          pool.close();
          rest.close();
          await index.close();
          node.close();
        }
      };
    }
  };
  const node = await openRegtestNode({ ...regtest, plugins: [plugin] });
  if (parts === undefined) throw new Error('expected the node to load its plugin');
  await until(() => isLive());
  const { port } = new BcoinNode(node).httpServer.address() as AddressInfo;
  return { node, ...parts, ready$, port, log };
}

/** The content of one message. */
export type Told = Readonly<Record<string, unknown>>;

export class PushClient {
  readonly told: Told[] = [];

  constructor(readonly socket: WebSocket) {
    socket.on('message', (data: RawData) => void this.told.push(JSON.parse((data as Buffer).toString()) as Told));
    socket.on('error', () => undefined);
  }

  static async connect(port: number, headers: Readonly<Record<string, string>> = {}): Promise<PushClient> {
    const client = new PushClient(new WebSocket(`ws://127.0.0.1:${port}/api/v1/ws`, { headers }));
    await once(client.socket, 'open');
    return client;
  }

  send(...requests: readonly unknown[]): void {
    for (const request of requests) this.socket.send(JSON.stringify(request));
  }

  /** The answers to these requests, up to the pong after them, when the requests are in force. */
  async ask(...requests: readonly unknown[]): Promise<Told[]> {
    this.told.length = 0;
    this.send(...requests, { action: 'ping' });
    await until(() => this.told.some((told) => 'pong' in told));
    return this.told.splice(0).filter((told) => !('pong' in told));
  }

  /** The next message that has this field. */
  async next(field: string): Promise<unknown> {
    await until(() => this.told.some((told) => field in told));
    const at = this.told.findIndex((told) => field in told);
    return this.told.splice(at, 1)[0]?.[field];
  }

  async closed(): Promise<number> {
    if (this.socket.readyState === WebSocket.CLOSED) return 0;
    return ((await once(this.socket, 'close')) as [number])[0];
  }
}

/** The status of a refused upgrade. */
export async function refusedWith(url: string, headers: Readonly<Record<string, string>> = {}): Promise<number | undefined> {
  const socket = new WebSocket(url, { headers });
  socket.on('error', () => undefined);
  const [, response] = (await once(socket, 'unexpected-response')) as [unknown, { statusCode?: number; resume(): void }];
  response.resume();
  return response.statusCode;
}
