// What a path asks for: the parameter, the suffix by the rule of Bitcoin Core 0.17 (ParseDataFormat), and the one place
// that chooses between bin, hex and json.

import { findDisplayHex } from '../bitcoin/hash';
import { CONTENT_TYPES, type Format, type Reply } from '../server/http/reply';
import { runInSlices } from '../turns/slices';
import { hexLine } from '../views/hex';
import { formatNotFound, invalidHash } from './errors';
import type { HeaderRecord } from '../index/types';
import type { Client } from '../turns/client';

/** A view that yields because it may take long, or bytes that are ready. */
type View = Buffer | Generator<void, Buffer>;

/** The same answer as bytes and as JSON text; only the form that is asked for is made. */
export interface Forms {
  binary(): View;
  json(): View;
}

export interface Suffixed {
  readonly parameter: string;
  /** Undefined: no suffix, or an unknown one. */
  readonly format: Format | undefined;
}

/** The list in the format error of endpoints that serve all three formats. */
export const ALL_FORMATS = '.bin, .hex, .json';

/** Splits at the last dot. An unknown suffix stays part of the parameter; a dot at the end is dropped. */
export function splitSuffix(text: string): Suffixed {
  const dot = text.lastIndexOf('.');
  if (dot < 0) return { parameter: text, format: undefined };
  const suffix = text.slice(dot + 1);
  if (suffix === 'bin' || suffix === 'hex' || suffix === 'json') return { parameter: text.slice(0, dot), format: suffix };
  return { parameter: suffix === '' ? text.slice(0, dot) : text, format: undefined };
}

/** For endpoints that serve JSON alone. @throws HttpError 404 for any other format. */
export function requireJson(text: string): void {
  if (splitSuffix(text).format !== 'json') throw formatNotFound('json');
}

/** The `<hash>` of a path, 64 hex digits of either case, as 32 bytes in wire order. @throws HttpError 400 */
export function parseHash(text: string): Buffer {
  const hash = findDisplayHex(Buffer.from(text));
  if (hash === undefined) throw invalidHash(text);
  return hash;
}

export const jsonReply = (body: Buffer, tip?: HeaderRecord): Reply => ({ contentType: CONTENT_TYPES.json, body, tip });

/**
 * The answer in the format asked for; generators run in slices. `tip`: the state for which the answer holds.
 * @throws HttpError for an undefined format: 404 with `available`.
 */
export async function replyIn(
  format: Format | undefined,
  forms: Forms,
  available: string,
  client: Client,
  tip?: HeaderRecord
): Promise<Reply> {
  if (format === undefined) throw formatNotFound(available);
  const view = format === 'json' ? forms.json() : forms.binary();
  const bytes = Buffer.isBuffer(view) ? view : await runInSlices(view, client);
  return { contentType: CONTENT_TYPES[format], body: format === 'hex' ? await runInSlices(hexLine(bytes), client) : bytes, tip };
}
