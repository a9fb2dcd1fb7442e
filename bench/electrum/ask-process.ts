// The process of `ask-client.ts`. It takes as little processor time as it can: texts are made before, replies are not parsed.

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { GREETING } from './requests';
import { httpReplies, lineReplies, type OnReply, type Receive } from './replies';
import type { AskMessage, AskOrder, Asked, Request } from './ask-client';

/** How long a connection may be silent. */
const PATIENCE_MS = 120_000;

/** What was asked and answered of an order. */
class Asking {
  readonly order: AskOrder;
  #begun = 0;
  #refused = 0;
  #bytes = 0;
  readonly #replies: string[] = [];

  constructor(order: AskOrder) {
    this.order = order;
  }

  /** Up to `most` further requests; fewer, or none, at the end. */
  next(most: number): Request[] {
    const { requests, amount } = this.order;
    const count = Math.min(most, amount - this.#begun);
    return Array.from({ length: count }, () => requests[this.#begun++ % requests.length] as Request); // there is one
  }

  readonly answered: OnReply = (reply, isRefused) => {
    if (isRefused) this.#refused++;
    this.#bytes = reply.length;
    if (this.order.isShown === true) this.#replies.push(reply.toString());
  };

  get result(): Asked {
    return { refused: this.#refused, bytes: this.#bytes, replies: this.#replies };
  }
}

class Connection {
  readonly #socket: Socket;
  readonly #receive: Receive;
  /** Replies to come. */
  #due = 0;
  #onReply: OnReply = () => undefined;
  #onProgress: () => void = () => undefined;
  #onEnd: (error: Error) => void = () => undefined;

  private constructor(socket: Socket, way: AskOrder['way']) {
    this.#socket = socket.setNoDelay(true).setTimeout(PATIENCE_MS);
    this.#receive = (way === 'http' ? httpReplies : lineReplies)((reply, isRefused) => {
      this.#due--;
      this.#onReply(reply, isRefused);
    });
    socket.on('data', (chunk: Buffer) => {
      this.#receive(chunk);
      this.#onProgress();
    });
    socket.on('timeout', () => socket.destroy(new Error(`expected a reply within ${PATIENCE_MS / 1_000} s`)));
    socket.on('error', (error) => {
      this.#onEnd(error);
    });
    socket.on('close', () => {
      this.#onEnd(new Error('expected replies, the server closed the connection'));
    });
  }

  static async open({ port, way }: AskOrder): Promise<Connection> {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    const connection = new Connection(socket, way);
    if (way !== 'http') await connection.#whole(GREETING);
    return connection;
  }

  /** Sends one request after another, as many at a time as the order says, until there are no more. */
  ask(asking: Asking): Promise<void> {
    this.#onReply = asking.answered;
    return new Promise<void>((resolve, reject) => {
      this.#onEnd = reject;
      this.#onProgress = () => {
        this.#send(asking.next(asking.order.outstanding - this.#due));
        if (this.#due === 0) resolve();
      };
      this.#onProgress();
    }).finally(() => {
      this.close();
    });
  }

  /** Sends one request and waits for all replies to it. */
  #whole(request: Request): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#onEnd = reject;
      this.#onProgress = () => {
        if (this.#due === 0) resolve();
      };
      this.#send([request]);
    });
  }

  static async session(request: Request, asking: Asking): Promise<void> {
    const connection = await Connection.open(asking.order);
    connection.#onReply = asking.answered;
    await connection.#whole(request);
    connection.close();
  }

  #send(requests: readonly Request[]): void {
    if (requests.length === 0) return;
    for (const { replies } of requests) this.#due += replies;
    this.#socket.write(requests.length === 1 ? (requests[0] as Request).text : requests.map(({ text }) => text).join(''), 'latin1');
  }

  close(): void {
    this.#onEnd = () => undefined;
    this.#socket.destroy();
  }
}

/** Gets ready; the function that it returns does the rest. */
async function prepare(order: AskOrder): Promise<() => Promise<Asked>> {
  const asking = new Asking(order);
  const each = Array.from({ length: Math.min(order.connections, order.amount) });
  if (order.way === 'session') {
    const sessions = async (): Promise<void> => {
      for (let [request] = asking.next(1); request !== undefined; [request] = asking.next(1)) await Connection.session(request, asking);
    };
    return async () => {
      await Promise.all(each.map(sessions));
      return asking.result;
    };
  }
  const connections = await Promise.all(each.map(() => Connection.open(order)));
  return async () => {
    await Promise.all(connections.map((connection) => connection.ask(asking)));
    return asking.result;
  };
}

let go: (() => Promise<Asked>) | undefined;

const say = (message: AskMessage): void => {
  process.send?.(message);
};

async function take(order: AskOrder | 'go'): Promise<AskMessage> {
  if (order === 'go') {
    if (go === undefined) throw new Error('expected an order before');
    return { asked: await go() };
  }
  go = await prepare(order);
  return 'ready';
}

process.on('message', (order: AskOrder | 'go') => {
  take(order).then(say, (error: unknown) => {
    say({ failed: error instanceof Error ? error.message : String(error) });
  });
});

process.on('disconnect', () => process.exit());
