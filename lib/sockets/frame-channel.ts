// JSON values as frames of a WebSocket (RFC 6455).

import { Inbox } from './inbox';
import { Outbox, type Outflow } from './outbox';
import type { Duplex } from 'node:stream';
import type { RawData, WebSocket } from 'ws';
import type { Channel, ChannelUser } from './channel';

/** Clients that only listen say nothing by themselves. */
const ASK_MS = 60_000;

/** WebSocket's code for a server that goes away. */
const GOING_AWAY = 1001;

export class FrameChannel implements Channel {
  readonly #webSocket: WebSocket;
  readonly #outbox: Outbox;
  /** Of one read of the connection: the library hands its frames over at once. */
  readonly #values: Buffer[] = [];
  #inbox: Inbox | undefined;
  #user: ChannelUser | undefined;

  /** `socket`: the connection below. */
  constructor(webSocket: WebSocket, socket: Duplex, outflow: Outflow) {
    this.#webSocket = webSocket;
    this.#outbox = new Outbox({
      socket,
      outflow,
      write: (piece, isLast, written) => {
        webSocket.send(piece, { binary: false, fin: isLast }, written);
      },
      progressed: () => this.#user?.progressed()
    });
  }

  open(user: ChannelUser): void {
    const webSocket = this.#webSocket;
    this.#user = user;
    const inbox = (this.#inbox = new Inbox({
      next: () => this.#values.shift(),
      receive: (value) => {
        user.receive(value);
      },
      flow: webSocket,
      refuse: () => {
        this.destroy();
      }
    }));
    // The connection is closed then: of a frame that is too long, say.
    webSocket.on('error', () => undefined);
    webSocket.on('close', () => {
      inbox.close();
      this.#outbox.close();
      user.closed();
    });
    webSocket.on('message', (data: RawData) => {
      // Buffers are what the library gives unless it is told otherwise.
      this.#values.push(data as Buffer);
      inbox.run();
    });
  }

  /** Asks the client now and then whether it is there, and tells when it is. */
  keepAlive(isThere: () => void, everyMs = ASK_MS): void {
    const webSocket = this.#webSocket;
    const asking = setInterval(() => {
      webSocket.ping();
    }, everyMs).unref();
    webSocket.on('pong', isThere);
    webSocket.on('close', () => {
      clearInterval(asking);
    });
  }

  get isGone(): boolean {
    return this.#webSocket.readyState !== this.#webSocket.OPEN;
  }

  get unreadBytes(): number {
    return this.#outbox.unreadBytes;
  }

  get progressAt(): number {
    return this.#outbox.progressAt;
  }

  /** A value, in as many parts as it is given. */
  send(...value: readonly Buffer[]): void {
    this.#outbox.add(...value);
  }

  pause(): void {
    this.#inbox?.pause();
  }

  resume(): void {
    this.#inbox?.resume();
  }

  end(): void {
    this.#inbox?.close();
    this.#outbox.end(() => {
      this.#webSocket.close(GOING_AWAY);
      // The client's answer must be seen.
      this.#webSocket.resume();
    });
  }

  destroy(): void {
    this.#webSocket.terminate();
  }
}
