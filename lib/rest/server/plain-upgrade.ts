// Requests that ask for another protocol (RFC 9110, 7.8), answered in the one they came in, as
// Bitcoin Core does: HTTP clients with a taste for HTTP/2 ask for h2c on the way. Once anybody
// listens to `upgrade`, as bcoin does for its websockets, Node lets go of a connection with
// such a request, body unread. The request is put back in front of what follows, without its
// question, and the server gets the connection anew: order, bodies and whatever is pipelined
// behind are Node's business again.

import { whenAnswered } from './reply-under-way';
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';

/** Node shows no more headers than this, as names and values in turn: one that says where the body ends may be missing. */
const MOST_HEADER_TEXTS = 2_000;

/** What comes over TLS is a connection once it is secure. */
export function connectionEvent(server: Server): 'connection' | 'secureConnection' {
  return 'setSecureContext' in server ? 'secureConnection' : 'connection';
}

/** Takes a request from an `upgrade` event for one without the question. `head`: what came behind its headers. */
export function servePlainly(server: Server, request: IncomingMessage, socket: Duplex, head: Buffer): void {
  if (request.rawHeaders.length >= MOST_HEADER_TEXTS) {
    socket.destroy();
    return;
  }
  const close = (): void => { socket.destroy(); };
  // The server's own listeners have left the socket.
  socket.on('error', close);
  socket.on('timeout', close);
  // At once: a connection whose client has said all would otherwise be at its end.
  socket.unshift(Buffer.concat([plainHead(request), head]));
  whenAnswered(socket, () => {
    // The parser that found the request may still be at work.
    setImmediate(() => {
      if (socket.destroyed || socket.writableEnded) return;
      socket.off('timeout', close);
      // Whoever listens to connections adds theirs again.
      socket.removeAllListeners('error');
      server.emit(connectionEvent(server), socket);
    });
  });
}

/** The head of the request as it came, but for `Upgrade`. */
function plainHead({ method = '', url = '', httpVersion, rawHeaders }: IncomingMessage): Buffer {
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const [name = '', value = ''] = rawHeaders.slice(i, i + 2);
    if (name.toLowerCase() !== 'upgrade') lines.push(`${name}: ${value}`);
  }
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
}
