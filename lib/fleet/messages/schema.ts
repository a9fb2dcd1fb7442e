// proto/fleet.proto, loaded once, and the reading of its messages within bounds.

import { join } from 'node:path';
import { loadSync, Type, type Namespace } from 'protobufjs';
import { HASH_LENGTH } from '../../bitcoin/hash';
import { messageOf } from '../../system/error-text';
import { MalformedMessageError } from './errors';

const schema = loadSync(join(__dirname, '../../../proto/fleet.proto'));

const EMPTY = Buffer.alloc(0);

// protobufjs has an array in the place of bytes that are absent.
for (const type of (schema.lookup('fleet') as Namespace).nestedArray) {
  if (!(type instanceof Type)) continue;
  for (const { name, type: kind, repeated, options } of type.fieldsArray) {
    if (kind === 'bytes' && !repeated && options?.['proto3_optional'] !== true)
      Object.defineProperty(type.ctor.prototype, name, { value: EMPTY, writable: true });
  }
}

/** The reflected message type, for example `Record`. */
export function messageType(name: string): Type {
  return schema.lookupType(`fleet.${name}`);
}

/** The bytes of a message. */
export function messageBytes(type: Type, fields: object): Buffer {
  // protobufjs makes a Buffer, and calls it a Uint8Array.
  const { buffer, byteOffset, length } = type.encode(fields).finish();
  return Buffer.from(buffer, byteOffset, length);
}

/**
 * The fields of a message; byte fields are views into `bytes`.
 * @throws MalformedMessageError for bytes that are longer than `most`, or no such message
 */
export function readMessage(type: Type, bytes: Uint8Array, most: number): unknown {
  if (bytes.length > most) throw new MalformedMessageError(`${type.name}: at most ${most} bytes expected, ${bytes.length} came`);
  try {
    return type.decode(bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
  } catch (error) {
    throw new MalformedMessageError(`${type.name}: the bytes are no such message (${messageOf(error)})`, { cause: error });
  }
}

/** A value as the fields of a message, and back. */
export interface Codec<Value> {
  toFields(value: Value): object;
  /** @throws MalformedMessageError, NewerMessageError */
  fromFields(fields: object): Value;
}

/** A number of 64 bits as protobufjs reads it. */
export type Wide = number | { toNumber(): number };

/** @throws MalformedMessageError beyond 2^53 - 1 */
export function toNumber(name: string, wide: Wide): number {
  const number = typeof wide === 'number' ? wide : wide.toNumber();
  if (!Number.isSafeInteger(number)) throw new MalformedMessageError(`${name}: at most 2^53 - 1 expected, ${number} came`);
  return number;
}

/** @throws MalformedMessageError unless there are as many bytes */
export function exactly(name: string, length: number, bytes: Buffer): Buffer {
  if (bytes.length !== length) throw new MalformedMessageError(`${name}: ${length} bytes expected, ${bytes.length} came`);
  return bytes;
}

/** `name`: of the field, for the message. @throws MalformedMessageError unless there are 32 bytes */
export function toHash(name: string, bytes: Buffer): Buffer {
  return exactly(name, HASH_LENGTH, bytes);
}
