// Requests that are refused for how they are written. Node refuses some of them itself, and nobody sees them: one read can hold thousands,
// which count nowhere, and for each a reply is made. So it has to hand over all of them.

import { cutOff } from './under-way';
import type { IncomingMessage, RequestListener, Server } from 'node:http';
import type { Duplex } from 'node:stream';

/** Newer versions of Node refuse requests with more header names and values themselves; older ones do not show all of them. */
const MOST_HEADER_TEXTS = 2_000;

/** Node looks at this property, which is an option of createServer, at each request. */
type RefusingServer = Server & { requireHostHeader?: boolean | undefined };

/** Has Node hand over every request. Returns a function that ends this. */
export function handOverAll(server: RefusingServer, listener: RequestListener): () => void {
  const { requireHostHeader } = server;
  server.requireHostHeader = false;
  // A request with `Expect` and something that no server knows, which may be ignored (RFC 9110, 10.1.1).
  server.on('checkExpectation', listener);
  return () => {
    server.requireHostHeader = requireHostHeader;
    server.off('checkExpectation', listener);
  };
}

/** Why a request is refused, whatever it asks for; undefined: it is not. */
export function faultOf({ httpVersion, headers, rawHeaders }: IncomingMessage): Error | undefined {
  // Older versions of Node may hide the header that says where the body ends.
  if (rawHeaders.length > MOST_HEADER_TEXTS)
    return Object.assign(new Error('Parse Error: Header overflow'), { code: 'HPE_HEADER_OVERFLOW' });
  if (httpVersion === '1.1' && headers.host === undefined) return new Error('Parse Error: Host is missing'); // RFC 9112, 3.2
  return undefined;
}

/** Refuses a request as Node does what it cannot parse, and ends its connection. */
export function refuse(server: Server, socket: Duplex, fault: Error): void {
  // At a request with `Upgrade` the server's own listeners have left the socket.
  socket.on('error', () => undefined);
  if (!server.emit('clientError', fault, socket)) socket.write('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n');
  cutOff(socket);
}
