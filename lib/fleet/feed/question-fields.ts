// The fields of a question, which anybody may have sent: each is checked before it is used.

import { MAX_BLOCK_WEIGHT } from '../../bitcoin/consensus';
import { HASH_LENGTH } from '../../bitcoin/hash';
import { LIMITS } from '../../policy/limits';
import { FleetReplyError, MOST_HEADERS, MOST_LOCATOR } from '../messages/questions';

export type AskedFields = Readonly<Record<string, unknown>>;

const MOST_METHOD_LENGTH = 100;

/** The field `hash`: 32 bytes in wire order. @throws FleetReplyError `refused` */
export function hashIn(fields: AskedFields): Buffer {
  return asHash(fields['hash']);
}

/** A whole number from 0 to `most`. @throws FleetReplyError `refused` */
export function numberIn(fields: AskedFields, name: string, most: number): number {
  const value = fields[name];
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0 || value > most)
    throw wrong(`${name}: a number up to ${most}`);
  return value;
}

/** A part of a block: offset, length, and length of the block, in bytes. @throws FleetReplyError `refused` */
export function partIn(fields: AskedFields): { readonly offset: number; readonly length: number; readonly blockLength: number } {
  const [offset, length, blockLength] = ['offset', 'length', 'blockLength'].map((name) => numberIn(fields, name, MAX_BLOCK_WEIGHT)) as [
    number,
    number,
    number
  ];
  if (offset + length > blockLength) throw wrong('a part of the block');
  return { offset, length, blockLength };
}

/** At most MOST_LOCATOR hashes, 32 bytes each in wire order. @throws FleetReplyError `refused` */
export function locatorIn({ locator }: AskedFields): readonly Buffer[] {
  if (!Array.isArray(locator) || locator.length > MOST_LOCATOR) throw wrong(`locator: at most ${MOST_LOCATOR} hashes`);
  return locator.map(asHash);
}

/** At most MOST_HEADERS. @throws FleetReplyError `refused` */
export function headerCountIn(fields: AskedFields): number {
  return numberIn(fields, 'count', MOST_HEADERS);
}

/** At most 4,000,000 bytes; whether they are a transaction is not checked. @throws FleetReplyError `refused` */
export function rawIn({ raw }: AskedFields): Buffer {
  return asTransaction(raw);
}

/** At most 25, each as from `rawIn`. @throws FleetReplyError `refused` */
export function rawsIn({ raws }: AskedFields): readonly Buffer[] {
  if (!Array.isArray(raws) || raws.length > LIMITS.mostInPackage) throw wrong(`raws: at most ${LIMITS.mostInPackage} transactions`);
  return raws.map(asTransaction);
}

/** At most 100 characters; whether there is such a call is not checked. @throws FleetReplyError `refused` */
export function methodIn({ method }: AskedFields): string {
  if (typeof method !== 'string' || method.length > MOST_METHOD_LENGTH) throw wrong('method: the name of a call');
  return method;
}

function asHash(value: unknown): Buffer {
  if (!Buffer.isBuffer(value) || value.length !== HASH_LENGTH) throw wrong('a hash of 32 bytes');
  return value;
}

function asTransaction(value: unknown): Buffer {
  if (!Buffer.isBuffer(value) || value.length > MAX_BLOCK_WEIGHT) throw wrong('a serialized transaction');
  return value;
}

function wrong(expected: string): FleetReplyError {
  return new FleetReplyError('refused', `expected ${expected}`);
}
