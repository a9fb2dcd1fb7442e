// A real node with both indexes, Esplora's API and mempool's WebSocket, and clients of the WebSocket.

import { once } from 'node:events';
import { BehaviorSubject } from 'rxjs';
import { WebSocket, type RawData } from 'ws';
import { BcoinNode } from '../../lib/node/bcoin';
import { SUBSCRIPTION_BYTES, SubscriptionMemory } from '../../lib/server/bounds/subscription-memory';
import { MemoryStore } from '../../lib/store/memory-store';
import { Assembly } from '../../plugin/assemble';
import { readOptions } from '../../plugin/options';
import { MemoryLog } from './memory-log';
import { openRegtestNode, type RegtestOptions } from './regtest-node';
import { until } from './until';
import type { AddressInfo } from 'node:net';
import type { StatusNotifier } from '../../lib/answers/status/status-notifier';
import type { ScriptAccess } from '../../lib/electrum/script-access';
import type { PushService } from '../../lib/esplora/push/push-service';
import type { ChainIndexer } from '../../lib/index/chain-index';
import type { ScriptIndexer } from '../../lib/scripts/script-indexer';
import type { Sessions } from '../../lib/server/sockets/sessions';
import type { Store } from '../../lib/store/store';
import type { TestFullNode } from './bcoin';

const OPTIONS = {
  maxSessions: 100,
  maxCost: 0,
  maxSubscriptions: 1_000,
  maxHistory: 80_000,
  /** Subscriptions of all clients. */
  mostOfAll: 1_000,
  auth: false,
  cors: undefined as readonly string[] | undefined,
  /** For the index by script. */
  scriptStore: undefined as Store | undefined
};

export interface PushNode {
  readonly node: TestFullNode;
  readonly push: PushService;
  readonly sessions: Sessions;
  readonly scripts: ScriptIndexer;
  readonly access: ScriptAccess;
  readonly statuses: StatusNotifier;
  readonly index: ChainIndexer;
  /** Whether clients may connect. */
  readonly ready$: BehaviorSubject<boolean>;
  readonly port: number;
  readonly log: MemoryLog;
}

export async function openPushNode(options: Partial<typeof OPTIONS> & RegtestOptions = {}): Promise<PushNode> {
  const { maxSessions, maxCost, maxSubscriptions, maxHistory, mostOfAll, auth, cors, scriptStore, ...regtest } = { ...OPTIONS, ...options };
  const ready$ = new BehaviorSubject(true);
  const log = new MemoryLog();
  let parts: Assembly | undefined;
  const plugin = {
    id: 'push',
    init: (host: TestFullNode) =>
      (parts = new Assembly({
        host,
        options: {
          ...readOptions(host.config),
          ...{ warmup: 'indexed', auth, undoDepth: 1_000, scrubMs: 0 },
          addresses: {
            ...{ path: '/api', cors, broadcast: true, maxUnspent: 500, maxHistory },
            electrum: { plain: undefined, tls: undefined, certificate: undefined, maxSessions, maxCost, maxSubscriptions }
          }
        },
        ...{ store: new MemoryStore(), scriptStore: scriptStore ?? new MemoryStore(), places: undefined },
        ...{ version: '1.2.3', logger: log },
        replaced: {
          subscriptions: new SubscriptionMemory(mostOfAll * SUBSCRIPTION_BYTES),
          refusal: () => (ready$.value ? undefined : 'loading')
        }
      }))
  };
  const node = await openRegtestNode({ ...regtest, plugins: [plugin] });
  const { index, wallets } = parts ?? {};
  if (index === undefined || wallets === undefined) throw new Error('expected the node to load its plugin');
  const { push, sessions, scripts, access, statuses } = wallets;
  await until(() => scripts.state.phase === 'live');
  const { port } = new BcoinNode(node).httpServer.address() as AddressInfo;
  return { node, push, sessions, scripts, access, statuses, index, ready$, port, log };
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
