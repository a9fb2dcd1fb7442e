// A Unix socket over which clients of this machine have one interface alone. Its connections are served by the node's HTTP server, as all
// others, with the same bounds. Targets are those of the interface, with its path or without it: nothing else is reached.

import { existsSync } from 'node:fs';
import { lstat, unlink } from 'node:fs/promises';
import { once } from 'node:events';
import { connect, createServer, type Server as SocketServer, type Socket } from 'node:net';
import { dirname } from 'node:path';
import { isMissingFile, systemCodeOf } from '../../system/system-errors';
import { messageOf } from '../../system/error-text';
import { connectionEvent, type Connections } from './connections';
import { isUnder } from './mount';
import type { Server } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Subscription } from 'rxjs';

/** The socket cannot be bound, and why. */
export class UnixSocketError extends Error {
  override readonly name = 'UnixSocketError';
}

export interface UnixSocketParts {
  readonly path: string;
  /** Of the file: who may connect. */
  readonly mode: number;
  /** The path of the interface, without a slash at its end. */
  readonly prefix: string;
  /** The node's HTTP server. Connections wait until it listens. */
  readonly server: Server;
  readonly connections: Pick<Connections, 'closing$'>;
}

const PERMISSIONS = 0o777;
const LOOPBACK = '127.0.0.1';

export class UnixSocket {
  readonly #parts: UnixSocketParts;
  readonly #sockets = new Set<Duplex>();
  #listening: SocketServer | undefined;
  #closing: Subscription | undefined;

  constructor(parts: UnixSocketParts) {
    this.#parts = parts;
  }

  /** To be called after requests of the interface are taken over from the node. @throws UnixSocketError */
  async open(): Promise<void> {
    const { path, mode, connections } = this.#parts;
    await removeStale(path);
    // Half open, as those of Node's HTTP server.
    const listening = (this.#listening = createServer({ allowHalfOpen: true }, this.#accept));
    // The file is made in this turn. Its mode cannot be given, and must not be set later, when somebody may have connected.
    const before = process.umask(PERMISSIONS & ~mode);
    try {
      listening.listen(path);
    } finally {
      process.umask(before);
    }
    try {
      await once(listening, 'listening');
    } catch (error) {
      throw new UnixSocketError(`${path} cannot be listened on: ${messageOf(error)}`, { cause: error });
    }
    // Emitted when a connection cannot be accepted; later ones may be.
    listening.on('error', () => undefined);
    // The node closes its HTTP server before its plugins.
    this.#closing = connections.closing$.subscribe(() => {
      this.#stop();
    });
  }

  /** The target of a request: under the path of the interface if it came over the socket, and as it is otherwise. */
  readonly targetOf = (socket: Duplex, target: string): string => {
    const { prefix } = this.#parts;
    if (!this.#sockets.has(socket) || isUnder(prefix, target)) return target;
    return `${prefix}${target.startsWith('/') ? '' : '/'}${target}`;
  };

  /** Removes the file, and ends all connections. */
  close(): void {
    this.#closing?.unsubscribe();
    this.#stop();
    for (const socket of this.#sockets) socket.destroy();
  }

  #stop(): void {
    this.#listening?.close();
    this.#listening = undefined;
  }

  readonly #accept = (socket: Socket): void => {
    const { server } = this.#parts;
    this.#sockets.add(socket);
    // It has no address. Its clients count as those of the loopback address do, also if a proxy on this machine asks for others.
    Object.defineProperty(socket, 'remoteAddress', { value: LOOPBACK });
    socket.once('close', () => this.#sockets.delete(socket));
    // Before that, requests would be taken by the node's own interface.
    if (server.listening) server.emit(connectionEvent(server), socket);
    else server.once('listening', () => server.emit(connectionEvent(server), socket));
  };
}

/** Removes the file of a socket on which nobody listens any more. @throws UnixSocketError for any other file */
async function removeStale(path: string): Promise<void> {
  let isSocket: boolean;
  try {
    isSocket = (await lstat(path)).isSocket();
  } catch (error) {
    if (isMissingFile(error) && existsSync(dirname(path))) return;
    throw new UnixSocketError(`${path} cannot be made: ${messageOf(error)}`, { cause: error });
  }
  if (!isSocket) throw new UnixSocketError(`${path} is there already, and is no socket`);
  const trial = connect(path);
  try {
    await once(trial, 'connect');
  } catch (error) {
    // Nobody listens, or it has just gone.
    if (systemCodeOf(error) === 'ECONNREFUSED') await unlink(path);
    else if (!isMissingFile(error)) throw new UnixSocketError(`${path} cannot be used: ${messageOf(error)}`, { cause: error });
    return;
  } finally {
    trial.destroy();
  }
  throw new UnixSocketError(`${path} is in use: another process listens on it`);
}
