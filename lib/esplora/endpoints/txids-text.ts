// Txids as JSON, of a block or of the pool.

import { JsonWriter } from '../../views/json-writer';

/** Txids that are worked on between two turns. */
export const TXIDS_PER_SLICE = 512;

/** `"`, 64 digits, `",` */
const TXID_TEXT_LENGTH = 67;

/** A JSON array of txids, in slices. */
export function* txidsText(txids: readonly Buffer[]): Generator<void, Buffer> {
  const writer = new JsonWriter(txids.length * TXID_TEXT_LENGTH + 2);
  writer.ascii('[');
  for (const [i, txid] of txids.entries()) {
    if (i > 0) writer.ascii(',');
    writer.hashString(txid);
    if (i % TXIDS_PER_SLICE === TXIDS_PER_SLICE - 1) yield;
  }
  writer.ascii(']');
  return writer.toBuffer();
}
