// What goes over mempool's WebSocket: JSON objects, a field for each thing that is told.

import { toDisplayHex } from '../../bitcoin/hash';

/** JSON text. */
export type Json = Buffer | string;

export type Field = readonly [name: string, value: Json];

export function objectOf(fields: readonly Field[]): Buffer {
  const pieces = fields.flatMap(([name, value], i) => [`${i === 0 ? '{' : ','}${JSON.stringify(name)}:`, value]);
  return joined([...(fields.length === 0 ? ['{'] : pieces), '}']);
}

export function arrayOf(values: readonly Json[]): Buffer {
  return joined(['[', ...values.flatMap((value, i) => (i === 0 ? [value] : [',', value])), ']']);
}

export const hashText = (hash: Buffer): string => `"${toDisplayHex(hash)}"`;

function joined(pieces: readonly Json[]): Buffer {
  return Buffer.concat(pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece)));
}
