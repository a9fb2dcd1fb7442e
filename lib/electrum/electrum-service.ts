// The Electrum service put together: what the plugin opens and closes. It has its own ports, plain and TLS, which listen while it can
// answer; WebSocket clients of the node's HTTP server are handed to it.

import { createServer, type Server, type TLSSocket } from 'node:tls';
import { DiskTime } from '../server/bounds/disk-time';
import { Handshakes } from '../server/bounds/handshakes';
import { CertificateFiles, type CertificatePaths } from '../server/ports/certificate-files';
import { Listener, textOf, type SocketAddress } from '../server/ports/listener';
import { takeProxyHeader } from '../server/ports/proxy-header';
import { Connection } from '../server/sockets/connection';
import { LineTransport } from '../server/sockets/line-transport';
import { Throttle } from '../follow/throttle';
import { messageOf } from '../system/error-text';
import { Session, type ClosableSubscriptions, type SessionParts } from './server/session';
import { Turns } from './server/turns';
import { methodsByVersion } from './server/versions';
import type { AddressInfo, Socket } from 'node:net';
import type { Observable, Subscription } from 'rxjs';
import type { ServerLogger } from '../server/logger';
import type { Serving } from '../server/serving';
import type { Sessions } from '../server/sockets/sessions';
import type { Gate } from '../server/work/gate';
import type { MethodTable, NotifiedClient } from './method';

export interface ElectrumServiceOptions {
  /** Where clients connect without TLS; undefined: there is no such port. */
  readonly plain: SocketAddress | undefined;
  readonly tls: SocketAddress | undefined;
  /** The certificate for TLS and its key; undefined: the service makes its own. */
  readonly certificate: CertificatePaths | undefined;
}

export interface ElectrumServiceParts {
  readonly serving: Serving;
  /** The sessions of all protocols. */
  readonly sessions: Sessions;
  readonly methods: MethodTable;
  /** Makes the subscriptions of a client. `address`: its IP address. */
  readonly subscriptionsOf: (client: NotifiedClient, address: string) => ClosableSubscriptions;
  /** Says why methods that need the index by script are refused. */
  readonly gate: Pick<Gate, 'status'>;
  /** Whether methods are answered: emits the current value, then every change. */
  readonly ready$: Observable<boolean>;
  readonly options: ElectrumServiceOptions;
  /** The version of this package. */
  readonly version: string;
  /** Where the service keeps its own certificate; undefined: nowhere. */
  readonly folder: string | undefined;
  readonly logger: ServerLogger & { info(message: string): void };
}

/** The operator's settings cannot be used. */
export class SetUpError extends Error {
  override readonly name = 'SetUpError';
}

/** How long the service may be unable to answer before its ports stop listening. */
const PATIENCE_MS = 10_000;

const RETRY_MS = 10_000;
const HANDSHAKE_MS = 10_000;

/** The log names a proxy that does not speak its protocol at most so often. */
const BROKEN_HEADERS_MS = 10_000;

/** Begins to serve a connection. `address`: the client's, if not that of its socket. */
type Accept = (socket: Socket, address?: string) => void;

const TLS_OPTION = '--rest-electrum-tls';

/** A port, and its name in the log. */
interface Port {
  readonly name: string;
  readonly endpoint: SocketAddress;
  readonly listener: Listener;
}

export class ElectrumService {
  readonly #parts: ElectrumServiceParts;
  readonly #session: SessionParts;
  readonly #ports: Port[] = [];
  readonly #brokenHeaders = new Throttle(BROKEN_HEADERS_MS);
  readonly #handshakes: Handshakes;
  #certificate: CertificateFiles | undefined;
  #following: Subscription | undefined;
  #isReady = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: ElectrumServiceParts) {
    this.#parts = parts;
    this.#handshakes = new Handshakes(parts.serving.proxies);
    const { serving, methods, subscriptionsOf, gate, version, logger } = parts;
    const {
      queue,
      responses,
      unfinished,
      options: {
        limits: { threads }
      }
    } = serving;
    this.#session = {
      methodsOf: methodsByVersion(methods),
      software: `bcoin-rest ${version}`,
      subscriptionsOf,
      queue,
      turns: { small: new Turns('small', threads), heavy: new Turns('heavy', threads) },
      outflow: responses,
      diskTime: new DiskTime(),
      unfinished,
      gate,
      logger
    };
  }

  /** Does not wait until the service can answer. @throws SetUpError if, for example, a port is taken or the certificate cannot be used */
  async open(): Promise<void> {
    const { options, ready$ } = this.#parts;
    if (options.plain !== undefined) this.#addPort('Electrum', options.plain, this.#namedByProxy(this.accept));
    if (options.tls !== undefined) this.#addPort('Electrum over TLS', options.tls, this.#namedByProxy(await this.#openTls(options.tls)));
    for (const { name, endpoint, listener } of this.#ports) {
      const option = endpoint === options.tls ? TLS_OPTION : '--rest-electrum';
      // Tries the port now, so that errors do not show only hours later when the index is complete.
      try {
        await listener.start();
      } catch (error) {
        throw new SetUpError(`${option}: ${name} cannot listen on ${textOf(endpoint)}: ${messageOf(error)}`, { cause: error });
      }
      listener.stop();
    }
    this.#following = ready$.subscribe((isReady) => {
      this.#follow(isReady);
    });
  }

  /** Reads the certificate again. */
  readAgain(): void {
    this.#certificate?.readAgain();
  }

  /** Sessions are not ended. */
  close(): void {
    this.#following?.unsubscribe();
    clearTimeout(this.#timer);
    this.#isReady = false;
    this.#certificate?.close();
    for (const { listener } of this.#ports) listener.stop();
  }

  /** Serves a client that was admitted. `address`: its IP address. */
  begin(connection: Connection, address: string): void {
    this.#parts.sessions.begin(address, (account, onClose) => new Session(this.#session, { connection, address, account }, onClose));
  }

  /** TLS handshakes that were cut off to make room. */
  get cutOffHandshakes(): number {
    return this.#handshakes.cutOff;
  }

  /** How many clients of all protocols are connected. */
  get sessions(): number {
    return this.#parts.sessions.count;
  }

  /** Where the service listens at the moment, the plain port first. */
  get addresses(): readonly AddressInfo[] {
    return this.#ports.flatMap(({ listener }) => listener.address ?? []);
  }

  #addPort(name: string, endpoint: SocketAddress, accept: (socket: Socket) => void): void {
    this.#ports.push({ name, endpoint, listener: new Listener({ endpoint, accept }) });
  }

  /** Begins a session, if there may be another one. `address`: the client's, if not that of its socket. */
  readonly accept = (socket: Socket, address = socket.remoteAddress ?? ''): void => {
    if (!this.#parts.sessions.admit(socket, address)) {
      socket.destroy();
      return;
    }
    const { responses: outflow, unfinished } = this.#parts.serving;
    const connection = new Connection(new LineTransport(socket, unfinished, address), socket, outflow);
    this.begin(connection, address);
  };

  /** Accepts a connection once its proxy has named the client, if it comes from a proxy that is trusted: then it has to. */
  #namedByProxy(accept: Accept): (socket: Socket) => void {
    const { proxies, options, logger } = this.#parts.serving;
    const timeoutMs = Math.min(HANDSHAKE_MS, options.limits.timeoutMs);
    return (socket) => {
      const { remoteAddress: proxy = '' } = socket;
      if (!proxies.trusts(proxy)) {
        accept(socket);
        return;
      }
      // After an error comes `close`.
      socket.on('error', () => undefined);
      takeProxyHeader(socket, timeoutMs).then(
        (header) => {
          if (header !== 'closed') accept(socket, header.client ?? proxy);
        },
        (error: unknown) => {
          socket.destroy();
          if (this.#brokenHeaders.isDue())
            logger.error(
              `A connection of ${proxy}, which --rest-trusted-proxies names, has no header of the PROXY protocol: ${messageOf(error)}.`
            );
        }
      );
    };
  }

  /** Gives the function that accepts a connection and begins a session over TLS. A connection is a session once it is secure. */
  async #openTls({ host }: SocketAddress): Promise<Accept> {
    const { options, folder, logger, serving } = this.#parts;
    const certificate = await CertificateFiles.open({ files: options.certificate, folder, host, logger }).catch((error: unknown) => {
      const option = options.certificate === undefined ? TLS_OPTION : '--rest-electrum-cert';
      throw new SetUpError(`${option}: Electrum over TLS has no certificate: ${messageOf(error)}`, { cause: error });
    });
    this.#certificate = certificate;
    const handshakes = this.#handshakes;
    const handshakeTimeout = Math.min(HANDSHAKE_MS, serving.options.limits.timeoutMs);
    const server: Server = createServer({ handshakeTimeout, ...contextOf(certificate.pair) }, (socket: TLSSocket) => {
      this.accept(socket, handshakes.end(socket));
    });
    // Node does not close the connection when a handshake takes too long.
    server.on('tlsClientError', (_, socket) => {
      socket.destroy();
    });
    certificate.watch((pair) => {
      server.setSecureContext(contextOf(pair));
    });
    return (socket, address) => {
      socket.on('error', () => undefined);
      handshakes.begin(socket, address);
      server.emit('connection', socket);
    };
  }

  #follow(isReady: boolean): void {
    this.#isReady = isReady;
    clearTimeout(this.#timer);
    if (isReady) void this.#listen();
    else this.#timer = setTimeout(this.#stopListening, PATIENCE_MS).unref();
  }

  async #listen(): Promise<void> {
    const { logger } = this.#parts;
    for (const { name, endpoint, listener } of this.#ports) {
      if (!this.#isReady) return;
      try {
        const address = await listener.start();
        if (address !== undefined) logger.info(`${name} listens on ${textOf({ ...endpoint, port: address.port })}.`);
      } catch (error) {
        logger.error(`${name} cannot listen on ${textOf(endpoint)}: ${messageOf(error)}`);
        clearTimeout(this.#timer);
        this.#timer = setTimeout(() => void this.#listen(), RETRY_MS).unref();
      }
    }
  }

  readonly #stopListening = (): void => {
    for (const { name, listener } of this.#ports) {
      if (listener.address === undefined) continue;
      this.#parts.logger.info(`${name} does not listen: ${this.#parts.gate.status()}.`);
      listener.stop();
    }
  };
}

const contextOf = ({ certificate, key }: { readonly certificate: string; readonly key: string }): { cert: string; key: string } => ({
  cert: certificate,
  key
});
