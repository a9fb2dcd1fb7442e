// Replies on their way to clients. The operating system has most of them before `end` returns. The memory behind the others, which clients
// have yet to read, is bounded, and slow readers are cut off.

import { SlowReaders, type ReadRate } from '../bounds/slow-readers';
import { queueFull, type HeaderList } from '../errors';
import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Bodies up to this length are sent in one piece: cutting them up costs more than the delay that they cause for others. */
export const AT_ONCE_BYTES = 4 * 1_024 * 1_024;

/** The operating system copies this much within half a millisecond. */
export const PIECE_BYTES = 512 * 1_024;

/** Replies up to this size are never refused: connections are so few that small replies cannot add up. */
const SMALL_BYTES = 64 * 1_024;

export interface ResponseLimits {
  /** Bytes of memory behind all replies that wait to be read; replies from the same memory count once. */
  readonly mostBytes: number;
  /** How fast clients have to read what waits for them. */
  readonly readRate: ReadRate;
}

export class Responses {
  readonly #server: Pick<Server, 'listening'>;
  readonly #mostBytes: number;
  /** Clients with something to read, of every protocol. */
  readonly slowReaders: SlowReaders;
  #bytes = 0;
  /** Bytes of all bodies that were handed over. */
  sentBytes = 0;
  /** Bytes that were handed over to clients whose connections stay open. */
  othersSentBytes = 0;
  /** Notifications for such clients. */
  notifications = 0;
  /** How many replies wait in each piece of memory. */
  readonly #waiting = new Map<ArrayBufferLike, number>();
  /** For each connection the replies with `whenOver` callbacks. */
  readonly #ends = new Map<Socket, Map<ServerResponse, (() => void)[]>>();
  #endOfTurn: Promise<void> | undefined;

  constructor(server: Pick<Server, 'listening'>, { mostBytes, readRate }: ResponseLimits) {
    this.#server = server;
    this.#mostBytes = mostBytes;
    this.slowReaders = new SlowReaders(readRate);
  }

  /** Bytes of memory behind replies that clients have yet to read. */
  get unreadBytes(): number {
    return this.#bytes;
  }

  /** True while no further large reply may be made. */
  get isFull(): boolean {
    return this.#bytes >= this.#mostBytes;
  }

  /**
   * The end of this turn of the event loop, when all replies made in it are sent one right after the other. If each were sent at once,
   * nearly each would wake a waiting client, which costs the system as much as taking the reply (docs/decisions/work-queue.md).
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

  /** Calls back once, when the operating system has the reply or the client has gone. To be called before the reply is ended. */
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

  /** Counts memory that clients of other protocols have yet to read, once for all of them and for replies. */
  hold(memory: ArrayBufferLike): void {
    this.#count(memory, 1);
  }

  /** Ends one `hold` of the memory. */
  release(memory: ArrayBufferLike): void {
    this.#count(memory, -1);
  }

  /** Counts bytes for clients of other protocols that are not handed over yet; negative when they were or are dropped. */
  countOthers(bytes: number): void {
    this.#bytes += bytes;
  }

  /** @throws HttpError when the memory behind waiting replies leaves no space for this one; nothing is sent then. */
  send(response: ServerResponse, status: number, headers: HeaderList, body: Buffer): void {
    const { length, buffer } = body;
    if (length > SMALL_BYTES && !this.#waiting.has(buffer) && this.#bytes + buffer.byteLength > this.#mostBytes) throw queueFull();
    // A server that closes waits for connections in use: a busy client would keep its connection open indefinitely.
    if (!this.#server.listening) response.shouldKeepAlive = false;
    this.sentBytes += length;
    response.writeHead(status, headers as string[]);
    sendBody(response, body);
    // A reply may be waiting for a slow reader if it is sent in pieces, if the system did not take all of it, or if it waits
    // behind other replies on the connection.
    const { socket } = response;
    if (!response.writableEnded || socket === null || socket.writableLength > 0) this.#add(response, buffer);
  }

  /**
   * A reply whose body is these parts one after the other; none of them is copied. `isDue`: it tells of something that has been done, and is
   * sent whatever waits. @throws HttpError as `send` does
   */
  sendParts(response: ServerResponse, status: number, headers: HeaderList, parts: readonly Buffer[], isDue: boolean): void {
    const large = new Set(parts.filter(({ length }) => length > SMALL_BYTES).map(({ buffer }) => buffer));
    let more = 0;
    for (const buffer of large) if (!this.#waiting.has(buffer)) more += buffer.byteLength;
    if (!isDue && more > 0 && this.#bytes + more > this.#mostBytes) throw queueFull();
    if (!this.#server.listening) response.shouldKeepAlive = false;
    for (const { length } of parts) this.sentBytes += length;
    response.writeHead(status, headers as string[]);
    sendPieces(response, piecesOf(parts));
    const { socket } = response;
    if (response.writableEnded && socket !== null && socket.writableLength === 0) return;
    for (const buffer of new Set(parts.map(({ buffer }) => buffer))) this.#add(response, buffer);
  }

  /** Counts the memory of a reply until the reply is sent or the client has gone. */
  #add(response: ServerResponse, memory: ArrayBufferLike): void {
    const { socket } = response.req;
    if (socket.destroyed) return;
    this.#count(memory, 1);
    this.slowReaders.watch(socket);
    this.whenOver(response, () => {
      this.#count(memory, -1);
      this.slowReaders.unwatch(socket);
    });
  }

  #endsOn(socket: Socket): Map<ServerResponse, (() => void)[]> {
    const known = this.#ends.get(socket);
    if (known !== undefined) return known;
    const ofSocket = new Map<ServerResponse, (() => void)[]>();
    this.#ends.set(socket, ofSocket);
    // A response that waits behind others is never told that the connection closed, so this listens to the socket.
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
  }
}

/**
 * Sends a body whose headers are written already. The operating system copies whatever it takes in one go, often megabytes, while all
 * other work waits. So long bodies are handed over piece by piece, with turns of the event loop in between. The pieces are views of
 * the body, not copies. Stops when the client has gone.
 */
export function sendBody(response: ServerResponse, body: Buffer): void {
  // For HEAD only the headers are sent.
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

/** The parts; long ones are cut into pieces. */
function piecesOf(parts: readonly Buffer[]): Buffer[] {
  return parts.flatMap((part) =>
    Array.from({ length: Math.ceil(part.length / PIECE_BYTES) }, (_, i) => part.subarray(i * PIECE_BYTES, (i + 1) * PIECE_BYTES))
  );
}

/** In each turn of the event loop, beginning with this one, sends pieces until they have `PIECE_BYTES`; the last one is waited for. */
function sendPieces(response: ServerResponse, pieces: readonly Buffer[], first = 0): void {
  let at = first;
  for (let sent = 0; at < pieces.length - 1; at++) {
    const piece = pieces[at] as Buffer; // below the length
    sent += piece.length;
    if (sent >= PIECE_BYTES) {
      response.write(piece, (error) => {
        if (error == null) setImmediate(sendPieces, response, pieces, at + 1);
      });
      return;
    }
    response.write(piece);
  }
  response.end(pieces[at]);
}
