// Stands between a client and a server, of NATS or another one, and cuts the line at bad moments.

import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

export class DroppingProxy {
  /** How often the line was cut. */
  cuts = 0;
  /** How often the client has said something, or come again, while nothing was let through. */
  attempts = 0;
  /** What the server has said while nothing was let through. */
  lost = '';
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #mark: string | undefined;
  #isCutOff = false;

  private constructor(to: number) {
    this.#server = createServer((client) => this.#join(client, connect(to, '127.0.0.1')));
  }

  static async open(to: number): Promise<DroppingProxy> {
    const proxy = new DroppingProxy(to);
    await once(proxy.#server.listen(0, '127.0.0.1'), 'listening');
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** For clients of NATS. */
  get url(): string {
    return `nats://127.0.0.1:${this.port}`;
  }

  /** When bytes with this text come from the client, the server gets them, but the client gets nothing more: its connection ends. */
  cutAfterNextRequest(text: string): void {
    this.#mark = text;
  }

  /** Lets nothing through any more, in either direction, and closes nothing: as when a cable is pulled. */
  pull(): void {
    this.#isCutOff = true;
  }

  plug(): void {
    this.#isCutOff = false;
    this.cut();
  }

  /** Ends all connections. New ones are let through. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async close(): Promise<void> {
    this.cut();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #join(client: Socket, server: Socket): void {
    let isSilenced = false;
    if (this.#isCutOff) this.attempts++;
    for (const socket of [client, server]) {
      this.#sockets.add(socket);
      socket.on('error', () => undefined);
      socket.once('close', () => {
        this.#sockets.delete(socket);
        client.destroy();
        server.destroy();
      });
    }
    server.on('data', (bytes: Buffer) => {
      if (this.#isCutOff) this.lost += bytes.toString('latin1');
      else if (!isSilenced) client.write(bytes);
    });
    client.on('data', (bytes: Buffer) => {
      if (this.#isCutOff) {
        this.attempts++;
        return;
      }
      server.write(bytes);
      if (this.#mark === undefined || !bytes.includes(this.#mark)) return;
      this.#mark = undefined;
      this.cuts++;
      isSilenced = true;
      // The server has the bytes by then.
      setTimeout(() => client.destroy(), 100);
    });
  }
}
