// Messages of mempool's WebSocket: JSON objects with a field for each update.

import { toDisplayHex } from '../bitcoin/hash';

/** JSON text. */
export type Json = Buffer | string;

/** JSON text in consecutive pieces. */
export type Pieces = readonly Json[];

export type Field = readonly [name: string, value: Json | Pieces];

/** Copying fewer bytes than this costs less than sending them as a separate part. */
const LONG_BYTES = 4_096;

export const objectOf = (fields: readonly Field[]): Buffer => joined(piecesOf(fields));

/** An object as JSON text. Names are escaped; values are JSON text already. */
export function piecesOf(fields: readonly Field[]): Json[] {
  const pieces = fields.flatMap(([name, value], i) => [`${i === 0 ? '{' : ','}${JSON.stringify(name)}:`, value]);
  return [...(fields.length === 0 ? ['{'] : pieces), '}'].flat();
}

/** As `piecesOf`, in few parts. Long values are not copied, so that messages to many clients share their memory. */
export function partsOf(fields: readonly Field[]): Buffer[] {
  const parts: Buffer[] = [];
  let short: Json[] = [];
  for (const piece of piecesOf(fields)) {
    if (typeof piece === 'string' || piece.length < LONG_BYTES) short.push(piece);
    else {
      parts.push(joined(short), piece);
      short = [];
    }
  }
  return [...parts, joined(short)];
}

/** An array as JSON text. */
export function arrayOf(values: Pieces): Buffer {
  return joined(['[', ...values.flatMap((value, i) => (i === 0 ? [value] : [',', value])), ']']);
}

/** A hash of 32 bytes in wire order as displayed, in quotes. */
export const hashText = (hash: Buffer): string => `"${toDisplayHex(hash)}"`;

function joined(pieces: Pieces): Buffer {
  return Buffer.concat(pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece)));
}
