// A request whose body was read, for somebody else to read again.

import { IncomingMessage } from 'node:http';

/** The same request on the same connection, with its body before it. */
export function replayed(request: IncomingMessage, body: Buffer): IncomingMessage {
  const again = new IncomingMessage(request.socket);
  const { method, url, httpVersion, httpVersionMajor, httpVersionMinor, headers, rawHeaders } = request;
  Object.assign(again, { method, url, httpVersion, httpVersionMajor, httpVersionMinor, rawHeaders, headers, complete: true });
  if (body.length > 0) again.push(body);
  again.push(null);
  return again;
}
