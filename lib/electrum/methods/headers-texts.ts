// Many headers as the JSON of a result. It is cached under the hash of the last header, which commits to all before it.

import { hashAt } from '../../answers/blocks/header-tree';
import { keyOf } from '../../bitcoin/hash';
import { HEADER_LENGTH } from '../../bitcoin/header';
import { ownCopy } from '../../system/own-copy';
import { runAtOnce } from '../../turns/slices';
import { hexLine } from '../../views/hex';
import { JsonWriter, QUOTE } from '../../views/json-writer';
import type { IndexSnapshot } from '../../index/types';
import type { AnswerCache, Cached, CacheSection } from '../../server/cache/answer-cache';

/** The most headers in one reply: a difficulty period, which is what wallets ask for. */
export const MOST_HEADERS = 2_016;

const HEX_LENGTH = 2 * HEADER_LENGTH;

/** Fewer headers are written each time. */
const WORTH_CACHING = 64;

interface CachedText extends Cached {
  readonly text: Buffer;
}

/** How a version of the protocol shows several headers: as one string, or as a list of strings. */
export type HeadersForm = 'hex' | 'headers';

export class HeadersTexts {
  readonly #cached: CacheSection<CachedText>;

  constructor(cache: AnswerCache) {
    this.#cached = cache.section('electrum-headers');
  }

  /** The result without a proof, for headers as `headersFrom` takes them. */
  of(start: number, count: number, form: HeadersForm, index: IndexSnapshot): Buffer {
    if (count < WORTH_CACHING) return writtenHeaders(headersFrom(start, count, index), form);
    const key = `${count} ${form} ${keyOf(hashAt(start + count - 1, index))}`;
    const known = this.#cached.get(key);
    if (known !== undefined) return known.text;
    const text = writtenHeaders(headersFrom(start, count, index), form);
    this.#cached.setIfAskedBefore(key, () => {
      const own = ownCopy(text);
      return { text: own, byteLength: own.length };
    });
    return text;
  }
}

/** The bytes of `count` headers from a height upwards, none above the tip. */
export function headersFrom(height: number, count: number, index: IndexSnapshot): Buffer {
  const runs: Buffer[] = [];
  for (let found = 0; found < count;) {
    const run = index.headerRun(height + found, count - found);
    if (run === undefined) throw new RangeError(`expected headers up to height ${height + count - 1}, got those below ${height + found}`);
    runs.push(run.headers);
    found += run.count;
  }
  return runs.length === 1 ? (runs[0] as Buffer) : Buffer.concat(runs); // there is one
}

function writtenHeaders(headers: Buffer, form: HeadersForm): Buffer {
  const digits = runAtOnce(hexLine(headers));
  const writer = new JsonWriter(digits.length + (headers.length / HEADER_LENGTH) * 3 + 64);
  writer.ascii(`{"count":${headers.length / HEADER_LENGTH},"max":${MOST_HEADERS},"${form}":`);
  if (form === 'hex') writeDigits(writer, digits, 0, digits.length - 1);
  else {
    writer.ascii('[');
    for (let at = 0; at < digits.length - 1; at += HEX_LENGTH) {
      if (at > 0) writer.ascii(',');
      writeDigits(writer, digits, at, at + HEX_LENGTH);
    }
    writer.ascii(']');
  }
  writer.ascii('}');
  return writer.toBuffer();
}

function writeDigits(writer: JsonWriter, digits: Buffer, start: number, end: number): void {
  writer.char(QUOTE);
  writer.bytes(digits, start, end);
  writer.char(QUOTE);
}
