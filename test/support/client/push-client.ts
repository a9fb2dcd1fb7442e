// A client of mempool's WebSocket.

import { once } from 'node:events';
import { WebSocket, type RawData } from 'ws';
import { settledAt } from './settled-ports';
import { until } from '../expectations/until';

/** The content of one message. */
export type Told = Readonly<Record<string, unknown>>;

export class PushClient {
  readonly told: Told[] = [];

  /** `port`: of the server, which is waited for where it needs it. */
  constructor(
    readonly socket: WebSocket,
    readonly port?: number
  ) {
    socket.on('message', (data: RawData) => void this.told.push(JSON.parse((data as Buffer).toString()) as Told));
    socket.on('error', () => undefined);
  }

  static async connect(port: number, headers: Readonly<Record<string, string>> = {}): Promise<PushClient> {
    await settledAt(port);
    const client = new PushClient(new WebSocket(`ws://127.0.0.1:${port}/api/v1/ws`, { headers }), port);
    await once(client.socket, 'open');
    return client;
  }

  send(...requests: readonly unknown[]): void {
    for (const request of requests) this.socket.send(JSON.stringify(request));
  }

  /** The answers to these requests, up to the pong after them, when the requests are in force. */
  async ask(...requests: readonly unknown[]): Promise<Told[]> {
    await settledAt(this.port);
    this.told.length = 0;
    this.send(...requests, { action: 'ping' });
    await until(() => this.told.some((told) => 'pong' in told));
    return this.told.splice(0).filter((told) => !('pong' in told));
  }

  /** Takes this field out of the next message that has it; the others of the message stay. */
  async next(field: string): Promise<unknown> {
    await until(() => this.told.some((told) => field in told));
    const at = this.told.findIndex((told) => field in told);
    const { [field]: value, ...others } = this.told[at] ?? {};
    this.told.splice(at, 1, ...(Object.keys(others).length > 0 ? [others] : []));
    return value;
  }

  async closed(): Promise<number> {
    if (this.socket.readyState === WebSocket.CLOSED) return 0;
    return ((await once(this.socket, 'close')) as [number])[0];
  }
}

/** The status of a refused upgrade. */
export async function refusedWith(url: string, headers: Readonly<Record<string, string>> = {}): Promise<number | undefined> {
  const socket = new WebSocket(url, { headers });
  socket.on('error', () => undefined);
  const [, response] = (await once(socket, 'unexpected-response')) as [unknown, { statusCode?: number; resume(): void }];
  response.resume();
  return response.statusCode;
}
