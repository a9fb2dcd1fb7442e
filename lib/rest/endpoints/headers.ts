// /rest/headers/<count>/<hash>.<bin|hex|json> (contract 4.3): headers of the active chain from
// a block upwards. A block that is unknown or off the chain gives an empty list.

import { backfillText } from '../../index/progress/text';
import { HEADER_LENGTH } from '../../bitcoin/header';
import { headersJson, headersText, type HeadersPart, type HeadersText } from '../../views/header';
import { hexDigits } from '../../views/hex';
import { memoryOf, type Kept, type Shelf } from '../cache/answers';
import { headerCountOutOfRange, noHeaderCount, notYetKnown } from '../errors';
import { replyIn, splitSuffix } from '../format';
import { parseHash } from './hash-parameter';
import { StateReplies } from '../cache/replies';
import type { HeaderRun, IndexSnapshot } from '../../index/types';
import type { Endpoint, EndpointContext } from '../endpoint';

/** JSON is served all the same, and so it is in Bitcoin Core 0.17. */
const FORMATS = '.bin, .hex';

/** Headers whose text is kept together: those from a multiple of it on. */
const CHUNK = 64;

/** And whose digits, which are quickly made and looked up in fewer steps. */
const HEX_CHUNK = 512;

const LINE_FEED = 0x0a;
const HEADER_DIGITS = HEADER_LENGTH * 2;

/** What was made of a whole chunk; holds while the block after it is the same. */
interface KeptChunk<T> extends Kept {
  readonly made: T;
  readonly nextHash: Buffer;
}

interface Chunk {
  /** Height of its first header. */
  readonly start: number;
  readonly count: number;
}

type Chunks<T> = Shelf<KeptChunk<T>>;

export function headersEndpoint({ reader, limits, cache }: EndpointContext): Endpoint {
  const texts: Chunks<HeadersText> = cache.shelf('headers');
  const digits: Chunks<Buffer> = cache.shelf('headers-hex');
  const replies = new StateReplies(cache, 'headers-reply');
  return (request) => {
    const { path } = request;
    const kept = reader.read((snapshot) => replies.get(path, snapshot));
    if (kept !== undefined) return kept;
    const { parameter, format } = splitSuffix(path);
    const [countText, hashText, ...more] = parameter.split('/');
    if (countText === undefined || hashText === undefined || more.length > 0) throw noHeaderCount();
    const count = parseHeaderCount(countText, limits.maxHeaders);
    const hash = parseHash(hashText);
    return reader.read((snapshot) => {
      const span = spanFrom(hash, count, snapshot);
      return replies.keep(path, snapshot, replyIn(format, {
        binary: () => headersBinary(span, snapshot),
        ...span.end - span.first > CHUNK && { hex: () => headersInHex(span, snapshot, digits) },
        json: () => headersInJson(span, snapshot, texts)
      }, FORMATS, request));
    });
  };
}

/** Whether it takes more than a moment. `path`: what follows the endpoint's prefix. */
export function asksForMany(path: string): boolean {
  return parseInt(path, 10) > CHUNK;
}

/** Heights from `first` to before `end`. */
interface Span {
  readonly first: number;
  readonly end: number;
}

/** Up to `count` headers upwards from the block, none for one that is not on the active chain. */
function spanFrom(hash: Buffer, count: number, snapshot: IndexSnapshot): Span {
  const tipHeight = snapshot.tip.height;
  const first = snapshot.heightOf(hash) ?? tipHeight + 1;
  return { first, end: Math.min(first + count, tipHeight + 1) };
}

/** One slice of memory, where the headers lie together; yields while they are read from the store. */
function* headersBinary({ first, end }: Span, snapshot: IndexSnapshot): Generator<void, Buffer> {
  const runs: Buffer[] = [];
  for (let height = first; height < end; yield) {
    const run = snapshot.headerRun(height, end - height);
    if (run === undefined) break;
    runs.push(run.headers);
    height += run.count;
  }
  return runs.length === 1 ? runs[0] as Buffer : Buffer.concat(runs);
}

/** Digits take longer to make than to copy. */
function* headersInHex({ first, end }: Span, snapshot: IndexSnapshot, chunks: Chunks<Buffer>): Generator<void, Buffer> {
  const line = Buffer.allocUnsafeSlow((end - first) * HEADER_DIGITS + 1);
  let at = 0;
  for (let height = first; height < end; yield) {
    const digits = digitsAt(height, end, snapshot, chunks);
    if (digits === undefined) break;
    at += digits.copy(line, at);
    height += digits.length / HEADER_DIGITS;
  }
  line[at] = LINE_FEED;
  return line.subarray(0, at + 1);
}

/** Of the header at `height`, and of some of those up to `end`. */
function digitsAt(height: number, end: number, snapshot: IndexSnapshot, chunks: Chunks<Buffer>): Buffer | undefined {
  const start = height - height % HEX_CHUNK;
  const digits = wholeChunk({ start, count: HEX_CHUNK }, snapshot, chunks, ({ headers }) => hexDigits(headers), (made) => made);
  if (digits !== undefined) return digits.subarray((height - start) * HEADER_DIGITS, (end - start) * HEADER_DIGITS);
  const some = snapshot.headerRun(height, Math.min(HEX_CHUNK, end - height));
  return some && hexDigits(some.headers);
}

/** @throws RestError 503 for headers whose number of transactions is not known yet. */
function* headersInJson({ first, end }: Span, snapshot: IndexSnapshot, chunks: Chunks<HeadersText>): Generator<void, Buffer> {
  if (snapshot.backfilling !== undefined && first < end && !isKnownFrom(first, snapshot)) throw notYetKnown(backfillText(snapshot.backfilling));
  const parts: HeadersPart[] = [];
  for (let height = first; height < end; yield) {
    const of = textAt(height, end, snapshot, chunks);
    if (of === undefined) break;
    const count = Math.min(end, of.height + of.count) - height;
    parts.push({ of, height, count });
    height += count;
  }
  return yield* headersJson(parts, snapshot.tip.height);
}

/** Whether the numbers of transactions are known of all headers upwards: what is made of others must not be kept. */
function isKnownFrom(height: number, { backfilling: filling }: IndexSnapshot): boolean {
  return filling === undefined || height >= filling.height;
}

/** A text with the header at `height`, which is known, and with some of those up to `end`. */
function textAt(height: number, end: number, snapshot: IndexSnapshot, chunks: Chunks<HeadersText>): HeadersText | undefined {
  const start = height - height % CHUNK;
  const text = isKnownFrom(start, snapshot)
    ? wholeChunk({ start, count: CHUNK }, snapshot, chunks, headersText, (made) => made.text)
    : undefined;
  if (text !== undefined) return text;
  const some = snapshot.headerRun(height, Math.min(CHUNK, end - height));
  return some && headersText(some);
}

/** What is kept of a chunk, made if need be. Undefined for the last one, which changes with the next block. */
function wholeChunk<T>({ start, count }: Chunk, snapshot: IndexSnapshot, chunks: Chunks<T>, make: (run: HeaderRun) => T, bytesOf: (made: T) => Buffer): T | undefined {
  const nextHash = snapshot.headerRun(start + count - 1, 1)?.nextHash;
  if (nextHash === undefined) return undefined;
  const kept = chunks.get(String(start));
  if (kept?.nextHash.equals(nextHash) === true) return kept.made;
  const run = snapshot.headerRun(start, count);
  if (run?.count !== count) return undefined;
  const made = make(run);
  chunks.set(String(start), { made, nextHash: Buffer.from(nextHash), byteLength: memoryOf(bytesOf(made)) });
  return made;
}

/** As C's strtol: leading white space, a sign, digits, and whatever follows. @throws RestError 400 */
export function parseHeaderCount(text: string, most: number): number {
  const count = Number(/^[\t-\r ]*([+-]?\d+)/.exec(text)?.[1] ?? 0);
  if (count < 1 || count > most) throw headerCountOutOfRange(text);
  return count;
}
