// What is under way on a connection of Node's HTTP server, for which Node has no public names: the reply that is being sent, and the reading.

import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/**
 * The reply whose turn it is on the connection; replies to later requests wait for its `finish`. Node has no public property for it, and
 * itself checks this one before the next reply gets the connection (ERR_HTTP_SOCKET_ASSIGNED).
 */
export function replyUnderWay(socket: Duplex): ServerResponse | undefined {
  return (socket as { _httpMessage?: ServerResponse | null })._httpMessage ?? undefined;
}

/** Whether a reply to an earlier request has yet to be sent. */
export function isReplyDue(socket: Duplex): boolean {
  return replyUnderWay(socket) !== undefined;
}

/** Whether a whole request waits for its reply: the body of another one may not end for minutes. */
export function isRequestWhole(socket: Duplex): boolean {
  return replyUnderWay(socket)?.req.complete === true;
}

/**
 * Ends a connection and the reading of what came from it. Node reads on after the end, and has no public way to stop in the middle of a read:
 * its parser stops at an upgrade, as which this answers the next request.
 */
export function cutOff(socket: Duplex): void {
  const { parser } = socket as { parser?: { onIncoming?: unknown } | null };
  if (parser != null) parser.onIncoming = () => UPGRADE;
  socket.destroy();
}

/** What Node's own listener gives to its parser at an upgrade (parserOnIncoming, _http_server.js). */
const UPGRADE = 2;
