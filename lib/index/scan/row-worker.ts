// The thread that makes the rows of blocks for a RowMaker, in the memory that holds the block.

import { parentPort } from 'node:worker_threads';
import { blockRows, type Allocate } from './rows';
import { TxidHasher } from '../records/txid-hash';
import type { RowReply, RowRequest } from './row-maker';

parentPort?.on('message', ({ id, height, secret, forFilter, txids, memory, length }: RowRequest) => {
  try {
    const options = { forFilter, txids, allocate: allocateIn(memory, length) };
    const rows = blockRows(Buffer.from(memory, 0, length), height, new TxidHasher(secret), options);
    reply({ id, rows });
  } catch (error) {
    reply({ id, error });
  }
});

/** Allocates from the memory behind the block, one piece after another. */
function allocateIn(memory: SharedArrayBuffer, used: number): Allocate {
  let end = used;
  return (length) => {
    // Aligned to the machine's words, which makes copying fastest.
    const start = (end + 7) & ~7;
    end = start + length;
    return new Uint8Array(memory, start, length);
  };
}

function reply(message: RowReply): void {
  parentPort?.postMessage(message);
}
