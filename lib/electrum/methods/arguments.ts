// Parses the arguments of methods. A malformed argument is a bad request, in ElectrumX's words.

import { parseDisplayHex } from '../../bitcoin/hash';
import { shownValue } from '../../server/sockets/shown-value';
import { CODES, ElectrumError } from '../errors';

/** How much of an argument an error shows. */
const MOST_CHARACTERS = 200;

export const badRequest = (message: string): ElectrumError => new ElectrumError(CODES.badRequest, message);

/** A JSON number, not a string of digits. @throws ElectrumError */
export function readCount(value: unknown): number {
  if (!Number.isSafeInteger(value) || (value as number) < 0) throw badRequest(`${shown(value)} should be a non-negative integer`);
  return value as number; // checked
}

/** What `readFlag` takes. */
export const FLAG_OR_NUMBER = { enum: [false, true, 0, 1], default: false } as const;

/** 0 and 1 are accepted as well. @throws ElectrumError */
export function readFlag(value: unknown, name: string): boolean {
  if (value !== true && value !== false && value !== 1 && value !== 0) throw badRequest(`"${name}" must be a boolean`);
  return value === true || value === 1;
}

/** 32 bytes in wire order. @throws ElectrumError */
export function readTxid(value: unknown): Buffer {
  const txid = typeof value === 'string' ? parseDisplayHex(value) : undefined;
  if (txid === undefined) throw badRequest(`${shown(value)} should be a transaction hash`);
  return txid;
}

/** A script's SHA-256 in normal byte order; clients send it reversed. @throws ElectrumError */
export function readScriptHash(value: unknown): { readonly script: Buffer; readonly name: string } {
  const script = typeof value === 'string' ? parseDisplayHex(value) : undefined;
  if (script === undefined) throw badRequest(`${shown(value)} is not a valid script hash`);
  return { script, name: value as string }; // otherwise there is no script
}

/** @throws ElectrumError */
export function readHex(value: unknown): string {
  if (typeof value !== 'string' || !/^(?:[0-9a-fA-F]{2})*$/.test(value)) throw badRequest(`${shown(value)} should be a hex string`);
  return value;
}

/** The bytes of a script. @throws ElectrumError */
export const readScript = (value: unknown): Buffer => Buffer.from(readHex(value), 'hex');

/** @throws ElectrumError */
export function readList(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw badRequest(`${shown(value)} should be a list`);
  return value as readonly unknown[];
}

export const shown = (value: unknown): string => shownValue(value, MOST_CHARACTERS);
