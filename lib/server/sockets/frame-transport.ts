// JSON values as frames of a WebSocket (RFC 6455).

import { FrameMeter } from './frame-meter';
import { Inbox } from './inbox';
import { Outbox, type Outflow } from './outbox';
import type { Socket } from 'node:net';
import type { RawData, WebSocket } from 'ws';
import type { Unfinished } from '../bounds/unfinished';
import type { Channel, ChannelUser } from './channel';

/** How often a client is pinged, since clients that only listen send nothing. */
const ASK_MS = 60_000;

/** WebSocket's code for a server that goes away. */
const GOING_AWAY = 1001;

export class FrameChannel implements Channel {
  readonly #webSocket: WebSocket;
  readonly #outbox: Outbox;
  /** The values of one read of the connection: the library hands over all its frames at once. */
  readonly #values: Buffer[] = [];
  #inbox: Inbox | undefined;
  #user: ChannelUser | undefined;

  /** `socket`: the connection under the WebSocket. */
  constructor(
    webSocket: WebSocket,
    socket: Socket,
    { outflow, unfinished }: { readonly outflow: Outflow; readonly unfinished: Unfinished }
  ) {
    this.#webSocket = webSocket;
    const meter = new FrameMeter();
    const message = unfinished.open(socket.remoteAddress, () => {
      this.destroy();
    });
    socket.on('data', (chunk: Buffer) => {
      meter.push(chunk);
      message.set(meter.bytes);
    });
    socket.once('close', () => {
      message.set(0);
    });
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
    // After an error, such as a frame that is too long, comes `close`.
    webSocket.on('error', () => undefined);
    webSocket.on('close', () => {
      inbox.close();
      this.#outbox.close();
      user.closed();
    });
    webSocket.on('message', (data: RawData) => {
      // The library gives buffers by default.
      this.#values.push(data as Buffer);
      inbox.run();
    });
  }

  /** Pings the client now and then, and calls back when it answers. */
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

  send(value: Buffer): void {
    this.#outbox.add([value]);
  }

  /** Sends one value that is given in parts. */
  sendParts(parts: readonly Buffer[]): void {
    this.#outbox.add(parts);
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
      // The client's close frame must be read.
      this.#webSocket.resume();
    });
  }

  destroy(): void {
    this.#webSocket.terminate();
  }
}
