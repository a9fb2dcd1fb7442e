// The thread that makes the rows of blocks for a RowMaker.

import { parentPort } from 'node:worker_threads';
import { blockRows } from './rows';
import type { RowReply, RowRequest } from './row-maker';

parentPort?.on('message', ({ id, height, raw }: RowRequest) => {
  try {
    const rows = blockRows(Buffer.from(raw.buffer, raw.byteOffset, raw.length), height);
    const { hash, header, txids, lengths, inputs, inputEnds, entries } = rows;
    reply({ id, rows }, [hash, header, txids, lengths, inputs, inputEnds, entries].map(({ buffer }) => buffer as ArrayBuffer)); // made by blockRows, not shared
  } catch (error) {
    reply({ id, error }, []);
  }
});

function reply(message: RowReply, transfer: ArrayBuffer[]): void {
  parentPort?.postMessage(message, transfer);
}
