// A client on a plain socket: the path goes out as it is, and the reply is read as it came.

import { once } from 'node:events';
import { connect, type Server, type Socket } from 'node:net';
import { promisify } from 'node:util';
import { settledAt } from './settled-ports';

export interface RawRequest {
  /** Default: GET. */
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer | undefined;
}

export interface RawReply {
  readonly status: number;
  readonly contentType: string | null;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** The value of the Authorization header for a name and a password, as `name:password`. */
export function basicAuth(credentials: string): string {
  return `Basic ${Buffer.from(credentials).toString('base64')}`;
}

/** How many connections a server has. */
export function countConnections(server: Server): Promise<number> {
  return promisify(server.getConnections.bind(server))();
}

/** One request on a new connection. */
export async function ask(port: number, request: RawRequest): Promise<RawReply> {
  const [reply] = await askInOneWrite(port, [request]);
  if (reply === undefined) throw new Error(`expected a reply to ${request.path}, got none`);
  return reply;
}

/** Requests on one connection, all sent before the first reply is read; the replies in order. */
export async function askInOneWrite(port: number, requests: readonly RawRequest[]): Promise<RawReply[]> {
  const socket = await openSocket(port);
  socket.write(Buffer.concat(requests.map((request, i) => requestBytes(request, i === requests.length - 1))));
  const all = await untilClosed(socket);
  const replies: RawReply[] = [];
  for (let rest = all; rest.length > 0;) {
    const { reply, length } = parseReply(rest, requests[replies.length]?.method === 'HEAD');
    if (reply.status !== 100) replies.push(reply);
    rest = rest.subarray(length);
  }
  return replies;
}

export async function openSocket(port: number): Promise<Socket> {
  await settledAt(port);
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  return socket;
}

/** All bytes until the other side closes the connection, properly or not. */
export async function untilClosed(socket: Socket): Promise<Buffer> {
  const parts: Buffer[] = [];
  socket.on('data', (part: Buffer) => parts.push(part));
  socket.on('error', () => undefined);
  // `once` of node:events would reject at an error.
  await new Promise((resolve) => socket.once('close', resolve));
  return Buffer.concat(parts);
}

/** `last`: asks for the connection to be closed after the reply. */
export function requestBytes({ method = 'GET', path, headers = {}, body }: RawRequest, last: boolean): Buffer {
  const chunked = headers['Transfer-Encoding'] === 'chunked';
  const bytes = body ?? Buffer.alloc(0);
  const announced = !chunked && (bytes.length > 0 || ['POST', 'PUT', 'PATCH'].includes(method));
  const all = {
    Host: '127.0.0.1',
    ...(last && { Connection: 'close' }),
    ...(announced && { 'Content-Length': String(bytes.length) }),
    ...headers
  };
  const lines = Object.entries(all)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('');
  const framed = chunked ? [Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n0\r\n\r\n')] : [bytes];
  return Buffer.concat([Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines}\r\n`, 'latin1'), ...framed]);
}

/** The first reply in the bytes, and its length. Bodies have a length or are absent. */
function parseReply(bytes: Buffer, isHead: boolean): { reply: RawReply; length: number } {
  const end = bytes.indexOf('\r\n\r\n');
  const [statusLine = '', ...lines] = bytes.subarray(0, Math.max(end, 0)).toString('latin1').split('\r\n');
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1]);
  if (!(status > 0)) throw new Error(`expected a status line, got ${JSON.stringify(bytes.subarray(0, 80).toString('latin1'))}`);
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    })
  );
  const bodyLength = isHead ? 0 : Number(headers['content-length'] ?? 0);
  const body = bytes.subarray(end + 4, end + 4 + bodyLength);
  if (body.length < bodyLength) throw new Error(`expected ${bodyLength} bytes of body, got ${body.length}`);
  return { reply: { status, contentType: headers['content-type'] ?? null, headers, body }, length: end + 4 + bodyLength };
}
