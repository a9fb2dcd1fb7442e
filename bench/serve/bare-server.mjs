// The least that Node's own HTTP server can do: bytes that are there already, by path.
// A process of its own, and plain JavaScript: what compiles TypeScript on the way would slow
// its events down. Its parent sends what to answer: { path, contentType, body }.

import { createServer } from 'node:http';

let answer = { path: '', contentType: '', body: Buffer.alloc(0) };

process.on('message', (wanted) => {
  answer = wanted;
  process.send('taken');
});

process.on('disconnect', () => process.exit());

const server = createServer((request, response) => {
  if (request.url !== answer.path) {
    response.writeHead(404).end();
    return;
  }
  response.writeHead(200, ['Content-Type', answer.contentType, 'Content-Length', String(answer.body.length)]);
  response.end(answer.body);
});

server.listen(0, '127.0.0.1', () => process.send(server.address().port));
