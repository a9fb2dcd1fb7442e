// proto/payments.proto, loaded once, and the codec made from it: bytes to plain objects and
// back. Presence is kept (an absent optional field is an absent property), uint64 is
// `bigint`, bytes are views into what was received, unknown fields stay as they came.

import { join } from 'node:path';
import { inspect } from 'node:util';
import { loadSync, types, util, type Field, type Type } from 'protobufjs';
import { PaymentError, messageOf } from './error';
import { StrictReader, WIRE_TYPES, fieldsOf } from './wire';

type Fields = Record<string, unknown>;

const MAX_UINT32 = 2 ** 32 - 1;
const MAX_UINT64 = 2n ** 64n - 1n;

const schema = loadSync(join(__dirname, '../../proto/payments.proto'));

/** The reflected message type, for example `PaymentDetails`. */
export function messageType(name: string): Type {
  return schema.lookupType(`payments.${name}`);
}

/**
 * @param bytes the serialized message; byte fields of the result are views into it.
 * @throws PaymentError naming message and field.
 */
export function decodeFields(type: Type, bytes: Uint8Array): Fields {
  return toFields(type, readMessage(type, bufferOf(bytes)));
}

/** @throws PaymentError naming message and field when a value does not fit the schema. */
export function encodeFields(type: Type, fields: object): Buffer {
  return Buffer.from(type.encode(fromFields(type, type.name, fields)).finish());
}

function readMessage(type: Type, buffer: Buffer): Fields {
  try {
    return type.decode(new StrictReader(buffer));
  } catch (error) {
    if (error instanceof util.ProtocolError) {
      const lacking = error.instance.$type.name;
      throw new PaymentError('malformed', `${lacking}: ${error.message}.`, { cause: error });
    }
    throw new PaymentError('malformed', `${type.name}: the bytes are no such message (${messageOf(error)}).`, { cause: error });
  }
}

function toFields(type: Type, message: Fields): Fields {
  const fields: Fields = {};
  for (const field of type.fieldsArray) {
    const value = Object.hasOwn(message, field.name) ? message[field.name] : undefined;
    if (field.repeated) fields[field.name] = ((value ?? []) as unknown[]).map((item) => toValue(field, item));
    else if (value !== undefined) fields[field.name] = toValue(field, value);
  }
  const unknown = message['$unknowns'] as Buffer[] | undefined;
  if (unknown) {
    for (const raw of unknown) refuseKnown(type, raw);
    fields['unknownFields'] = unknown;
  }
  return fields;
}

function toValue(field: Field, value: unknown): unknown {
  if (field.type === 'uint64') return BigInt(String(value));
  return isType(field.resolvedType) ? toFields(field.resolvedType, value as Fields) : value;
}

/** protobufjs takes a known field of the wrong wire type for an unknown one. */
function refuseKnown(type: Type, raw: Buffer): void {
  const tag = new StrictReader(raw).tag();
  const field = type.fieldsById[tag >>> 3];
  if (!field) return;
  const expected = WIRE_TYPES[types.basic[field.type as keyof typeof types.basic] as number | undefined ?? 2];
  throw new PaymentError('malformed', `${type.name}.${field.name}: ${String(expected)} expected, ${String(WIRE_TYPES[tag & 7])} came.`);
}

/** @param place where the value stands, for messages. */
function fromFields(type: Type, place: string, value: unknown): Fields {
  if (typeof value !== 'object' || value === null) throw mismatch(place, `the fields of ${type.name}`, value);
  const fields = value as Fields;
  const message: Fields = {};
  for (const field of type.fieldsArray) {
    const item = fields[field.name];
    const name = `${type.name}.${field.name}`;
    if (item === undefined) {
      if (field.required) throw new PaymentError('malformed', `${name} is required and missing.`);
    } else if (!field.repeated) {
      message[field.name] = fromValue(field, name, item);
    } else {
      message[field.name] = arrayOf(name, item).map((one) => fromValue(field, name, one));
    }
  }
  const unknown = fields['unknownFields'];
  if (unknown !== undefined) message['$unknowns'] = arrayOf(`${type.name}.unknownFields`, unknown).map((raw) => unknownField(type, raw));
  return message;
}

/** It goes out as it is, so it has to be one field, and none that would change what the schema knows. */
function unknownField(type: Type, raw: unknown): Buffer {
  const name = `${type.name}.unknownFields`;
  if (!(raw instanceof Uint8Array)) throw mismatch(name, 'bytes', raw);
  const bytes = bufferOf(raw);
  const [field, ...more] = fieldsOf(bytes);
  if (!field || more.length > 0 || type.fieldsById[field.number]) throw mismatch(name, 'one field that the schema does not know', raw);
  return bytes;
}

function arrayOf(name: string, value: unknown): unknown[] {
  if (!Array.isArray(value)) throw mismatch(name, 'an array', value);
  return value;
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function fromValue(field: Field, name: string, value: unknown): unknown {
  if (isType(field.resolvedType)) return fromFields(field.resolvedType, name, value);
  switch (field.type) {
    case 'uint64': {
      if (typeof value !== 'bigint' || value < 0n || value > MAX_UINT64) throw mismatch(name, 'a bigint of 64 bits', value);
      return { low: Number(value & 0xffffffffn), high: Number(value >> 32n), unsigned: true };
    }
    case 'uint32': {
      if (!Number.isInteger(value) || (value as number) < 0 || (value as number) > MAX_UINT32) throw mismatch(name, 'an integer of 32 bits', value);
      return value;
    }
    case 'string': {
      // A lone surrogate has no UTF-8.
      if (typeof value !== 'string' || Buffer.from(value).toString() !== value) throw mismatch(name, 'well-formed text', value);
      return value;
    }
    default: {
      if (!(value instanceof Uint8Array)) throw mismatch(name, 'bytes', value);
      return value;
    }
  }
}

function isType(resolved: Field['resolvedType']): resolved is Type {
  return resolved !== null && 'fieldsArray' in resolved;
}

function mismatch(name: string, expected: string, value: unknown): PaymentError {
  const came = inspect(value, { depth: 0, maxStringLength: 40 });
  return new PaymentError('malformed', `${name}: ${expected} expected, ${came} came.`);
}
