// Headers of the active chain from a block upwards, as bytes and as JSON.

import { keyOf } from '../../bitcoin/hash';
import { NotYetKnownError } from '../../index/errors';
import { runAtOnce, runInSlices } from '../../turns/slices';
import { fewHeadersJson, headersJson, headersText, type HeadersPart, type HeadersText } from '../../views/header';
import type { Allocate } from '../../bitcoin/text-writer';
import type { HeaderRun, IndexSnapshot } from '../../index/types';
import type { AnswerCache, Cached, CacheSection } from '../../server/cache/answer-cache';
import type { Client } from '../../turns/client';
import type { ProfileFields } from '../../views/profile';
import type { BlockTexts, HeldText } from '../blocks/texts';

/** How many headers, starting at a multiple of this, have their JSON cached together. No more than this are written for each request. */
export const FEW_HEADERS = 64;

/** The JSON of a whole chunk, which holds while the block after the chunk is the same. */
interface CachedChunk extends Cached {
  readonly text: HeadersText;
  readonly nextHash: Buffer;
}

/** Heights from `first` to before `end`. */
interface Span {
  readonly first: number;
  readonly end: number;
}

export class Headers {
  readonly #fields: ProfileFields;
  readonly #texts: BlockTexts;
  readonly #chunks: CacheSection<CachedChunk>;

  constructor(fields: ProfileFields, texts: BlockTexts, cache: AnswerCache) {
    this.#fields = fields;
    this.#texts = texts;
    this.#chunks = cache.section('headers');
  }

  /** Up to FEW_HEADERS headers upwards from a block, as an array with a line feed; an empty one for a block that is not in the chain. */
  fewJson(hash: Buffer, count: number, snapshot: IndexSnapshot): Buffer {
    const span = spanFrom(hash, count, snapshot);
    requireCounted(span, snapshot);
    return fewHeadersJson(runAtOnce(runsIn(span, snapshot)), snapshot.tip.height, this.#fields);
  }

  /** As `fewJson`, for any number, written into buffers that are used again, like the JSON of blocks. */
  async json(hash: Buffer, count: number, snapshot: IndexSnapshot, client: Client): Promise<HeldText> {
    const span = spanFrom(hash, count, snapshot);
    requireCounted(span, snapshot);
    return this.#texts.make(`headers/${keyOf(hash)}${count} ${keyOf(snapshot.tip.hash)}`, client, (allocate) =>
      manyHeadersJson(span, snapshot, this.#chunks, this.#fields, allocate)
    );
  }

  fewBytes(hash: Buffer, count: number, snapshot: IndexSnapshot): Buffer {
    return joined(runAtOnce(runsIn(spanFrom(hash, count, snapshot), snapshot)));
  }

  async bytes(hash: Buffer, count: number, snapshot: IndexSnapshot, client: Client): Promise<Buffer> {
    return joined(await runInSlices(runsIn(spanFrom(hash, count, snapshot), snapshot), client));
  }
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

function joined(runs: readonly HeaderRun[]): Buffer {
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
  chunks: CacheSection<CachedChunk>,
  fields: ProfileFields,
  allocate: Allocate
): Generator<void, Buffer> {
  const { backfilling, tip } = snapshot;
  const parts: HeadersPart[] = [];
  for (let height = first; height < end; yield) {
    const start = height - (height % FEW_HEADERS);
    const isCounted = start >= (backfilling?.height ?? 0);
    const ofChunk = end - first > FEW_HEADERS && isCounted ? chunkFrom(start, snapshot, chunks, fields) : undefined;
    const of = ofChunk ?? textOf(height, Math.min(FEW_HEADERS, end - height), snapshot, fields);
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
function chunkFrom(
  start: number,
  snapshot: IndexSnapshot,
  chunks: CacheSection<CachedChunk>,
  fields: ProfileFields
): HeadersText | undefined {
  const nextHash = snapshot.headerRun(start + FEW_HEADERS - 1, 1)?.nextHash;
  if (nextHash === undefined) return undefined;
  const key = String(start);
  const cached = chunks.get(key);
  if (cached?.nextHash.equals(nextHash) === true) return cached.text;
  const text = textOf(start, FEW_HEADERS, snapshot, fields);
  if (text?.count !== FEW_HEADERS) return undefined;
  chunks.setIfAskedBefore(key, () => ({ text, nextHash: Buffer.from(nextHash), byteLength: text.text.buffer.byteLength }));
  return text;
}
