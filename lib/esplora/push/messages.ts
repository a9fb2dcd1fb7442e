// What goes over mempool's WebSocket: JSON objects, a field for each thing that is told.

import { toDisplayHex } from '../../bitcoin/hash';

/** JSON text. */
export type Json = Buffer | string;

/** JSON text, one piece behind the other. */
export type Pieces = readonly Json[];

export type Field = readonly [name: string, value: Json | Pieces];

/** Copying fewer bytes costs less than a part of a message. */
const LONG_BYTES = 4_096;

export const objectOf = (fields: readonly Field[]): Buffer => joined(piecesOf(fields));

export function piecesOf(fields: readonly Field[]): Json[] {
  const pieces = fields.flatMap(([name, value], i) => [`${i === 0 ? '{' : ','}${JSON.stringify(name)}:`, value]);
  return [...(fields.length === 0 ? ['{'] : pieces), '}'].flat();
}

/** The same in few parts: long values as they are, so that messages to many clients have them in the same memory. */
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

export function arrayOf(values: Pieces): Buffer {
  return joined(['[', ...values.flatMap((value, i) => (i === 0 ? [value] : [',', value])), ']']);
}

export const hashText = (hash: Buffer): string => `"${toDisplayHex(hash)}"`;

function joined(pieces: Pieces): Buffer {
  return Buffer.concat(pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece)));
}
