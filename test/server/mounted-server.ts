// A bare HTTP server with listeners of its own, on which mounts take their paths.

import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { Connections } from '../../lib/server/http/connections';
import { Mount, under, type Handler } from '../../lib/server/http/mount';
import { ask } from '../support/client/http';
import { MemoryLog } from '../support/process/memory-log';
import type { AddressInfo, Socket } from 'node:net';

export class MountedServer {
  readonly server: Server = createServer();
  readonly connections = new Connections(this.server, 30_000, 1_000);
  readonly log = new MemoryLog();

  constructor() {
    this.connections.open();
  }

  mount(handler: Handler = answering('ours'), prefix = '/rest', isAuthenticated: (socket: Socket) => boolean = () => false): Mount {
    const { server, connections, log } = this;
    const mount = new Mount({ server, takes: under(prefix), handler, isAuthenticated, connections, logger: log });
    mount.open();
    return mount;
  }

  async listen(): Promise<void> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  async bodyOf(path: string): Promise<string> {
    return (await ask(this.port, { path })).body.toString();
  }

  close(): void {
    this.server.closeAllConnections();
    this.server.close();
  }
}

export const answering =
  (text: string): Handler =>
  (_, response) => {
    response.end(text);
    return Promise.resolve();
  };

/** For the listeners of the server. */
export const saying =
  (text: string): RequestListener =>
  (_, response) =>
    response.end(text);
