// What clients have yet to read: replies that were made and that the system did not take at
// once. The memory behind them is bounded, slow readers are cut off, and a server that closes
// does not wait for them for long. Replies that leave at once never come here.

import { queueFull } from '../errors';
import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Replies up to this size pass whatever waits: connections are few against what they take. */
const SMALL_BYTES = 65_536;

const CHECK_MS = 100;

export interface OutflowLimits {
  /** Bytes behind all replies that wait to be read; those of one memory count once. */
  readonly mostBytes: number;
  /** Milliseconds without progress before a client is cut off. */
  readonly timeoutMs: number;
  /** Milliseconds that clients have once the server closes. */
  readonly closingMs: number;
}

export class Outflow {
  private bytes = 0;
  /** How many replies wait in each piece of memory. */
  private readonly waiting = new Map<ArrayBufferLike, number>();
  private readonly bySocket = new Map<Socket, ArrayBufferLike[]>();
  private watch: NodeJS.Timeout | undefined;

  constructor(private readonly server: Pick<Server, 'listening'>, private readonly limits: OutflowLimits) {}

  /** True while no further large reply may be made. */
  get isFull(): boolean {
    return this.bytes >= this.limits.mostBytes;
  }

  /** @throws RestError when there is no room for this reply. */
  requireRoom({ length, buffer }: Buffer): void {
    if (length <= SMALL_BYTES || this.waiting.has(buffer)) return;
    if (this.bytes + buffer.byteLength > this.limits.mostBytes) throw queueFull();
  }

  /** Counts a reply that is on its way; once it is gone, or its client, it does not count any more. */
  add(response: ServerResponse, { buffer }: Buffer): void {
    const { socket } = response.req;
    socket.setTimeout(this.limits.timeoutMs);
    if (socket.destroyed) return;
    const held = this.bySocket.get(socket) ?? [];
    // Behind others on its connection a response never hears of the end: the socket does.
    if (!this.bySocket.has(socket)) socket.once('close', () => { this.drop(socket); });
    held.push(buffer);
    this.bySocket.set(socket, held);
    this.count(buffer, 1);
    response.once('finish', () => { this.remove(socket, buffer); });
    this.watch ??= setInterval(() => { this.endWhenClosing(); }, CHECK_MS).unref();
  }

  private remove(socket: Socket, memory: ArrayBufferLike): void {
    const held = this.bySocket.get(socket);
    if (held === undefined) return;
    held.splice(held.indexOf(memory), 1);
    this.count(memory, -1);
    this.rest();
  }

  private drop(socket: Socket): void {
    for (const memory of this.bySocket.get(socket) ?? []) this.count(memory, -1);
    this.bySocket.delete(socket);
    this.rest();
  }

  private count(memory: ArrayBufferLike, by: 1 | -1): void {
    const before = this.waiting.get(memory) ?? 0;
    if (before + by === 0) this.waiting.delete(memory);
    else this.waiting.set(memory, before + by);
    if (before === 0 || before + by === 0) this.bytes += by * memory.byteLength;
  }

  /** Looks no further when nobody reads. */
  private rest(): void {
    if (this.waiting.size > 0) return;
    clearInterval(this.watch);
    this.watch = undefined;
  }

  /** A server that closes looks once for connections to end; replies that were made later hold it up. */
  private endWhenClosing(): void {
    if (this.server.listening) return;
    clearInterval(this.watch);
    this.watch = setTimeout(() => {
      for (const [socket, held] of this.bySocket) if (held.length > 0) socket.destroy();
    }, this.limits.closingMs).unref();
  }
}
