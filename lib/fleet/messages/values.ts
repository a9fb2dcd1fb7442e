// Questions of the fleet's processes to each other, and the replies, as bytes: JSON, in which `{"$": n}` stands for Buffer number n, and
// `{"$n": "…"}` for a bigint with these digits. Names of properties that begin with `$` get another `$` in front. Absent properties and
// undefined values are the same.

import { messageOf } from '../../system/error-text';
import { MalformedMessageError, NewerMessageError } from './errors';
import { messageBytes, messageType, readMessage } from './schema';

const VERSION = 1;

const VALUE = messageType('Value');

interface ValueFields {
  readonly version: number;
  readonly json: string;
  readonly buffers: readonly Buffer[];
}

/** Any Uint8Array comes back as a Buffer. */
export function encodeValue(value: unknown): Buffer {
  const buffers: Uint8Array[] = [];
  const json = JSON.stringify(plainOf(value, buffers)) as string | undefined;
  return messageBytes(VALUE, { version: VERSION, json, buffers });
}

/**
 * Buffers are views into `bytes`.
 * @throws MalformedMessageError for bytes that are longer than `most` or have no value; NewerMessageError
 */
export function decodeValue(bytes: Uint8Array, most: number): unknown {
  const { version, json, buffers } = readMessage(VALUE, bytes, most) as ValueFields;
  if (version > VERSION) throw new NewerMessageError(`Value: version ${version}, but this release of bcoin-rest reads up to ${VERSION}`);
  if (version === 0) throw new MalformedMessageError('Value: the bytes are no value');
  if (json === '') return undefined;
  try {
    return JSON.parse(json, (_, value: unknown) => originalOf(value, buffers)) as unknown;
  } catch (error) {
    throw error instanceof MalformedMessageError ? error : new MalformedMessageError(`Value: ${messageOf(error)}`, { cause: error });
  }
}

/** Done before `JSON.stringify`, which would call Buffer's own `toJSON`. */
function plainOf(value: unknown, buffers: Uint8Array[]): unknown {
  if (value instanceof Uint8Array) return { $: buffers.push(value) - 1 };
  if (typeof value === 'bigint') return { $n: String(value) };
  if (Array.isArray(value)) return value.map((each) => plainOf(each, buffers));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [escaped(name), plainOf(each, buffers)]));
}

function originalOf(value: unknown, buffers: readonly Buffer[]): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const { $: place, $n: digits } = value as { readonly $?: unknown; readonly $n?: unknown };
  if (typeof place === 'number') {
    const buffer = buffers[place];
    if (buffer === undefined) throw new MalformedMessageError(`Value: no bytes with the number ${place}`);
    return buffer;
  }
  if (typeof digits !== 'string') return withOwnNames(value);
  if (!/^-?\d{1,80}$/.test(digits)) throw new MalformedMessageError('Value: digits expected');
  return BigInt(digits);
}

const escaped = (name: string): string => (name.startsWith('$') ? `$${name}` : name);

function withOwnNames(value: object): object {
  if (Array.isArray(value) || !Object.keys(value).some((name) => name.startsWith('$'))) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name.startsWith('$') ? name.slice(1) : name, each as unknown]));
}
