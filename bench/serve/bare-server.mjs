// A minimal server on Node's own HTTP server: sends prepared bytes by path. It is a separate
// process in plain JavaScript: compiling TypeScript at run time would slow its events down.
// Its parent sends the answers: { path, contentType, body }.

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
