// The status of a transaction (its block, or unconfirmed), as Esplora shows it.

import { OBJECT_END, type JsonWriter } from '../json-writer';

/** The block that holds a transaction. `hash`: 32 bytes in wire order; `time`: of the header. undefined: unconfirmed. */
export type EsploraStatus = { readonly height: number; readonly hash: Buffer; readonly time: number } | undefined;

/** Writes `{confirmed, block_height?, block_hash?, block_time?}`. */
export function writeStatus(writer: JsonWriter, status: EsploraStatus): void {
  if (status === undefined) {
    writer.ascii('{"confirmed":false}');
    return;
  }
  writer.integerField('{"confirmed":true,"block_height":', status.height);
  writer.hashField(',"block_hash":', status.hash);
  writer.integerField(',"block_time":', status.time);
  writer.char(OBJECT_END);
}
