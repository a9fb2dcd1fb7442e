// The outpoints of a getutxos request, in its path or its body. Paths are parsed as loosely as Bitcoin Core 0.17 did, or as strictly
// as Bitcoin Core does since 28; bodies are Bitcoin Core's serialization.

import { findDisplayHex, fromDisplayHex } from '../bitcoin/hash';
import { ByteReader, MalformedBytesError } from '../bitcoin/reader';
import { emptyRequest, parseError } from './errors';
import type { ProfileParsing } from '../profile/profile';

export interface Outpoint {
  /** 32 bytes in wire order. */
  readonly txid: Buffer;
  /** Unsigned 32 bits. */
  readonly index: number;
}

/** What a getutxos request asks. */
export interface Query {
  /** Whether the pool's transactions are taken into account. */
  readonly checkMempool: boolean;
  readonly outpoints: readonly Outpoint[];
}

const TXID_DIGITS = 64;
const OUTPOINT_BYTES = 36;

const NOT_A_HEX_DIGIT = /[^0-9a-fA-F]/;
const DIGITS = /^[0-9]+$/;
const INTEGER = /^[+-]?[0-9]+$/;
const WHITE_SPACE = /[\t-\r ]+/g;

/**
 * `parameter`: the path after the prefix, without suffix. Its first character is ignored, even if it is not a slash.
 * Undefined when nothing follows it.
 * @throws RestError 400 for malformed outpoints, or none at all.
 */
export function outpointsInPath(parameter: string, { isStrict }: Pick<ProfileParsing, 'isStrict'>): Query | undefined {
  if (parameter.length <= 1) return undefined;
  const text = parameter.slice(1);
  const ascii = Buffer.from(text);
  // No outpoint has characters beyond ASCII.
  if (ascii.length !== text.length) throw parseError();
  const segments = text.split('/');
  const checkMempool = segments[0] === 'checkmempool';
  const outpoints: Outpoint[] = [];
  let start = 0;
  segments.forEach((segment, i) => {
    const hash = segment[TXID_DIGITS] === '-' ? findDisplayHex(ascii, start, start + TXID_DIGITS) : undefined;
    if (i > 0 || !checkMempool) outpoints.push(isStrict ? parseStrictOutpoint(segment, hash) : parseOutpoint(segment, hash));
    start += segment.length + 1;
  });
  if (outpoints.length === 0) throw emptyRequest();
  return { checkMempool, outpoints };
}

/** The only form that Bitcoin Core accepts since 28. `txid`: undefined if the segment does not begin with 64 hex digits and a dash. */
function parseStrictOutpoint(segment: string, txid: Buffer | undefined): Outpoint {
  const indexText = segment.slice(TXID_DIGITS + 1);
  const index = DIGITS.test(indexText) ? Number(indexText) : NaN;
  if (txid === undefined || !(index <= 0xffff_ffff)) throw parseError();
  return { txid, index };
}

/** Without a dash the whole segment is both txid and index. `usual`: `txid` of `parseStrictOutpoint`. */
function parseOutpoint(segment: string, usual: Buffer | undefined): Outpoint {
  const dash = usual === undefined ? segment.indexOf('-') : TXID_DIGITS;
  const indexText = segment.slice(dash + 1);
  const index = INTEGER.test(indexText) ? Number(indexText) : NaN;
  if (!(index >= -0x8000_0000 && index <= 0x7fff_ffff)) throw parseError();
  return { txid: usual ?? txidOf(dash < 0 ? segment : segment.slice(0, dash)), index: index >>> 0 };
}

/** Takes any even number of digits and uses the last 64. @throws RestError 400 */
function txidOf(text: string): Buffer {
  if (!isHex(text)) throw parseError();
  return fromDisplayHex(text.slice(-TXID_DIGITS).padStart(TXID_DIGITS, '0'));
}

/**
 * A boolean, the number of outpoints (compact size), the outpoints; bytes after the last outpoint are ignored.
 * @throws RestError 400 when the bytes end too early.
 */
export function outpointsInBody(body: Buffer): Query {
  try {
    const reader = new ByteReader(body);
    const checkMempool = reader.u8() !== 0;
    const count = reader.compactSize();
    // Refused before anything is allocated for a count that the bytes cannot hold.
    if (reader.remaining < count * OUTPOINT_BYTES) throw parseError();
    const outpoints = Array.from({ length: count }, (): Outpoint => ({ txid: reader.bytes(32), index: reader.u32() }));
    return { checkMempool, outpoints };
  } catch (error) {
    throw error instanceof MalformedBytesError ? parseError() : error;
  }
}

/** Decodes a hex body, ignoring white space; undefined when it is not hex. */
export function bytesOfHexBody(body: Buffer): Buffer | undefined {
  const digits = body.toString('latin1').replace(WHITE_SPACE, '');
  return digits === '' || isHex(digits) ? Buffer.from(digits, 'hex') : undefined;
}

/** Any even number of hex digits, at least two. */
function isHex(text: string): boolean {
  return text !== '' && text.length % 2 === 0 && !NOT_A_HEX_DIGIT.test(text);
}
