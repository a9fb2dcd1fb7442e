// A reply's body on its way to the system, which copies at once what it takes, megabytes if
// it likes, while everybody else waits. The JSON of whole blocks is handed over piece by
// piece, with turns of the event loop in between. All pieces are views of the one body.

import type { ServerResponse } from 'node:http';

/** Bodies up to this length go in one piece: pieces cost more than these hold others up. */
export const AT_ONCE_BYTES = 4 * 1024 * 1024;

/** Half a millisecond of copying or less. */
export const PIECE_BYTES = 512 * 1024;

/** The headers are written already. Stops where the client has gone. */
export function sendBody(response: ServerResponse, body: Buffer): void {
  // For HEAD nothing is sent but the headers.
  if (body.length <= AT_ONCE_BYTES || response.req.method === 'HEAD') {
    response.end(body);
    return;
  }
  sendFrom(0, response, body);
}

function sendFrom(start: number, response: ServerResponse, body: Buffer): void {
  const end = start + PIECE_BYTES;
  if (end >= body.length) {
    response.end(body.subarray(start));
    return;
  }
  response.write(body.subarray(start, end), (error) => {
    if (error == null) setImmediate(sendFrom, end, response, body);
  });
}
