// JSON values as lines over a socket, plain or TLS.

import { MOST_VALUE_BYTES, type Transport } from './connection';
import { LineBuffer } from './line-buffer';
import { writeLines } from './line-writer';
import type { Socket } from 'node:net';
import type { Unfinished, UnfinishedMessage } from '../bounds/unfinished';
import type { Piece } from './outbox';

/** The first line of a request over HTTP: a web page can make a browser send calls to any port, in the body of a request. */
const HTTP_REQUEST = /^[A-Z]{1,20} /;

export class LineTransport implements Transport {
  readonly flow: Socket;
  readonly #socket: Socket;
  readonly #lines = new LineBuffer(MOST_VALUE_BYTES);
  readonly #unfinished: UnfinishedMessage;
  #isFirst = true;

  /** `address`: the client's. */
  constructor(socket: Socket, unfinished: Unfinished, address: string) {
    this.flow = this.#socket = socket;
    this.#unfinished = unfinished.open(address, () => {
      this.destroy();
    });
  }

  get isGone(): boolean {
    return this.#socket.destroyed;
  }

  open(came: () => void, closed: () => void): void {
    const socket = this.#socket;
    socket.setNoDelay(true);
    // Node leaves the connection open after one error: that of a client that negotiates TLS again and again.
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      this.#lines.clear();
      this.#count();
      closed();
    });
    socket.on('data', (chunk: Buffer) => {
      if (this.isGone) return;
      this.#lines.push(chunk);
      came();
      this.#count();
    });
  }

  next(): Buffer | undefined {
    const line = this.isGone ? undefined : this.#lines.next();
    if (line === undefined) this.#count();
    else if (this.#isFirst && HTTP_REQUEST.test(line.toString('latin1', 0, 32))) {
      this.destroy();
      return undefined;
    } else this.#isFirst = false;
    return line;
  }

  write(pieces: readonly Piece[], written: () => void): void {
    writeLines(this.#socket, pieces, written);
  }

  end(): void {
    this.#socket.end();
    // Further bytes are ignored, but without reading them the client's end would not be noticed.
    this.#socket.resume();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #count(): void {
    this.#unfinished.set(this.#lines.memoryBytes);
  }
}
