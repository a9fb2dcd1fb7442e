// The thread that multiplies the numbers of coins for HashThreads.

import { parentPort } from 'node:worker_threads';
import { MuHash } from '../../bitcoin/muhash';

/** Bytes of elements, each after its length (4, little endian); undefined: the product is asked for. */
export type HashRequest = Uint8Array | undefined;
/** The product (lib/bitcoin/muhash.ts), or undefined: the elements were added. */
export type HashReply = Uint8Array | undefined;

const set = new MuHash();

parentPort?.on('message', (request: HashRequest) => {
  if (request !== undefined) addAll(Buffer.from(request.buffer, request.byteOffset, request.byteLength));
  parentPort?.postMessage((request === undefined ? Uint8Array.from(set.part) : undefined) satisfies HashReply);
});

function addAll(bytes: Buffer): void {
  for (let at = 0; at < bytes.length;) {
    const end = at + 4 + bytes.readUInt32LE(at);
    set.insert(bytes.subarray(at + 4, end));
    at = end;
  }
}
