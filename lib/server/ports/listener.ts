// A port to which clients connect while the server can answer.

import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';

export interface SocketAddress {
  readonly host: string;
  readonly port: number;
}

export interface ListenerParts {
  readonly endpoint: SocketAddress;
  readonly accept: (socket: Socket) => void;
}

export class Listener {
  readonly #parts: ListenerParts;
  #server: Server | undefined;

  constructor(parts: ListenerParts) {
    this.#parts = parts;
  }

  /** Where the port listens; undefined if it does not. */
  get address(): AddressInfo | undefined {
    return (this.#server?.address() ?? undefined) as AddressInfo | undefined;
  }

  /** Gives the address; undefined if it listened already or was stopped meanwhile. @throws an error of the system if the port is taken */
  async start(): Promise<AddressInfo | undefined> {
    if (this.#server !== undefined) return undefined;
    const { endpoint, accept } = this.#parts;
    const server = (this.#server = createServer(accept));
    try {
      server.listen(endpoint);
      await once(server, 'listening');
      // Emitted when a connection cannot be accepted; later ones may be.
      server.on('error', () => undefined);
      if (this.#server !== server) server.close();
      return this.address;
    } catch (error) {
      if (this.#server === server) this.#server = undefined;
      throw error;
    }
  }

  /** Connections stay open. */
  stop(): void {
    this.#server?.close();
    this.#server = undefined;
  }
}

/** `host:port`, an IPv6 address in brackets. */
export const textOf = ({ host, port }: SocketAddress): string => `${host.includes(':') ? `[${host}]` : host}:${port}`;
