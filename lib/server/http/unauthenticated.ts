// Connections that were handed to the node's own WebSocket, until the node knows the client. bcoin collects messages of up to 64 MB over
// its WebSocket, in any number of frames, before it looks for its key in them.

import type { Socket } from 'node:net';

/** bcoin's clients send nothing before their key is accepted but the key, of up to 255 characters, and pings of some bytes. */
const MOST_BYTES = 1_024;

/**
 * Lets a client's bytes through to whoever listens on the connection. A client that sends too many before it is known is disconnected, and the
 * last ones are not let through. To be called before the listeners are there. `received`: the bytes that have already been read.
 * `authenticated` is called once the client is known, and all that follows is let through as it comes.
 */
export function boundUnauthenticated(socket: Socket, received: number, isAuthenticated: () => boolean, authenticated: () => void): void {
  let left = MOST_BYTES - received;
  // With a listener of this kind there is no `data` but what it reads (Node's documentation of streams).
  const letThrough = (): void => {
    if (isAuthenticated()) {
      socket.off('readable', letThrough);
      authenticated();
      return;
    }
    left -= socket.readableLength;
    if (left < 0) socket.destroy();
    else socket.read();
  };
  if (left < 0) socket.destroy();
  else socket.on('readable', letThrough);
}
