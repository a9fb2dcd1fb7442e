// The status of a transaction (its block, or unconfirmed), as Esplora shows it.

import { OBJECT_END, type JsonWriter } from '../json-writer';
import { anyOf, described, named, object, type Schema } from '../../describe/schema';
import { BLOCK_HASH, HEIGHT, TIME } from '../../describe/values';

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

const CONFIRMED = object({
  confirmed: { const: true },
  block_height: HEIGHT,
  block_hash: BLOCK_HASH,
  block_time: described('Of the header, Unix time in seconds.', TIME)
});

/** What `writeStatus` writes. */
export const STATUS: Schema = named('Status', anyOf(CONFIRMED, object({ confirmed: { const: false } })));
