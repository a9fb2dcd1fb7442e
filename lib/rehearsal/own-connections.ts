// Connections of the process to itself, over which it asks as its clients do.

import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** Who serves the other end of each connection. */
export interface Service {
  readonly serve: (socket: Socket) => void;
  /** As the server has it that will listen for clients: otherwise connections end in another way, or not until all are cut off. */
  readonly allowHalfOpen: boolean;
}

export class OwnConnections {
  readonly #server: Server;
  readonly #signal: AbortSignal;
  /** The ends that are served. */
  readonly #served = new Set<Socket>();

  private constructor({ serve, allowHalfOpen }: Service, signal: AbortSignal) {
    this.#signal = signal;
    // No address is looked at: the socket would then differ from those that are served later.
    this.#server = createServer({ allowHalfOpen, noDelay: true }, (socket) => {
      this.#served.add(socket);
      socket.once('close', () => this.#served.delete(socket));
      serve(socket);
    });
  }

  /** `signal`: ends all of them. @throws Error when the system does not let any be opened, or when they are to end */
  static async open(service: Service, signal: AbortSignal): Promise<OwnConnections> {
    const own = new OwnConnections(service, signal);
    own.#server.listen({ port: 0, host: '127.0.0.1', signal });
    await once(own.#server, 'listening', { signal });
    // Emitted when a connection cannot be accepted; later ones may be.
    own.#server.on('error', () => undefined);
    return own;
  }

  /** Resolves when it is connected. @throws Error when it cannot be */
  async connect(): Promise<Socket> {
    const { port } = this.#server.address() as AddressInfo;
    const client = connect({ port, host: '127.0.0.1', noDelay: true, signal: this.#signal });
    // After an error comes `close`.
    client.on('error', () => undefined);
    await once(client, 'connect');
    return client;
  }

  /** Ends all of them, also those of others who have found the port. */
  close(): void {
    this.#server.close();
    for (const socket of this.#served) socket.destroy();
  }
}
