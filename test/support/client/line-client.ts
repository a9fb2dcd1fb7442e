// A client of the Electrum protocol that reads lines.

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { settledAt } from './settled-ports';

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
    await settledAt(port);
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

  /** Asks and gives the reply. Notifications that come before it can be read afterwards. */
  async ask(method: string, params: unknown = [], id: unknown = 1): Promise<Reply> {
    await settledAt(this.socket.remotePort);
    this.send({ jsonrpc: '2.0', id, method, params });
    const notifications: Reply[] = [];
    for (;;) {
      const reply = await this.value();
      if (reply.method === undefined) {
        this.#lines.unshift(...notifications.map((notification) => JSON.stringify(notification)));
        return reply;
      }
      notifications.push(reply);
    }
  }
}

export interface Reply {
  readonly id?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
  readonly method?: string;
  readonly params?: unknown;
}
