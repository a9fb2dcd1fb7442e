// What Esplora's replies have in common: texts without a line end, compact JSON, how long clients may cache them. Also parsers for the
// segments of a path.

import { findDisplayHex } from '../bitcoin/hash';
import { CONTENT_TYPES, type Basis, type Reply } from '../server/http/reply';
import { runInSlices } from '../turns/slices';
import { invalidHex, invalidNumber } from './errors';
import type { BasesAt } from '../answers/scripts/bases';
import type { HeaderRecord } from '../index/types';
import type { Client } from '../turns/client';

/** How many blocks below the tip a block is taken for final. */
const SETTLED_DEPTH = 10;

const [OPENING, COMMA, CLOSING] = [Buffer.from('['), Buffer.from(','), Buffer.from(']')];

/** electrs reads heights and places in a block as unsigned 64-bit numbers. */
const MOST_NUMBER = 2n ** 64n - 1n;

/** `isImmutable`: clients may cache the reply for years. */
export interface EsploraReply extends Reply {
  /** Seconds that clients may cache the reply, if not one of the two defaults. */
  readonly maxAge?: number | undefined;
  /** False: clients must not cache the reply at all. */
  readonly isStored?: false;
}

/** `text`: of characters that have one byte (latin1). */
export const textReply = (text: string): EsploraReply => ({ contentType: CONTENT_TYPES.hex, body: Buffer.from(text, 'latin1') });

export const jsonReply = (body: Buffer | string): EsploraReply => ({
  contentType: CONTENT_TYPES.json,
  body: typeof body === 'string' ? Buffer.from(body) : body
});

/** A JSON array of texts. In slices: a hundred transactions may have 90 MB. @throws ClientGoneError */
export async function joinedReply(texts: readonly Buffer[], client: Client): Promise<EsploraReply> {
  return jsonReply(await runInSlices(joined(texts), client));
}

function* joined(texts: readonly Buffer[]): Generator<void, Buffer> {
  const parts = [OPENING, ...texts.flatMap((text, i) => (i === 0 ? [text] : [COMMA, text])), CLOSING];
  const body = Buffer.allocUnsafe(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    at += part.copy(body, at);
    yield;
  }
  return body;
}

export const binaryReply = (body: Buffer): EsploraReply => ({ contentType: CONTENT_TYPES.bin, body });

/**
 * A reply that holds for one state of the index, and that clients may cache for years if its block is deep enough. `height`: of that
 * block; undefined if the reply never becomes final. `bases`: of the same moment, if nothing but its block can change a final reply.
 */
export function replyAt(reply: EsploraReply, tip: HeaderRecord, height: number | undefined, bases?: BasesAt): EsploraReply {
  const { contentType, body, maxAge, release } = reply;
  const isImmutable = height !== undefined && tip.height - height >= SETTLED_DEPTH;
  // The block that made it final.
  const basis = isImmutable ? bases?.ofBlock(height + SETTLED_DEPTH) : undefined;
  return { contentType, body, maxAge, release, tip, basis, isImmutable };
}

/** A reply that is not answered from memory, because the node may delete the bytes that it was made from. */
export function unkept({ contentType, body, maxAge, release, isImmutable }: EsploraReply): EsploraReply {
  return { contentType, body, maxAge, release, isImmutable };
}

/** A reply that holds as long as its basis is the same. */
export function replyFrom({ contentType, body, maxAge, release }: EsploraReply, basis: Basis | undefined): EsploraReply {
  return { contentType, body, maxAge, release, basis };
}

/** 64 hex digits of either case as 32 bytes in wire order; undefined for any other text. */
export function findHash(text: string): Buffer | undefined {
  return findDisplayHex(Buffer.from(text));
}

/** As `findHash`. @throws HttpError 400 for any other text */
export function readHash(text: string): Buffer {
  const hash = findHash(text);
  if (hash === undefined) throw invalidHex();
  return hash;
}

/** Undefined unless the text is a whole number up to `most`, with or without a plus sign. Inexact above 2^53, where nothing is found. */
export function findNumber(text: string, most: number | bigint = MOST_NUMBER): number | undefined {
  const value = /^\+?\d+$/.test(text) ? BigInt(text) : undefined;
  return value !== undefined && value <= most ? Number(value) : undefined;
}

/** @throws HttpError 400 */
export function readNumber(text: string, most: number | bigint = MOST_NUMBER): number {
  const value = findNumber(text, most);
  if (value === undefined) throw invalidNumber();
  return value;
}
