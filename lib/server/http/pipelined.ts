// Requests that wait for the replies to earlier ones on their connections.

import { cutOff } from './under-way';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Requests on one connection. Beyond it the connection is not read until half of them are left. */
const MOST_WAITING = 128;

/** The same of all connections: each request takes some 2 KiB, and one read from a connection can hold two thousand. */
const MOST_OF_ALL = 8_192;

/** As many as every connection may have, however many there are. */
const FEW = 8;

export class PipelinedRequests {
  /** The replies that wait on each connection. */
  readonly #waiting = new WeakMap<Socket, Set<ServerResponse>>();
  /** How many wait on all connections. */
  #count = 0;

  /** `response`: to the request; it may be added several times, if several parts see the request. */
  add(socket: Socket, response: ServerResponse): void {
    const waiting = this.#on(socket);
    if (waiting.has(response)) return;
    if (waiting.size >= FEW && this.#count >= MOST_OF_ALL) {
      cutOff(socket);
      return;
    }
    waiting.add(response);
    this.#count++;
    // Node reads on when it is paused while its parser is at work.
    if (waiting.size === MOST_WAITING)
      setImmediate(() => {
        if (waiting.size >= MOST_WAITING) socket.pause();
      });
    response.once('close', () => {
      if (waiting.delete(response)) this.#count--;
      if (waiting.size === MOST_WAITING / 2) socket.resume();
    });
  }

  #on(socket: Socket): Set<ServerResponse> {
    const known = this.#waiting.get(socket);
    if (known !== undefined) return known;
    const waiting = new Set<ServerResponse>();
    this.#waiting.set(socket, waiting);
    socket.prependOnceListener('close', withoutStacks);
    // A reply that waits behind others is never told that the connection closed.
    socket.once('close', () => {
      this.#count -= waiting.size;
      waiting.clear();
    });
    return waiting;
  }
}

/**
 * Errors that are made from now on, until this turn has handled what it was called for, have no stacks: these take longer than all else. When
 * a client leaves, Node makes an error for each request of its connection, in one piece.
 */
function withoutStacks(): void {
  const { stackTraceLimit } = Error;
  if (stackTraceLimit === 0) return;
  Error.stackTraceLimit = 0;
  queueMicrotask(() => {
    Error.stackTraceLimit = stackTraceLimit;
  });
}
