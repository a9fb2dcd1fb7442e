// Formats: the suffix rule as Bitcoin Core 0.17 has it (ParseDataFormat, contract 2.1), and
// the one place that chooses between bin, hex and json.

import { hexLine } from '../views/hex';
import { formatNotFound } from './errors';
import { runInSlices } from './server/slices';
import type { Release } from './cache/buffers';
import type { Waiting } from './server/work-queue';

export type Format = 'bin' | 'hex' | 'json';

/** A successful reply. */
export interface Reply {
  readonly contentType: 'application/octet-stream' | 'text/plain' | 'application/json';
  readonly body: Buffer;
  /** To be called when the body is with the system, or its client has gone. */
  readonly release?: Release;
}

/** The same answer as bytes and as JSON text; only what is asked for is made. */
export interface Forms {
  /** A view that yields where reading may take long. */
  binary(): Buffer | Generator<void, Buffer>;
  /** The line of hex, where there is a quicker way than from the bytes. */
  hex?(): Generator<void, Buffer>;
  /** A view that yields where the text may be long. */
  json(): Buffer | Generator<void, Buffer>;
}

export interface Suffixed {
  readonly parameter: string;
  /** Undefined: none, or one that is not known. */
  readonly format: Format | undefined;
}

/** The list in the format error of endpoints that serve all three. */
export const ALL_FORMATS = '.bin, .hex, .json';

const isFormat = (suffix: string): suffix is Format => suffix === 'bin' || suffix === 'hex' || suffix === 'json';

/** Splits at the last dot. An unknown suffix stays with the parameter, an empty one goes. */
export function splitSuffix(text: string): Suffixed {
  const dot = text.lastIndexOf('.');
  if (dot < 0) return { parameter: text, format: undefined };
  const suffix = text.slice(dot + 1);
  if (isFormat(suffix)) return { parameter: text.slice(0, dot), format: suffix };
  return { parameter: suffix === '' ? text.slice(0, dot) : text, format: undefined };
}

export const jsonReply = (body: Buffer): Reply => ({ contentType: 'application/json', body });

/**
 * The answer in the format asked for, made in slices unless it is short.
 * @throws RestError for an undefined one: 404 with `available`.
 */
export function replyIn(format: Format | undefined, forms: Forms, available: string, client: Waiting): Reply | Promise<Reply> {
  if (format === 'json') return replyWith('application/json', forms.json(), client);
  if (format === 'hex' && forms.hex !== undefined) return replyWith('text/plain', forms.hex(), client);
  return binaryReplyIn(format, () => forms.binary(), available, client);
}

/** As replyIn, where JSON is made otherwise. */
export function binaryReplyIn(format: Exclude<Format, 'json'> | undefined, binary: Forms['binary'], available: string, client: Waiting): Reply | Promise<Reply> {
  if (format === undefined) throw formatNotFound(available);
  const bytes = binary();
  if (format === 'bin') return replyWith('application/octet-stream', bytes, client);
  return replyWith('text/plain', Buffer.isBuffer(bytes) ? hexLine(bytes) : hexLineOf(bytes), client);
}

function replyWith(contentType: Reply['contentType'], view: Buffer | Generator<void, Buffer>, client: Waiting): Reply | Promise<Reply> {
  const body = Buffer.isBuffer(view) ? view : runInSlices(view, client);
  return body instanceof Promise ? body.then((text) => ({ contentType, body: text })) : { contentType, body };
}

function* hexLineOf(binary: Generator<void, Buffer>): Generator<void, Buffer> {
  return yield* hexLine(yield* binary);
}

/** For endpoints that serve JSON alone. @throws RestError 404 for any other format. */
export function requireJson(text: string): void {
  if (splitSuffix(text).format !== 'json') throw formatNotFound('json');
}
