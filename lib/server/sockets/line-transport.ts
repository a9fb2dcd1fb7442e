// JSON values as lines over a connection, plain or TLS.

import type { Socket } from 'node:net';
import { MOST_VALUE_BYTES, type Channel, type ChannelUser } from './channel';
import { Inbox } from './inbox';
import { LineBuffer } from './line-buffer';
import { Outbox, type Outflow } from './outbox';
import type { Unfinished, UnfinishedMessage } from '../bounds/unfinished';

const LINE_END = Buffer.from('\n');

/** The first line of a request over HTTP: a web page can make a browser send calls to any port, in the body of a request. */
const HTTP_REQUEST = /^[A-Z]{1,20} /;

export class LineChannel implements Channel {
  readonly #socket: Socket;
  readonly #lines: LineBuffer;
  readonly #outbox: Outbox;
  readonly #unfinished: UnfinishedMessage;
  #isFirst = true;
  #inbox: Inbox | undefined;
  #user: ChannelUser | undefined;

  constructor(socket: Socket, { outflow, unfinished }: { readonly outflow: Outflow; readonly unfinished: Unfinished }) {
    this.#socket = socket;
    this.#lines = new LineBuffer(MOST_VALUE_BYTES);
    this.#unfinished = unfinished.open(socket.remoteAddress, () => {
      this.destroy();
    });
    this.#outbox = new Outbox({
      socket,
      outflow,
      write: (piece, isLast, written) => {
        socket.write(piece, isLast ? undefined : written);
        if (isLast) socket.write(LINE_END, written);
      },
      progressed: () => this.#user?.progressed()
    });
  }

  open(user: ChannelUser): void {
    const socket = this.#socket;
    this.#user = user;
    const inbox = (this.#inbox = new Inbox({
      next: () => {
        const line = this.#lines.next();
        if (line === undefined) this.#count();
        return line;
      },
      receive: (value) => {
        this.#receive(value, user);
      },
      flow: socket,
      refuse: () => {
        this.destroy();
      }
    }));
    socket.setNoDelay(true);
    // After an error comes `close`.
    socket.on('error', () => undefined);
    socket.on('close', () => {
      inbox.close();
      this.#outbox.close();
      this.#lines.clear();
      this.#count();
      user.closed();
    });
    socket.on('data', (chunk: Buffer) => {
      this.#lines.push(chunk);
      inbox.run();
      this.#count();
    });
  }

  get isGone(): boolean {
    return this.#socket.destroyed;
  }

  get unreadBytes(): number {
    return this.#outbox.unreadBytes;
  }

  send(value: Buffer): void {
    this.#outbox.add([value]);
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
      this.#socket.end();
      // Further bytes are ignored, but without reading them the client's end would not be noticed.
      this.#socket.resume();
    });
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #count(): void {
    this.#unfinished.set(this.#lines.memoryBytes);
  }

  #receive(line: Buffer, user: ChannelUser): void {
    const isFirst = this.#isFirst;
    this.#isFirst = false;
    if (isFirst && HTTP_REQUEST.test(line.toString('latin1', 0, 32))) {
      this.#inbox?.close();
      this.destroy();
    } else user.receive(line);
  }
}
