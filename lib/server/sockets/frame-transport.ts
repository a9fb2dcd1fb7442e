// JSON values as frames of a WebSocket (RFC 6455).

import { FrameMeter } from './frame-meter';
import type { Socket } from 'node:net';
import type { RawData, WebSocket } from 'ws';
import type { Unfinished } from '../bounds/unfinished';
import type { Transport } from './connection';

/** How often a client is pinged, since clients that only listen send nothing. */
const ASK_MS = 60_000;

/** WebSocket's code for a server that goes away. */
const GOING_AWAY = 1001;

export class FrameTransport implements Transport {
  readonly flow: WebSocket;
  readonly #webSocket: WebSocket;
  /** The values of one read of the connection: the library hands over all its frames at once. */
  readonly #values: Buffer[] = [];

  /** `socket`: the connection under the WebSocket. */
  constructor(webSocket: WebSocket, socket: Socket, unfinished: Unfinished) {
    this.flow = this.#webSocket = webSocket;
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
  }

  get isGone(): boolean {
    return this.#webSocket.readyState !== this.#webSocket.OPEN;
  }

  open(came: () => void, closed: () => void): void {
    const webSocket = this.#webSocket;
    // After an error, such as a frame that is too long, comes `close`.
    webSocket.on('error', () => undefined);
    webSocket.on('close', closed);
    webSocket.on('message', (data: RawData) => {
      // The library gives buffers by default.
      this.#values.push(data as Buffer);
      came();
    });
  }

  next(): Buffer | undefined {
    return this.#values.shift();
  }

  write(piece: Buffer, isLast: boolean, written: () => void): void {
    this.#webSocket.send(piece, { binary: false, fin: isLast }, written);
  }

  keepAlive(isThere: () => void): void {
    const webSocket = this.#webSocket;
    const asking = setInterval(() => {
      webSocket.ping();
    }, ASK_MS).unref();
    webSocket.on('pong', isThere);
    webSocket.on('close', () => {
      clearInterval(asking);
    });
  }

  end(): void {
    this.#webSocket.close(GOING_AWAY);
    // The client's close frame must be read.
    this.#webSocket.resume();
  }

  destroy(): void {
    this.#webSocket.terminate();
  }
}
