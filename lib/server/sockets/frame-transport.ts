// JSON values as frames of a WebSocket (RFC 6455).

import { FrameMeter } from './frame-meter';
import { partOf, type Bytes, type Part, type Piece } from './outbox';
import type { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import type { RawData, WebSocket } from 'ws';
import type { Unfinished } from '../bounds/unfinished';
import type { Transport } from './connection';

/** How often a client is pinged, since clients that only listen send nothing. */
const ASK_MS = 60_000;

/** WebSocket's code for a server that goes away. */
const GOING_AWAY = 1001;

/** Values up to this length are one frame, even if they are given in parts. */
const ONE_FRAME_BYTES = 16_384;

export class FrameTransport implements Transport {
  readonly flow: WebSocket;
  readonly #webSocket: WebSocket;
  readonly #socket: Socket;
  /** The values of one read of the connection: the library hands over all its frames at once. */
  readonly #values: Buffer[] = [];

  /** `socket`: the connection under the WebSocket. `address`: the client's. */
  constructor(webSocket: WebSocket, socket: Socket, unfinished: Unfinished, address: string) {
    this.flow = this.#webSocket = webSocket;
    this.#socket = socket;
    endAtBrokenFrame(webSocket);
    const meter = new FrameMeter();
    const message = unfinished.open(address, () => {
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

  write(pieces: readonly Piece[], written: () => void): void {
    const frames = inFrames(pieces);
    this.#socket.cork();
    for (const [i, { bytes, isLast }] of frames.entries())
      this.#webSocket.send(bytes, { binary: false, fin: isLast }, i === frames.length - 1 ? written : undefined);
    this.#socket.uncork();
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

/**
 * Has the library leave alone what comes behind a broken frame. While it is busy with earlier frames, what has come waits in pieces, and it
 * reads the next piece before it ends the connection. Since ws 8.22 this throws, outside of any listener, which would end the process. There
 * is no public way to its receiver, which is a stream.
 */
function endAtBrokenFrame(webSocket: WebSocket): void {
  const { _receiver: receiver } = webSocket as unknown as { readonly _receiver: Writable };
  const write = receiver._write.bind(receiver);
  receiver._write = (chunk, encoding, done) => {
    if (receiver.errored === null) write(chunk, encoding, done);
    else done();
  };
}

/** What each frame has. */
function inFrames(pieces: readonly Piece[]): Part[] {
  const frames: Part[] = [];
  /** Parts of a value that has not ended. */
  let parts: Bytes[] = [];
  for (const piece of pieces) {
    const { bytes, isLast } = partOf(piece);
    parts.push(bytes);
    const isShort = parts.reduce((sum, { length }) => sum + length, 0) <= ONE_FRAME_BYTES;
    if (isShort && !isLast) continue;
    if (isShort && parts.length > 1) parts = [Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)))];
    for (const [i, part] of parts.entries()) frames.push({ bytes: part, isLast: isLast && i === parts.length - 1 });
    parts = [];
  }
  for (const part of parts) frames.push({ bytes: part, isLast: false });
  return frames;
}
