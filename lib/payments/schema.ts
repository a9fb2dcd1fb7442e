// proto/payments.proto, loaded once, and codecs made from it: bytes to plain objects and back. An absent optional field is an
// absent property, uint64 is `bigint`, bytes are views into the received bytes, unknown fields are kept as received.

import { join } from 'node:path';
import { inspect } from 'node:util';
import { loadSync, types, util, type Field, type Type } from 'protobufjs';
import { PaymentError, messageOf } from './error';
import { StrictReader, WIRE_TYPES, fieldsOf } from './wire';

type Fields = Record<string, unknown>;

const MAX_UINT64 = 2n ** 64n - 1n;

const schema = loadSync(join(__dirname, '../../proto/payments.proto'));

/** The reflected message type, for example `PaymentDetails`. */
export function messageType(name: string): Type {
  return schema.lookupType(`payments.${name}`);
}

interface Codec<Message> {
  /**
   * @returns the message; its byte fields are views into `bytes`.
   * @throws PaymentError `too-large`, or `malformed` naming message and field.
   */
  readonly decode: (bytes: Uint8Array) => Message;
  /** @throws PaymentError `malformed` naming message and field, or `too-large`. */
  readonly encode: (message: Message) => Buffer;
}

/** `Message` has the fields of the schema's message of this name; test/payments/schema.test.ts checks that. */
export function codec<Message extends object>(name: string, maxSize: number): Codec<Message> {
  const type = messageType(name);
  const limited = <Bytes extends Uint8Array>(bytes: Bytes): Bytes => {
    if (bytes.length <= maxSize) return bytes;
    throw new PaymentError('too-large', `${name}: at most ${maxSize} bytes expected, ${bytes.length} came.`);
  };
  return {
    decode: (bytes) => toFields(type, readMessage(type, bufferOf(limited(bytes)))) as unknown as Message,
    encode: (message) => limited(Buffer.from(type.encode(fromFields(type, name, message)).finish()))
  };
}

function readMessage(type: Type, buffer: Buffer): Fields {
  try {
    return type.decode(new StrictReader(buffer));
  } catch (error) {
    const message =
      error instanceof util.ProtocolError
        ? `${error.instance.$type.name}: ${error.message}.`
        : `${type.name}: the bytes are no such message (${messageOf(error)}).`;
    throw new PaymentError('malformed', message, { cause: error });
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

/** protobufjs takes a known field of the wrong wire type for an unknown field; this refuses it. */
function refuseKnown(type: Type, raw: Buffer): void {
  const tag = new StrictReader(raw).tag();
  const field = type.fieldsById[tag >>> 3];
  if (!field) return;
  const expected = WIRE_TYPES[(types.basic[field.type as keyof typeof types.basic] as number | undefined) ?? 2];
  throw new PaymentError('malformed', `${type.name}.${field.name}: ${String(expected)} expected, ${String(WIRE_TYPES[tag & 7])} came.`);
}

/** @param name the name of the value, for error messages. */
function fromFields(type: Type, name: string, value: unknown): Fields {
  if (typeof value !== 'object' || value === null) throw mismatch(name, `the fields of ${type.name}`, value);
  const fields = value as Fields;
  const message: Fields = {};
  for (const field of type.fieldsArray) {
    const item = fields[field.name];
    const fieldName = `${type.name}.${field.name}`;
    if (item !== undefined) {
      message[field.name] = field.repeated
        ? arrayOf(fieldName, item).map((one) => fromValue(field, fieldName, one))
        : fromValue(field, fieldName, item);
    } else if (field.required) {
      throw new PaymentError('malformed', `${fieldName} is required and missing.`);
    }
  }
  const unknown = fields['unknownFields'];
  if (unknown !== undefined) message['$unknowns'] = arrayOf(`${type.name}.unknownFields`, unknown).map((raw) => unknownField(type, raw));
  return message;
}

/** An unknown field is sent as it is, so it must be exactly one field, and none that the schema knows. */
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
    case 'uint64':
      if (typeof value !== 'bigint' || value < 0n || value > MAX_UINT64) throw mismatch(name, 'a bigint of 64 bits', value);
      return { low: Number(value & 0xffffffffn), high: Number(value >> 32n), unsigned: true };
    case 'uint32':
      if (typeof value !== 'number' || value >>> 0 !== value) throw mismatch(name, 'an integer of 32 bits', value);
      return value;
    case 'string':
      // A lone surrogate has no UTF-8.
      if (typeof value !== 'string' || Buffer.from(value).toString() !== value) throw mismatch(name, 'well-formed text', value);
      return value;
    default:
      if (!(value instanceof Uint8Array)) throw mismatch(name, 'bytes', value);
      return value;
  }
}

function isType(resolved: Field['resolvedType']): resolved is Type {
  return resolved !== null && 'fieldsArray' in resolved;
}

function mismatch(name: string, expected: string, value: unknown): PaymentError {
  const came = inspect(value, { depth: 0, maxStringLength: 40 });
  return new PaymentError('malformed', `${name}: ${expected} expected, ${came} came.`);
}
