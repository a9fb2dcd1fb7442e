// One request and its whole reply.

import { get } from 'node:http';

export interface FetchedReply {
  readonly status: number;
  readonly contentType: string | undefined;
  readonly body: Buffer;
}

export function fetchBody(port: number, path: string): Promise<FetchedReply> {
  return new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port, path, agent: false }, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('error', reject);
      response.on('end', () => {
        resolve({ status: response.statusCode ?? 0, contentType: response.headers['content-type'], body: Buffer.concat(parts) });
      });
    }).on('error', reject);
  });
}
