// The thread that makes the rows of blocks for a RowMaker, in the room where it finds the block.

import { parentPort } from 'node:worker_threads';
import { blockRows, type Allocate } from './rows';
import { TxidHasher } from '../records/txid-hash';
import type { RowReply, RowRequest } from './row-maker';

parentPort?.on('message', ({ id, height, secret, room, length }: RowRequest) => {
  try {
    const rows = blockRows(Buffer.from(room, 0, length), height, new TxidHasher(secret), allocateIn(room, length));
    reply({ id, rows });
  } catch (error) {
    reply({ id, error });
  }
});

/** Room behind the block, one piece after the other. */
function allocateIn(room: SharedArrayBuffer, used: number): Allocate {
  let end = used;
  return (length) => {
    // Eight: whole pieces are copied word by word of the machine.
    const start = end + 7 & ~7;
    end = start + length;
    return new Uint8Array(room, start, length);
  };
}

function reply(message: RowReply): void {
  parentPort?.postMessage(message);
}
