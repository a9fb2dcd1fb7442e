// A client of the Electrum protocol over WebSocket.

import { once } from 'node:events';
import { WebSocket, type ClientOptions } from 'ws';
import type { Reply } from './line-client';

export class ElectrumSocket {
  private constructor(readonly socket: WebSocket) {
    socket.on('error', () => undefined);
  }

  /** `port`: of HTTP. */
  static async connect(port: number, options: Pick<ClientOptions, 'headers' | 'localAddress'> = {}): Promise<ElectrumSocket> {
    const client = new ElectrumSocket(new WebSocket(`ws://127.0.0.1:${port}/electrum`, options));
    await once(client.socket, 'open');
    return client;
  }

  async ask(method: string, params: readonly unknown[] = []): Promise<Reply> {
    this.socket.send(JSON.stringify({ id: 1, method, params }));
    const [data] = (await once(this.socket, 'message')) as [Buffer];
    return JSON.parse(data.toString()) as Reply;
  }
}
