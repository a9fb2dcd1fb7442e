// Requests that arrive together. One read from a connection can hold a thousand, and one turn of the event loop reads from every
// connection: the first requests of a turn begin at once, and the others some at a time, with a turn for everybody else between. Connections
// take turns, so that a client with one request does not wait for all those of the others.

import type { Socket } from 'node:net';

/** Even those that are refused cost some tenth of a millisecond each. */
const MOST_AT_ONCE = 64;

type Connection = Pick<Socket, 'destroyed'>;

/** Requests that have not begun, by connection. The one whose turn is next comes first. */
const waiting = new Map<Connection, (() => void)[]>();
let begun = 0;

/**
 * Calls `begin` in this turn of the event loop or a later one; requests of one connection begin in order of arrival. Those of a connection
 * that has closed meanwhile are dropped, since each takes some 17 kB.
 */
export function onArrival(connection: Connection, begin: () => void): void {
  if (begun === 0) setImmediate(nextTurn);
  const earlier = waiting.get(connection);
  if (earlier !== undefined) earlier.push(begin);
  else if (begun++ < MOST_AT_ONCE) begin();
  else waiting.set(connection, [begin]);
}

function nextTurn(): void {
  const now: (() => void)[] = [];
  for (const [connection, requests] of waiting) {
    // Others that have closed may be behind.
    if (now.length === MOST_AT_ONCE && !connection.destroyed) continue;
    waiting.delete(connection);
    if (connection.destroyed) continue;
    const first = requests.shift();
    if (first !== undefined) now.push(first);
    // Behind all others, also those that this loop has yet to reach.
    if (requests.length > 0) waiting.set(connection, requests);
  }
  begun = now.length;
  if (begun > 0) setImmediate(nextTurn);
  for (const begin of now) begin();
}
