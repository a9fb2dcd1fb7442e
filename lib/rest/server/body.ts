// Reads request bodies within limits of size and time, and restores a request whose body was read so that the node can handle it.

import { IncomingMessage } from 'node:http';
import getRawBody from 'raw-body';
import { bodyTooLarge, encodedBody } from '../errors';
import type { Limits } from '../limits';

/** The body of a request that has none. */
export const NO_BODY = Buffer.alloc(0);

/** False when the request's headers announce no body (RFC 9112, 6.3). */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}

/** The whole body. A client that stops sending is cut off. @throws RestError 413, 415 */
export async function readBody(request: IncomingMessage, limits: Pick<Limits, 'maxBodyBytes' | 'timeoutMs'>): Promise<Buffer> {
  const { maxBodyBytes, timeoutMs } = limits;
  const { socket, headers } = request;
  const encoding = headers['content-encoding'] ?? '';
  if (encoding !== '' && encoding.toLowerCase() !== 'identity' && hasBody(request)) {
    request.resume();
    throw encodedBody();
  }
  // The socket's own timeout may be in use for a reply that waits to be read.
  const patience = setTimeout(() => socket.destroy(), timeoutMs);
  try {
    const body = getRawBody(request, { limit: maxBodyBytes, length: headers['content-length'] ?? null });
    request.on('data', () => patience.refresh());
    return await body;
  } catch (error) {
    if ((error as { type?: unknown }).type !== 'entity.too.large') throw error;
    // The rest has to be taken off the connection: some clients read no reply before they have sent everything.
    request.resume();
    throw bodyTooLarge(maxBodyBytes);
  } finally {
    clearTimeout(patience);
  }
}

/** A copy of the request on the same connection, from which the body can be read again. */
export function replayed(request: IncomingMessage, body: Buffer): IncomingMessage {
  const again = new IncomingMessage(request.socket);
  const { method, url, httpVersion, httpVersionMajor, httpVersionMinor, headers, rawHeaders } = request;
  Object.assign(again, { method, url, httpVersion, httpVersionMajor, httpVersionMinor, rawHeaders, headers, complete: true });
  if (body.length > 0) again.push(body);
  again.push(null);
  return again;
}
