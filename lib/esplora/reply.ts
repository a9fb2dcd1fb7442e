// What Esplora's replies have in common: texts without a line end, compact JSON, how long anybody may cache them; and what the segments of
// a path say.

import { fromDisplayHex } from '../bitcoin/hash';
import { CONTENT_TYPES, type Reply } from '../rest/format';
import { invalidHex, invalidNumber } from './errors';
import type { HeaderRecord } from '../index/types';

/** Blocks below the tip from which on what a block says is taken for settled. */
const SETTLED_DEPTH = 10;

const [OPENING, COMMA, CLOSING] = [Buffer.from('['), Buffer.from(','), Buffer.from(']')];

const MOST_NUMBER = Number.MAX_SAFE_INTEGER;

/** `isImmutable`: anybody may cache it for years. */
export interface EsploraReply extends Reply {
  /** Seconds, where they are neither the long nor the usual ones. */
  readonly maxAge?: number | undefined;
}

export const textReply = (text: string): EsploraReply => ({ contentType: CONTENT_TYPES.hex, body: Buffer.from(text, 'latin1') });

export const jsonReply = (body: Buffer | string): EsploraReply => ({
  contentType: CONTENT_TYPES.json,
  body: typeof body === 'string' ? Buffer.from(body) : body
});

/** A JSON array of texts. */
export function joinedReply(texts: readonly Buffer[]): EsploraReply {
  return jsonReply(Buffer.concat([OPENING, ...texts.flatMap((text, i) => (i === 0 ? [text] : [COMMA, text])), CLOSING]));
}

export const binaryReply = (body: Buffer): EsploraReply => ({ contentType: CONTENT_TYPES.bin, body });

/**
 * A reply that holds for one state of the index, and for years when what it is about lies deep. `height`: undefined for what never does.
 * `isPruned`: the node may throw away what it is made of, and so it is not answered from memory.
 */
export function replyAt(reply: EsploraReply, tip: HeaderRecord, height: number | undefined, isPruned = false): EsploraReply {
  const { contentType, body, maxAge, release } = reply;
  const isImmutable = height !== undefined && tip.height - height >= SETTLED_DEPTH;
  return { contentType, body, maxAge, release, tip: isPruned ? undefined : tip, isImmutable };
}

/** 64 hex digits of either case as 32 bytes in wire order; undefined for any other text. */
export function findHash(text: string): Buffer | undefined {
  try {
    return fromDisplayHex(text);
  } catch {
    return undefined;
  }
}

/** The same. @throws RestError 400 for any other text */
export function readHash(text: string): Buffer {
  const hash = findHash(text);
  if (hash === undefined) throw invalidHex();
  return hash;
}

/** Undefined for what is no whole number up to `most`. A plus may stand before it. */
export function findNumber(text: string, most = MOST_NUMBER): number | undefined {
  const value = /^\+?\d+$/.test(text) ? Number(text) : undefined;
  return value !== undefined && value <= most ? value : undefined;
}

/** @throws RestError 400 */
export function readNumber(text: string, most = MOST_NUMBER): number {
  const value = findNumber(text, most);
  if (value === undefined) throw invalidNumber();
  return value;
}
