// The least that Node's own HTTP server can do: bytes that are there already, by path.
// A process of its own; its parent says what to answer.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface BareAnswer {
  readonly path: string;
  readonly contentType: string;
  readonly body: Uint8Array;
}

const answers = new Map<string, BareAnswer>();

process.on('message', (answer: BareAnswer) => {
  answers.clear();
  answers.set(answer.path, answer);
  process.send?.('taken');
});

const server = createServer((request, response) => {
  const answer = answers.get(request.url ?? '');
  if (answer === undefined) {
    response.writeHead(404).end();
    return;
  }
  response.writeHead(200, ['Content-Type', answer.contentType, 'Content-Length', String(answer.body.length)]);
  response.end(answer.body);
});

server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
