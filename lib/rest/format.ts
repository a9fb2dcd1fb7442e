// Formats: the suffix rule as Bitcoin Core 0.17 has it (ParseDataFormat, contract 2.1), and
// the one place that chooses between bin, hex and json.

import { hexLine } from '../views/hex';
import { formatNotFound } from './errors';

export type Format = 'bin' | 'hex' | 'json';

/** A successful reply. */
export interface Reply {
  readonly contentType: 'application/octet-stream' | 'text/plain' | 'application/json';
  readonly body: Buffer;
}

/** The same answer as bytes and as JSON text; only what is asked for is made. */
export interface Forms {
  binary(): Buffer;
  json(): Buffer | Promise<Buffer>;
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

/** The answer in the format asked for. @throws RestError for an undefined one: 404 with `available`. */
export function replyIn(format: Format | undefined, forms: Forms, available: string): Reply | Promise<Reply> {
  switch (format) {
    case 'bin': return { contentType: 'application/octet-stream', body: forms.binary() };
    case 'hex': return { contentType: 'text/plain', body: hexLine(forms.binary()) };
    case 'json': {
      const body = forms.json();
      return body instanceof Promise ? body.then(jsonReply) : jsonReply(body);
    }
    case undefined: throw formatNotFound(available);
  }
}

/** For endpoints that serve JSON alone. @throws RestError 404 for any other format. */
export function requireJson(text: string): void {
  if (splitSuffix(text).format !== 'json') throw formatNotFound('json');
}
