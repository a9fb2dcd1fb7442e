// Replies on their way to clients. Most are with the system before `end` returns. The memory behind the others, which clients have
// yet to read, is bounded; slow readers are cut off, and a server that closes does not wait for them for long.

import { queueFull, type HeaderList } from '../errors';
import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Bodies up to this length go in one piece: pieces cost more than one such body holds up others. */
export const AT_ONCE_BYTES = 4 * 1024 * 1024;

/** The system copies so much within half a millisecond. */
export const PIECE_BYTES = 512 * 1024;

/** Replies up to this size pass whatever waits: connections are few against what they take. */
const SMALL_BYTES = 65_536;

const CHECK_MS = 100;

export interface ResponseLimits {
  /** Bytes behind all replies that wait to be read; replies from the same memory count once. */
  readonly mostBytes: number;
  /** Milliseconds without progress before a client is cut off. */
  readonly timeoutMs: number;
  /** Milliseconds that clients have once the server closes. */
  readonly closingMs: number;
}

export class Responses {
  readonly #server: Pick<Server, 'listening'>;
  readonly #limits: ResponseLimits;
  #bytes = 0;
  /** How many replies wait in each piece of memory. */
  readonly #waiting = new Map<ArrayBufferLike, number>();
  /** The replies of each connection that somebody wants to hear the end of, and what is to be done then. */
  readonly #ends = new Map<Socket, Map<ServerResponse, (() => void)[]>>();
  #watch: NodeJS.Timeout | undefined;
  #endOfTurn: Promise<void> | undefined;

  constructor(server: Pick<Server, 'listening'>, limits: ResponseLimits) {
    this.#server = server;
    this.#limits = limits;
  }

  /** True while no further large reply may be made. */
  get isFull(): boolean {
    return this.#bytes >= this.#limits.mostBytes;
  }

  /**
   * The end of this turn of the event loop, when all replies that were made in it are sent, one right after the other. Sent as they are made,
   * nearly each would wake a client that waits for it, which costs the system as much as taking it (docs/decisions/work-queue.md).
   */
  endOfTurn(): Promise<void> {
    this.#endOfTurn ??= new Promise((resolve) => {
      setImmediate(() => {
        this.#endOfTurn = undefined;
        resolve();
      });
    });
    return this.#endOfTurn;
  }

  /** Calls back once, when the reply is with the system or its client has gone. To be called before the reply is ended. */
  whenOver(response: ServerResponse, done: () => void): void {
    const { socket } = response.req;
    if (socket.destroyed) {
      done();
      return;
    }
    const ofSocket = this.#endsOn(socket);
    const known = ofSocket.get(response);
    if (known !== undefined) {
      known.push(done);
      return;
    }
    const ends = [done];
    ofSocket.set(response, ends);
    response.once('finish', () => {
      if (ofSocket.delete(response)) for (const end of ends) end();
    });
  }

  /** Bytes that wait elsewhere to be read: those of clients that speak another protocol. Negative: they are gone. */
  countOthers(bytes: number): void {
    this.#bytes += bytes;
  }

  /** @throws RestError when the memory behind waiting replies leaves no space for this one; nothing is sent then. */
  send(response: ServerResponse, status: number, headers: HeaderList, body: Buffer): void {
    const { length, buffer } = body;
    if (length > SMALL_BYTES && !this.#waiting.has(buffer) && this.#bytes + buffer.byteLength > this.#limits.mostBytes) throw queueFull();
    // A server that closes waits for connections in use: a busy client would never let go.
    if (!this.#server.listening) response.shouldKeepAlive = false;
    response.writeHead(status, headers as string[]);
    sendBody(response, body);
    // What was not handed over at once, what the system did not take, and what stands behind
    // other replies on the connection may be waiting for a slow reader.
    const { socket } = response;
    if (!response.writableEnded || socket === null || socket.writableLength > 0) this.#add(response, buffer);
  }

  /** A reply whose body is these parts one after the other; none of them is copied. @throws RestError as `send` does */
  sendParts(response: ServerResponse, status: number, headers: HeaderList, parts: readonly Buffer[]): void {
    const large = new Set(parts.filter(({ length }) => length > SMALL_BYTES).map(({ buffer }) => buffer));
    let more = 0;
    for (const buffer of large) if (!this.#waiting.has(buffer)) more += buffer.byteLength;
    if (more > 0 && this.#bytes + more > this.#limits.mostBytes) throw queueFull();
    if (!this.#server.listening) response.shouldKeepAlive = false;
    response.writeHead(status, headers as string[]);
    sendPieces(response, piecesOf(parts));
    const { socket } = response;
    if (response.writableEnded && socket !== null && socket.writableLength === 0) return;
    for (const buffer of new Set(parts.map(({ buffer }) => buffer))) this.#add(response, buffer);
  }

  /** Counts a reply until it is gone, or its client. */
  #add(response: ServerResponse, memory: ArrayBufferLike): void {
    const { socket } = response.req;
    socket.setTimeout(this.#limits.timeoutMs);
    if (socket.destroyed) return;
    this.#count(memory, 1);
    this.whenOver(response, () => {
      this.#count(memory, -1);
    });
    this.#watch ??= setInterval(() => {
      this.#endWhenClosing();
    }, CHECK_MS).unref();
  }

  #endsOn(socket: Socket): Map<ServerResponse, (() => void)[]> {
    const known = this.#ends.get(socket);
    if (known !== undefined) return known;
    const ofSocket = new Map<ServerResponse, (() => void)[]>();
    this.#ends.set(socket, ofSocket);
    // A response behind others on its connection never hears of the end: the socket does.
    socket.once('close', () => {
      this.#ends.delete(socket);
      const ends = [...ofSocket.values()].flat();
      ofSocket.clear();
      for (const end of ends) end();
    });
    return ofSocket;
  }

  #count(memory: ArrayBufferLike, by: 1 | -1): void {
    const before = this.#waiting.get(memory) ?? 0;
    if (before + by === 0) this.#waiting.delete(memory);
    else this.#waiting.set(memory, before + by);
    if (before === 0 || before + by === 0) this.#bytes += by * memory.byteLength;
    // Nobody reads: nobody has to be watched.
    if (this.#waiting.size > 0) return;
    clearInterval(this.#watch);
    this.#watch = undefined;
  }

  /** A server that closes looks once for connections to end; replies that were made later hold it up. */
  #endWhenClosing(): void {
    if (this.#server.listening) return;
    clearInterval(this.#watch);
    this.#watch = setTimeout(() => {
      for (const [socket, ofSocket] of this.#ends) if (ofSocket.size > 0) socket.destroy();
    }, this.#limits.closingMs).unref();
  }
}

/**
 * Sends a body whose headers are written already. The system copies at once what it takes, megabytes if it likes, while everybody
 * else waits: so long bodies are handed over piece by piece, with turns of the event loop in between. All pieces are views of
 * the one body. Stops where the client has gone.
 */
export function sendBody(response: ServerResponse, body: Buffer): void {
  // For HEAD nothing is sent but the headers.
  if (body.length <= AT_ONCE_BYTES || response.req.method === 'HEAD') response.end(body);
  else sendFrom(0, response, body);
}

function sendFrom(start: number, response: ServerResponse, body: Buffer): void {
  const end = start + PIECE_BYTES;
  if (end >= body.length) {
    response.end(body.subarray(start));
    return;
  }
  response.write(body.subarray(start, end), (error) => {
    if (error == null) setImmediate(sendFrom, end, response, body);
  });
}

/** The parts, those that are longer than a piece cut into pieces. */
function piecesOf(parts: readonly Buffer[]): Buffer[] {
  return parts.flatMap((part) =>
    Array.from({ length: Math.ceil(part.length / PIECE_BYTES) }, (_, i) => part.subarray(i * PIECE_BYTES, (i + 1) * PIECE_BYTES))
  );
}

/** As `sendBody` does it: what is short goes at once, then so much in each turn of the event loop. */
function sendPieces(response: ServerResponse, pieces: readonly Buffer[], first = 0): void {
  let at = first;
  for (let sent = 0; at < pieces.length - 1 && sent < PIECE_BYTES; at++) {
    const piece = pieces[at] as Buffer; // below the length
    response.write(piece);
    sent += piece.length;
  }
  const piece = pieces[at];
  if (at >= pieces.length - 1) {
    response.end(piece);
    return;
  }
  response.write(piece, (error) => {
    if (error == null) setImmediate(sendPieces, response, pieces, at + 1);
  });
}
