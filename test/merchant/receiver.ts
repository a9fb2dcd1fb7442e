// A shop's end of webhooks: a real HTTP server that checks signatures with the library of the specification's authors.

import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import type { AddressInfo } from 'node:net';

export interface ReceivedMessage {
  readonly id: string;
  readonly path: string;
  readonly type: string;
  readonly timestamp: string;
  readonly data: Readonly<Record<string, unknown>>;
}

type Answer = (response: ServerResponse, message: ReceivedMessage) => void;

export const taken: Answer = (response) => {
  response.statusCode = 204;
  response.end();
};

export class Receiver {
  readonly #server = createServer((request, response) => void this.#receive(request, response));
  /** Messages with a right signature, in the order in which they came; also those that were then refused. */
  readonly messages: ReceivedMessage[] = [];
  /** What was wrong with others. */
  readonly faults: unknown[] = [];
  secret = '';
  answer: Answer = taken;

  static async open(port = 0): Promise<Receiver> {
    const receiver = new Receiver();
    receiver.#server.listen(port, '127.0.0.1');
    await once(receiver.#server, 'listening');
    return receiver;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get origin(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  /** The types of the messages of an order. */
  typesOf(id: string): string[] {
    return this.messages.filter(({ data }) => data['id'] === id).map(({ type }) => type);
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request).catch(() => undefined);
    if (body === undefined) return;
    try {
      const content = new Webhook(this.secret).verify(body.toString(), request.headers as Record<string, string>);
      const message = { id: String(request.headers['webhook-id']), path: request.url ?? '', ...(content as object) } as ReceivedMessage;
      this.messages.push(message);
      this.answer(response, message);
    } catch (error) {
      this.faults.push(error);
      response.statusCode = 400;
      response.end();
    }
  }
}
