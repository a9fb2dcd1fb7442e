// A folder over HTTP, with ranges, as any web server has it. It can be told to misbehave.

import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { basicAuth } from '../support/client/http';
import type { AddressInfo } from 'node:net';

export class FileServer {
  /** What was asked for: name and range. */
  readonly requests: string[] = [];
  /** Changes what is sent of a file. */
  change: (name: string, bytes: Buffer) => Buffer = (_, bytes) => bytes;
  /** Cuts off the connection after this many bytes, of all files. */
  bytesLeft = Infinity;
  hasRanges = true;
  /** How many of the next parts of a file are others than were asked for. */
  wrongRanges = 0;
  /** Cuts off each reply with a file after this many bytes. */
  most: (name: string) => number = () => Infinity;
  /** Otherwise a file of the index is said to have one byte more, which never comes. */
  endsFiles = true;
  /** Statuses of the next replies, which have nothing else. */
  readonly statuses: number[] = [];
  /** `user:password` without which nothing is given. */
  credentials: string | undefined;
  readonly #server: Server;
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
    this.#server = createServer((request, response) => void this.#answer(request, response));
  }

  static async open(folder: string): Promise<FileServer> {
    const server = new FileServer(folder);
    server.#server.listen(0, '127.0.0.1');
    await once(server.#server, 'listening');
    return server;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/snapshot`;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #answer({ url = '', headers }: IncomingMessage, response: ServerResponse): Promise<void> {
    const name = url.replace('/snapshot/', '');
    this.requests.push(`${name} ${headers.range ?? 'whole'}`);
    const status = this.statuses.shift();
    if (status !== undefined) return void response.writeHead(status).end();
    const expected = this.credentials && basicAuth(this.credentials);
    if (expected !== undefined && headers.authorization !== expected) return void response.writeHead(401).end();
    const file = await readFile(join(this.#folder, name)).catch(() => undefined);
    if (file === undefined) return void response.writeHead(404).end();
    const bytes = this.change(name, file);
    const asked = this.hasRanges ? Number(/^bytes=(\d+)-$/.exec(headers.range ?? '')?.[1] ?? 0) : 0;
    if (asked > 0 && asked >= bytes.length) return void response.writeHead(416).end();
    const from = asked > 0 && this.wrongRanges-- > 0 ? asked + 1 : asked;
    const isWhole = this.endsFiles || !name.includes('/');
    response.writeHead(from > 0 ? 206 : 200, {
      'content-length': bytes.length - from + (isWhole ? 0 : 1),
      ...(from > 0 && { 'content-range': `bytes ${from}-${bytes.length - 1}/${bytes.length}` })
    });
    const sent = bytes.subarray(from, from + Math.min(this.bytesLeft, this.most(name), bytes.length - from));
    this.bytesLeft -= sent.length;
    if (!isWhole) response.write(sent);
    else if (from + sent.length === bytes.length) response.end(sent);
    else response.write(sent, () => response.destroy());
  }
}
