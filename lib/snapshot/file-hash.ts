// SHA-256 of files as they are read.

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';

/** Bytes that are read at a time: more would only be copied once more. */
const READ_BYTES = 1_024 * 1_024;

/** The SHA-256 of a file in hex. `onBytes`: called with each number of bytes that was read. @throws errors of the system */
export async function fileHash(path: string, onBytes: (count: number) => void): Promise<string> {
  const sha256 = createHash('sha256');
  for await (const chunk of createReadStream(path, { highWaterMark: READ_BYTES }) as AsyncIterable<Buffer>) {
    sha256.update(chunk);
    onBytes(chunk.length);
  }
  return sha256.digest('hex');
}
