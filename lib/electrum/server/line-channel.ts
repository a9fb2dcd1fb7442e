// JSON values as lines over a connection, plain or TLS.

import type { Socket } from 'node:net';
import { MOST_VALUE_BYTES, type Channel, type ChannelUser } from '../../sockets/channel';
import { Inbox } from '../../sockets/inbox';
import { LineBuffer } from './line-buffer';
import { Outbox, type Outflow } from '../../sockets/outbox';
import type { Allowance } from './allowance';

const LINE_END = Buffer.from('\n');

export class LineChannel implements Channel {
  readonly #socket: Socket;
  readonly #lines: LineBuffer;
  readonly #outbox: Outbox;
  #inbox: Inbox | undefined;
  #user: ChannelUser | undefined;

  constructor(socket: Socket, { allowance, outflow }: { readonly allowance: Allowance; readonly outflow: Outflow }) {
    this.#socket = socket;
    this.#lines = new LineBuffer(MOST_VALUE_BYTES, allowance);
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
      next: () => this.#lines.next(),
      receive: (value) => {
        user.receive(value);
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
      user.closed();
    });
    socket.on('data', (chunk: Buffer) => {
      this.#lines.push(chunk);
      inbox.run();
    });
  }

  get isGone(): boolean {
    return this.#socket.destroyed;
  }

  get unreadBytes(): number {
    return this.#outbox.unreadBytes;
  }

  get progressAt(): number {
    return this.#outbox.progressAt;
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
}
