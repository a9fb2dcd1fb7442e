// A real node with the index of the chain, REST and the Electrum protocol (with methods that a test chooses), and clients of it.

import { once } from 'node:events';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { BehaviorSubject, filter, firstValueFrom } from 'rxjs';
import { answersOf, type Answers } from '../../lib/answers/answers';
import { ElectrumService, type ElectrumServiceOptions } from '../../lib/electrum/electrum-service';
import { ChainIndexer } from '../../lib/index/chain-index';
import { BcoinNode } from '../../lib/node/bcoin';
import { restInterface } from '../../lib/rest/rest-interface';
import { restRoutes } from '../../lib/rest/routes';
import { HttpApp } from '../../lib/server/app';
import { isLoopback } from '../../lib/server/bounds/address-group';
import { Mount } from '../../lib/server/http/mount';
import { Serving } from '../../lib/server/serving';
import { Sessions, type SessionsParts } from '../../lib/server/sockets/sessions';
import { WebSockets } from '../../lib/server/sockets/web-sockets';
import { MemoryStore } from '../../lib/store/memory-store';
import { migrations } from '../../migrations';
import { readOptions } from '../../plugin/options';
import { openRegtestNode, type RegtestOptions } from './regtest-node';
import type { MethodTable } from '../../lib/electrum/method';
import type { ClosableSubscriptions, Notified } from '../../lib/electrum/server/session';
import type { Origins } from '../../lib/server/http/cors';
import type { TestFullNode } from './bcoin';

const ANY_PORT = { host: '127.0.0.1', port: 0 };

interface ServerOptions extends ElectrumServiceOptions, Pick<SessionsParts, 'maxSessions' | 'maxCost' | 'isOwn'> {
  readonly cors: Origins;
  readonly auth: boolean;
}

const OPTIONS: ServerOptions = {
  plain: ANY_PORT,
  tls: undefined,
  certificate: undefined,
  maxSessions: 1_000,
  maxCost: 0,
  isOwn: isLoopback,
  cors: undefined,
  auth: false
};

export interface ElectrumNode {
  readonly node: TestFullNode;
  readonly electrum: ElectrumService;
  /** Whether methods are answered. */
  readonly ready$: BehaviorSubject<boolean>;
  readonly context: Answers;
  /** The first of the protocol's ports. */
  readonly port: number;
  readonly httpPort: number;
  /** Logged errors. */
  readonly errors: readonly string[];
  /** Logged information. */
  readonly notes: readonly string[];
  /** Clients that get notifications. */
  readonly notified: ReadonlySet<Notified>;
}

export interface ElectrumNodeOptions extends RegtestOptions {
  readonly methods: (context: Answers) => MethodTable;
  readonly options?: Partial<ServerOptions>;
  /** Folder for a certificate that the server makes itself. */
  readonly folder?: string;
}

/** Opens a node that answers. */
export async function openElectrumNode({ methods, options, folder, ...regtest }: ElectrumNodeOptions): Promise<ElectrumNode> {
  let parts: { serving: Serving; answers: Answers; electrum: ElectrumService } | undefined;
  const ready$ = new BehaviorSubject(false);
  const [errors, notes]: [string[], string[]] = [[], []];
  const notified = new Set<Notified>();
  const plugin = {
    id: 'electrum',
    init: (node: TestFullNode) => {
      const read = readOptions(node.config);
      const ownLogger = node.logger.context('electrum');
      const logger = {
        error: (message: string) => void errors.push(message),
        info: (message: string) => void notes.push(message),
        debug: () => undefined
      };
      const source = new BcoinNode(node);
      const { maxSessions, maxCost, isOwn, cors, auth, ...own } = { ...OPTIONS, ...options };
      const index = new ChainIndexer({ ...read, store: new MemoryStore(), node: source, logger: ownLogger, migrations });
      const serving = new Serving({ node: source, index, options: { ...read, warmup: 'indexed', auth }, logger });
      const answers = answersOf(serving, read, undefined);
      const app = new HttpApp(logger);
      const sessions = new Sessions({ maxSessions, maxCost, isOwn, timeoutMs: read.limits.timeoutMs });
      const electrum = new ElectrumService({
        serving,
        sessions,
        methods: methods(answers),
        subscriptionsOf: (client) => subscriptionsOf(client, notified),
        gate: { status: () => 'loading' },
        ready$,
        options: own,
        version: '1.2.3',
        folder,
        logger
      });
      const webSockets = new WebSockets({
        serving,
        sessions,
        paths: {
          '/electrum': (connection, address) => {
            electrum.begin(connection, address);
          }
        },
        refusal: () => (ready$.value ? undefined : 'loading'),
        origins: cors
      });
      app.add(webSockets);
      app.add(restInterface(serving, restRoutes(answers), read.profile));
      const mount = new Mount({
        server: source.httpServer,
        takes: app.takes,
        handler: app.handle,
        upgrade: { takes: webSockets.takes, listener: webSockets.upgrade },
        connections: serving.connections,
        logger
      });
      parts = { serving, answers, electrum };
      return {
        open: async () => {
          await index.open();
          serving.open();
          await electrum.open();
          mount.open();
        },
        close: async () => {
          electrum.close();
          mount.close();
          await sessions.close();
          serving.close();
          await index.close();
          source.close();
        }
      };
    }
  };
  const node = await openRegtestNode({ ...regtest, plugins: [plugin] });
  if (parts === undefined) throw new Error('expected the node to load its plugin');
  const { serving, answers, electrum } = parts;
  await firstValueFrom(serving.gate.ready$.pipe(filter((ready) => ready)));
  ready$.next(true);
  const count = [options?.plain ?? ANY_PORT, options?.tls].filter((endpoint) => endpoint !== undefined).length;
  while (electrum.addresses.length < count) await new Promise((resolve) => setImmediate(resolve));
  const { port } = electrum.addresses[0] as AddressInfo; // above none
  const { port: httpPort } = serving.node.httpServer.address() as AddressInfo;
  return { node, electrum, ready$, context: answers, port, httpPort, errors, notes, notified };
}

/** The subscriptions of a client that is told nothing. It counts as subscribed once it has tried to unsubscribe from something. */
function subscriptionsOf(client: Notified, notified: Set<Notified>): ClosableSubscriptions {
  let isEmpty = true;
  notified.add(client);
  return {
    get isEmpty() {
      return isEmpty;
    },
    addHeaders: () => undefined,
    addScript: () => Promise.resolve(undefined),
    removeScript: () => (isEmpty = false),
    close: () => void notified.delete(client)
  };
}

/** A client that reads lines. */
export class LineClient {
  readonly socket: Socket;
  readonly #lines: string[] = [];
  readonly #waiting: ((line: string | undefined) => void)[] = [];
  #begun: string[] = [];

  constructor(socket: Socket) {
    this.socket = socket;
    socket.setEncoding('utf8');
    socket.on('data', (text: string) => {
      const lines = text.split('\n');
      const rest = lines.pop() ?? '';
      if (lines.length > 0) lines[0] = [...this.#begun.splice(0), lines[0]].join('');
      this.#begun.push(rest);
      for (const line of lines) {
        const waiting = this.#waiting.shift();
        if (waiting === undefined) this.#lines.push(line);
        else waiting(line);
      }
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      for (const waiting of this.#waiting.splice(0)) waiting(undefined);
    });
  }

  /** `from`: an address of this machine. */
  static async connect(port: number, from?: string): Promise<LineClient> {
    const socket = connect({ port, host: '127.0.0.1', ...(from !== undefined && { localAddress: from }) });
    await once(socket, 'connect');
    return new LineClient(socket);
  }

  /** Lines that have arrived and were not read. */
  get waiting(): number {
    return this.#lines.length;
  }

  /** The next line; undefined: the connection is closed. */
  line(): Promise<string | undefined> {
    const line = this.#lines.shift();
    if (line !== undefined) return Promise.resolve(line);
    if (this.socket.destroyed) return Promise.resolve(undefined);
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** The next value, of any type. */
  async value(): Promise<Reply> {
    const line = await this.line();
    if (line === undefined) throw new Error('the server has closed the connection');
    return JSON.parse(line) as Reply;
  }

  send(...values: readonly unknown[]): void {
    this.socket.write(values.map((value) => `${JSON.stringify(value)}\n`).join(''));
  }

  async ask(method: string, params: unknown = [], id: unknown = 1): Promise<Reply> {
    this.send({ jsonrpc: '2.0', id, method, params });
    return this.value();
  }
}

export interface Reply {
  readonly id?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
  readonly method?: string;
  readonly params?: unknown;
}
