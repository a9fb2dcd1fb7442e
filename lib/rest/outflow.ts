// What clients have yet to read: replies that were made and that the system did not take at
// once. Their bytes are bounded, slow readers are cut off, and a server that closes does not
// wait for them for long. Replies that leave at once never come here.

import { queueFull } from './errors';
import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Replies up to this size pass whatever waits: connections are few against what they take. */
const SMALL_BYTES = 65_536;

const CHECK_MS = 100;

export interface OutflowLimits {
  /** Bytes of all replies that wait to be read. */
  readonly mostBytes: number;
  /** Milliseconds without progress before a client is cut off. */
  readonly timeoutMs: number;
  /** Milliseconds that clients have once the server closes. */
  readonly closingMs: number;
}

export class Outflow {
  private bytes = 0;
  private readonly bySocket = new Map<Socket, number>();
  private watch: NodeJS.Timeout | undefined;

  constructor(private readonly server: Pick<Server, 'listening'>, private readonly limits: OutflowLimits) {}

  /** True while no further large reply may be made. */
  get isFull(): boolean {
    return this.bytes >= this.limits.mostBytes;
  }

  /** @throws RestError when there is no room for a reply of so many bytes. */
  requireRoom(length: number): void {
    if (length > SMALL_BYTES && this.bytes + length > this.limits.mostBytes) throw queueFull();
  }

  /** Counts a reply that is on its way; once it is gone, or its client, it does not count any more. */
  add(response: ServerResponse, length: number): void {
    const { socket } = response.req;
    socket.setTimeout(this.limits.timeoutMs);
    if (socket.destroyed) return;
    const held = this.bySocket.get(socket);
    // Behind others on its connection a response never hears of the end: the socket does.
    if (held === undefined) socket.once('close', () => { this.drop(socket); });
    this.bySocket.set(socket, (held ?? 0) + length);
    this.bytes += length;
    response.once('finish', () => { this.remove(socket, length); });
    this.watch ??= setInterval(() => { this.endWhenClosing(); }, CHECK_MS).unref();
  }

  private remove(socket: Socket, length: number): void {
    const held = this.bySocket.get(socket);
    if (held === undefined) return;
    this.bytes -= length;
    this.bySocket.set(socket, held - length);
    this.rest();
  }

  private drop(socket: Socket): void {
    this.bytes -= this.bySocket.get(socket) ?? 0;
    this.bySocket.delete(socket);
    this.rest();
  }

  /** Looks no further when nobody reads. */
  private rest(): void {
    if (this.bytes > 0) return;
    clearInterval(this.watch);
    this.watch = undefined;
  }

  /** A server that closes looks once for connections to end; replies that were made later hold it up. */
  private endWhenClosing(): void {
    if (this.server.listening) return;
    clearInterval(this.watch);
    this.watch = setTimeout(() => {
      for (const [socket, held] of this.bySocket) if (held > 0) socket.destroy();
    }, this.limits.closingMs).unref();
  }
}
