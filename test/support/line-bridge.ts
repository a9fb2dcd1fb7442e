// Carries lines of a TCP connection as frames of a WebSocket, and back: for clients that speak the Electrum protocol only over TCP.

import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { WebSocket } from 'ws';

export class LineBridge {
  readonly #server: Server;
  readonly #url: () => string;

  private constructor(url: () => string) {
    this.#url = url;
    this.#server = createServer((socket) => {
      this.#carry(socket);
    });
  }

  /** `url`: where the WebSocket of the next connection goes. */
  static async open(url: () => string): Promise<LineBridge> {
    const bridge = new LineBridge(url);
    bridge.#server.listen(0, '127.0.0.1');
    await once(bridge.#server, 'listening');
    return bridge;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Connections stay. */
  close(): void {
    this.#server.close();
  }

  #carry(socket: Socket): void {
    const webSocket = new WebSocket(this.#url());
    // If anything happens to one of the two, the other is closed.
    socket.on('error', () => undefined);
    webSocket.on('error', () => undefined);
    socket.on('close', () => {
      webSocket.terminate();
    });
    webSocket.on('close', () => {
      socket.destroy();
    });
    webSocket.on('open', () => {
      createInterface({ input: socket }).on('line', (line) => {
        webSocket.send(line);
      });
    });
    webSocket.on('message', (frame: Buffer) => {
      socket.write(`${frame.toString()}\n`);
    });
  }
}
