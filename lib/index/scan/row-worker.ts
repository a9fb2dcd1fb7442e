// The thread that makes the rows of blocks for a RowMaker, in the memory where it finds the block.

import { parentPort } from 'node:worker_threads';
import { blockRows, type Allocate } from './rows';
import { TxidHasher } from '../records/txid-hash';
import type { RowReply, RowRequest } from './row-maker';

parentPort?.on('message', ({ id, height, secret, forFilter, memory, length }: RowRequest) => {
  try {
    const rows = blockRows(Buffer.from(memory, 0, length), height, new TxidHasher(secret), forFilter, allocateIn(memory, length));
    reply({ id, rows });
  } catch (error) {
    reply({ id, error });
  }
});

/** Hands out the memory behind the block, one piece after the other. */
function allocateIn(memory: SharedArrayBuffer, used: number): Allocate {
  let end = used;
  return (length) => {
    // Aligned to the machine's words: copying is fastest then.
    const start = (end + 7) & ~7;
    end = start + length;
    return new Uint8Array(memory, start, length);
  };
}

function reply(message: RowReply): void {
  parentPort?.postMessage(message);
}
