// Which reply a connection is busy with. Node has no public name for it; it looks there itself
// before it lets the next reply have the connection (ERR_HTTP_SOCKET_ASSIGNED).

import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** The reply whose turn it is; those of requests behind it wait for its `finish`. */
export function replyUnderWay(socket: Duplex): ServerResponse | undefined {
  return (socket as { _httpMessage?: ServerResponse | null })._httpMessage ?? undefined;
}

/** Calls back when no reply is due on the connection any more; never when it breaks before. */
export function whenAnswered(socket: Duplex, done: () => void): void {
  const reply = replyUnderWay(socket);
  // Node listened before: by then the next reply has its turn.
  if (reply === undefined) done();
  else reply.once('finish', () => { whenAnswered(socket, done); });
}
