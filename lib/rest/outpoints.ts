// The outpoints of a getutxos request, in its path or its body. Paths are parsed as loosely as Bitcoin Core 0.17 did, or as strictly
// as Bitcoin Core does since 28; bodies are Bitcoin Core's serialization.

import { findDisplayHex, fromDisplayHex } from '../bitcoin/hash';
import { ByteReader, MalformedBytesError } from '../bitcoin/reader';
import { emptyRequest, parseError } from './errors';
import type { Outpoint } from '../bitcoin/transaction';
import type { ProfileParsing } from '../views/profile';

/** What a getutxos request asks. */
export interface Query {
  /** Whether the pool's transactions are taken into account. */
  readonly checkMempool: boolean;
  readonly outpoints: readonly Outpoint[];
}

const TXID_DIGITS = 64;
const CHECK_MEMPOOL = 'checkmempool';
const [SLASH, DASH, ZERO] = [0x2f, 0x2d, 0x30];

const NOT_A_HEX_DIGIT = /[^0-9a-fA-F]/;
const INTEGER = /^[+-]?[0-9]+$/;
const WHITE_SPACE = /[\t-\r ]+/g;

/**
 * `parameter`: the path after the prefix, without suffix. Its first character is ignored, even if it is not a slash.
 * Undefined when nothing follows it.
 * @throws HttpError 400 for malformed outpoints, or none at all.
 */
export function outpointsInPath(parameter: string, { isStrict }: Pick<ProfileParsing, 'isStrict'>): Query | undefined {
  if (parameter.length <= 1) return undefined;
  const text = parameter.slice(1);
  // Characters beyond ASCII become bytes that no outpoint has.
  const bytes = Buffer.from(text);
  if (text === CHECK_MEMPOOL) throw emptyRequest();
  const checkMempool = text.startsWith(`${CHECK_MEMPOOL}/`);
  const read = isStrict ? strictOutpoint : looseOutpoint;
  const outpoints: Outpoint[] = [];
  for (let start = checkMempool ? CHECK_MEMPOOL.length + 1 : 0, end = -1; end < bytes.length; start = end + 1) {
    end = bytes.indexOf(SLASH, start);
    if (end < 0) end = bytes.length;
    outpoints.push(read(bytes, start, end));
  }
  return { checkMempool, outpoints };
}

/** Bitcoin Core accepts only the usual form since 28. @throws HttpError 400 */
function strictOutpoint(text: Buffer, start: number, end: number): Outpoint {
  const outpoint = usualOutpoint(text, start, end, 0xffff_ffff);
  if (outpoint === undefined) throw parseError();
  return outpoint;
}

/** The index may have a sign, and the txid another length. Without a dash the whole text is both. @throws HttpError 400 */
function looseOutpoint(text: Buffer, start: number, end: number): Outpoint {
  const usual = usualOutpoint(text, start, end, 0x7fff_ffff);
  if (usual !== undefined) return usual;
  const segment = text.toString('latin1', start, end);
  const dash = segment.indexOf('-');
  const indexText = segment.slice(dash + 1);
  const index = INTEGER.test(indexText) ? Number(indexText) : NaN;
  if (!(index >= -0x8000_0000 && index <= 0x7fff_ffff)) throw parseError();
  return { txid: txidOf(dash < 0 ? segment : segment.slice(0, dash)), index: index >>> 0 };
}

/** Undefined unless it is 64 hex digits, a dash and an index in digits. */
function usualOutpoint(text: Buffer, start: number, end: number, mostIndex: number): Outpoint | undefined {
  const dash = start + TXID_DIGITS;
  if (text[dash] !== DASH || dash + 1 >= end) return undefined;
  let index = 0;
  for (let at = dash + 1; at < end; at++) {
    const digit = (text[at] as number) - ZERO; // before the end
    if (digit < 0 || digit > 9) return undefined;
    index = index * 10 + digit;
  }
  const txid = findDisplayHex(text, start, dash);
  return txid && index <= mostIndex ? { txid, index } : undefined;
}

/** Takes any even number of digits and uses the last 64. @throws HttpError 400 */
function txidOf(text: string): Buffer {
  if (!isHex(text)) throw parseError();
  return fromDisplayHex(text.slice(-TXID_DIGITS).padStart(TXID_DIGITS, '0'));
}

/**
 * A boolean, the number of outpoints (compact size), the outpoints; bytes after the last outpoint are ignored.
 * @throws HttpError 400 when the bytes end too early.
 */
export function outpointsInBody(body: Buffer): Query {
  try {
    const reader = new ByteReader(body);
    const checkMempool = reader.u8() !== 0;
    const outpoints: Outpoint[] = [];
    // Nothing is allocated for a count that the bytes cannot hold.
    for (let left = reader.compactSize(); left > 0; left--) outpoints.push({ txid: reader.bytes(32), index: reader.u32() });
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
