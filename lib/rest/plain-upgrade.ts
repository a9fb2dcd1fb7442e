// Requests that ask for another protocol (RFC 9110, 7.8), answered in the one they came in:
// HTTP clients with a taste for HTTP/2 ask for h2c on the way. Node takes such requests out of
// its server as soon as anybody listens to `upgrade`, as bcoin does for its websockets.

import { ServerResponse, type IncomingMessage, type RequestListener } from 'node:http';
import type { Socket } from 'node:net';

/** Serves a request without a body that came by an `upgrade` event; the connection ends with the reply. */
export function servePlainly(request: IncomingMessage, handler: RequestListener): void {
  const { socket } = request;
  closeOnTrouble(socket);
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  response.once('finish', () => { socket.destroySoon(); });
  handler(request, response);
}

/** The server's own listeners have left the socket. */
function closeOnTrouble(socket: Socket): void {
  const close = (): void => { socket.destroy(); };
  socket.on('error', close);
  socket.on('timeout', close);
}
