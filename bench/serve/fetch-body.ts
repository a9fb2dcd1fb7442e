// One request and its whole reply.

import { get } from 'node:http';

export interface FetchedReply {
  readonly status: number;
  readonly contentType: string | undefined;
  readonly body: Buffer;
}

/** Time without a byte after which it gives up. */
const PATIENCE_MS = 60_000;

/** @throws Error when there is no reply, or it stops */
export function fetchBody(port: number, path: string): Promise<FetchedReply> {
  return new Promise((resolve, reject) => {
    const asked = get({ host: '127.0.0.1', port, path, agent: false, timeout: PATIENCE_MS }, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('error', reject);
      response.on('end', () => {
        resolve({ status: response.statusCode ?? 0, contentType: response.headers['content-type'], body: Buffer.concat(parts) });
      });
    });
    asked.on('timeout', () => {
      asked.destroy(new Error(`expected a reply to ${path} within ${PATIENCE_MS / 1_000} s`));
    });
    asked.on('error', reject);
  });
}
