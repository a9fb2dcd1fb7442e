// /rest/headers/<count>/<hash>.<bin|hex|json> (contract 4.3): headers of the active chain from
// a block upwards. A block that is unknown or off the chain gives an empty list.

import { fillText } from '../../index/progress-text';
import { headersJson, headersText, type HeadersPart, type HeadersText } from '../../views/header';
import { memoryOf, type Kept, type Shelf } from '../answer-cache';
import { headerCountOutOfRange, noHeaderCount, notYetKnown } from '../errors';
import { replyIn, splitSuffix } from '../format';
import { parseHash } from '../hash-parameter';
import type { IndexSnapshot } from '../../index/types';
import type { Endpoint, EndpointContext } from '../endpoint';

/** JSON is served all the same, and so it is in Bitcoin Core 0.17. */
const FORMATS = '.bin, .hex';

/** Headers whose text is kept together: those from a multiple of it on. */
const CHUNK = 64;

/** The text of a whole chunk; holds while the block after it is the same. */
interface KeptChunk extends Kept {
  readonly text: HeadersText;
  readonly nextHash: Buffer;
}

export function headersEndpoint({ reader, limits, cache }: EndpointContext): Endpoint {
  const chunks = cache.shelf<KeptChunk>('headers');
  return (request) => {
    const { parameter, format } = splitSuffix(request.path);
    const [countText, hashText, ...more] = parameter.split('/');
    if (countText === undefined || hashText === undefined || more.length > 0) throw noHeaderCount();
    const count = parseHeaderCount(countText, limits.maxHeaders);
    const hash = parseHash(hashText);
    return reader.read((snapshot) => {
      const span = spanFrom(hash, count, snapshot);
      return replyIn(format, {
        binary: () => headersBinary(span, snapshot),
        json: () => headersInJson(span, snapshot, chunks)
      }, FORMATS, request);
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

/** @throws RestError 503 for headers whose number of transactions is not known yet. */
function* headersInJson({ first, end }: Span, snapshot: IndexSnapshot, chunks: Shelf<KeptChunk>): Generator<void, Buffer> {
  if (snapshot.filling !== undefined && first < Math.min(end, snapshot.filling.height)) throw notYetKnown(fillText(snapshot.filling));
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

/** A text with the header at `height`, and with some of those up to `end`. */
function textAt(height: number, end: number, snapshot: IndexSnapshot, chunks: Shelf<KeptChunk>): HeadersText | undefined {
  const start = height - height % CHUNK;
  const isKnown = start >= (snapshot.filling?.height ?? 0);
  // Undefined for the last chunk: its text changes with the next block.
  const nextHash = !isKnown ? undefined : snapshot.headerRun(start + CHUNK - 1, 1)?.nextHash;
  const kept = chunks.get(String(start));
  if (nextHash !== undefined && kept?.nextHash.equals(nextHash) === true) return kept.text;
  const whole = nextHash && snapshot.headerRun(start, CHUNK);
  if (whole?.count === CHUNK) {
    const text = headersText(whole);
    chunks.set(String(start), { text, nextHash: Buffer.from(nextHash as Buffer), byteLength: memoryOf(text.text) }); // the chunk is whole
    return text;
  }
  const some = snapshot.headerRun(height, Math.min(CHUNK, end - height));
  return some && headersText(some);
}

/** As C's strtol: leading white space, a sign, digits, and whatever follows. @throws RestError 400 */
export function parseHeaderCount(text: string, most: number): number {
  const count = Number(/^[\t-\r ]*([+-]?\d+)/.exec(text)?.[1] ?? 0);
  if (count < 1 || count > most) throw headerCountOutOfRange(text);
  return count;
}
