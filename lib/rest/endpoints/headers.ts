// /rest/headers/<hash>.<bin|hex|json>?count=<count> and its old form, /rest/headers/<count>/<hash>.<bin|hex|json>: headers of the
// active chain from a block upwards. A block that is unknown or off the chain gives an empty list.

import { NotYetKnownError } from '../../index/errors';
import { fewHeadersJson, headersJson, headersText, type HeadersPart, type HeadersText } from '../../views/header';
import { badHeaderRequest } from '../errors';
import { CONTENT_TYPES, type Format, type Reply } from '../../server/http/reply';
import { parseHash, replyIn, splitSuffix } from '../format';
import { runAtOnce, runInSlices } from '../../turns/slices';
import type { HeaderRun, IndexSnapshot } from '../../index/types';
import type { Profile, ProfileFields } from '../../views/profile';
import { keyOf } from '../../bitcoin/hash';
import type { Allocate } from '../../bitcoin/text-writer';
import type { Cached, Shelf } from '../../server/cache/answer-cache';
import type { Endpoint, RestRequest } from '../endpoint';
import type { Answers } from '../../answers/answers';
import type { Client } from '../../turns/client';

/** The count when the request has none. */
export const DEFAULT_COUNT = '5';

/** How many headers, starting at a multiple of this, have their JSON cached together. No more than this are written for each request. */
const CHUNK = 64;

/** The JSON of a whole chunk, which holds while the block after the chunk is the same. */
interface CachedChunk extends Cached {
  readonly text: HeadersText;
  readonly nextHash: Buffer;
}

/** The parts of a request, as typed. */
interface HeaderRequest {
  readonly countText: string;
  readonly hashText: string;
  readonly format: Format | undefined;
}

/** Heights from `first` to before `end`. */
interface Span {
  readonly first: number;
  readonly end: number;
}

export function headersEndpoint(context: Answers): Endpoint {
  const { reader, limits, cache, texts: blockTexts, profile } = context;
  const { texts, fields } = profile;
  const chunks: Shelf<CachedChunk> = cache.shelf('headers');

  /** Written into buffers that are used again, like the JSON of blocks. */
  const manyInJson = async (hash: Buffer, count: number, snapshot: IndexSnapshot, client: Client): Promise<Reply> => {
    const { tip } = snapshot;
    const span = spanFrom(hash, count, snapshot);
    requireCounted(span, snapshot);
    const { text, release } = await blockTexts.make(`headers/${keyOf(hash)}${count} ${keyOf(tip.hash)}`, client, (allocate) =>
      manyHeadersJson(span, snapshot, chunks, fields, allocate)
    );
    return { contentType: CONTENT_TYPES.json, body: text, tip, release };
  };

  return async (request) => {
    const { countText, hashText, format } = readRequest(request, profile);
    const count = parseHeaderCount(countText, limits.maxHeaders, profile);
    const hash = parseHash(hashText);
    if (format === 'json' && count > CHUNK) return await reader.read((snapshot) => manyInJson(hash, count, snapshot, request));
    const few = (snapshot: IndexSnapshot): Buffer => {
      const span = spanFrom(hash, count, snapshot);
      if (format === 'json') requireCounted(span, snapshot);
      const runs = runAtOnce(runsIn(span, snapshot));
      return format === 'json' ? fewHeadersJson(runs, snapshot.tip.height, fields) : headersBinary(runs);
    };
    const many = async (snapshot: IndexSnapshot): Promise<Buffer> =>
      headersBinary(await runInSlices(runsIn(spanFrom(hash, count, snapshot), snapshot), request));
    const { bytes, tip } =
      count > CHUNK
        ? await reader.read(async (snapshot) => ({ tip: snapshot.tip, bytes: await many(snapshot) }))
        : reader.read((snapshot) => ({ tip: snapshot.tip, bytes: few(snapshot) }));
    return await replyIn(format, { binary: () => bytes, json: () => bytes }, texts.headerFormats, request, tip);
  };
}

/** Whether the request is heavy. */
export function asksForMany(request: RestRequest, { parsing: { countInQuery } }: Profile): boolean {
  const isInQuery = countInQuery && !request.path.includes('/');
  return parseInt(isInQuery ? (request.query('count') ?? DEFAULT_COUNT) : request.path, 10) > CHUNK;
}

/** @throws HttpError 400 for a path of too few or too many segments. */
function readRequest(request: RestRequest, { parsing: { countInQuery }, texts }: Profile): HeaderRequest {
  const { parameter, format } = splitSuffix(request.path);
  const slash = parameter.indexOf('/');
  // With two segments the query is ignored.
  if (slash >= 0 && slash === parameter.lastIndexOf('/'))
    return { countText: parameter.slice(0, slash), hashText: parameter.slice(slash + 1), format };
  if (slash >= 0 || !countInQuery) throw badHeaderRequest(texts.noHeaderCount);
  return { countText: request.query('count') ?? DEFAULT_COUNT, hashText: parameter, format };
}

/** Up to `count` headers upwards from the block, none for one that is not on the active chain. */
function spanFrom(hash: Buffer, count: number, snapshot: IndexSnapshot): Span {
  const tipHeight = snapshot.tip.height;
  const first = snapshot.heightOf(hash) ?? tipHeight + 1;
  return { first, end: Math.min(first + count, tipHeight + 1) };
}

/** The headers of a span: one run if they lie together in memory; yields while they are read from the store. */
function* runsIn({ first, end }: Span, snapshot: IndexSnapshot): Generator<void, HeaderRun[]> {
  const runs: HeaderRun[] = [];
  for (let height = first; height < end; yield) {
    const run = snapshot.headerRun(height, end - height);
    if (run === undefined) break;
    runs.push(run);
    height += run.count;
  }
  return runs;
}

function headersBinary(runs: readonly HeaderRun[]): Buffer {
  const [first] = runs;
  return first !== undefined && runs.length === 1 ? first.headers : Buffer.concat(runs.map(({ headers }) => headers));
}

/** @throws NotYetKnownError for headers whose number of transactions is not known yet. */
function requireCounted({ first, end }: Span, { backfilling }: IndexSnapshot): void {
  if (backfilling !== undefined && first < end && first < backfilling.height) throw new NotYetKnownError(backfilling);
}

/** Requires that the numbers of transactions in the span are known (`requireCounted`). */
function* manyHeadersJson(
  { first, end }: Span,
  snapshot: IndexSnapshot,
  chunks: Shelf<CachedChunk>,
  fields: ProfileFields,
  allocate: Allocate
): Generator<void, Buffer> {
  const { backfilling, tip } = snapshot;
  const parts: HeadersPart[] = [];
  for (let height = first; height < end; yield) {
    const start = height - (height % CHUNK);
    const isCounted = start >= (backfilling?.height ?? 0);
    const ofChunk = end - first > CHUNK && isCounted ? chunkFrom(start, snapshot, chunks, fields) : undefined;
    const of = ofChunk ?? textOf(height, Math.min(CHUNK, end - height), snapshot, fields);
    if (of === undefined) break;
    const count = Math.min(end, of.height + of.count) - height;
    parts.push({ of, height, count });
    height += count;
  }
  return yield* headersJson(parts, tip.height, allocate);
}

function textOf(height: number, count: number, snapshot: IndexSnapshot, fields: ProfileFields): HeadersText | undefined {
  const run = snapshot.headerRun(height, count);
  return run && headersText(run, fields);
}

/** Undefined for the last chunk, which changes with the next block, and for a chunk that is not in one run. */
function chunkFrom(start: number, snapshot: IndexSnapshot, chunks: Shelf<CachedChunk>, fields: ProfileFields): HeadersText | undefined {
  const nextHash = snapshot.headerRun(start + CHUNK - 1, 1)?.nextHash;
  if (nextHash === undefined) return undefined;
  const key = String(start);
  const cached = chunks.get(key);
  if (cached?.nextHash.equals(nextHash) === true) return cached.text;
  const text = textOf(start, CHUNK, snapshot, fields);
  if (text?.count !== CHUNK) return undefined;
  chunks.offer(key, () => ({ text, nextHash: Buffer.from(nextHash), byteLength: text.text.buffer.byteLength }));
  return text;
}

/** Digits alone, or as C's strtol: leading white space, a sign, digits; the rest is ignored. @throws HttpError 400 */
export function parseHeaderCount(text: string, most: number, { parsing: { isStrict }, texts }: Profile): number {
  const count = Number((isStrict ? /^(\d+)$/ : /^[\t-\r ]*([+-]?\d+)/).exec(text)?.[1] ?? 0);
  if (count < 1 || count > most) throw badHeaderRequest(texts.headerCountOutOfRange(text, most));
  return count;
}
