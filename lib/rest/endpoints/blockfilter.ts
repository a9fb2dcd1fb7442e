// /rest/blockfilter/<type>/<hash>.<bin|hex|json> and /rest/blockfilterheaders/<type>/<hash>.<bin|hex|json>?count=<count>, formerly
// /rest/blockfilterheaders/<type>/<count>/<hash>...: basic filters of blocks (BIP158), and filter headers (BIP157) of the active
// chain from a block upwards.

import { runAtOnce, runInSlices } from '../../turns/slices';
import { inPath, refused } from '../../describe/open-api';
import { FILTER, FILTER_HEADERS, filterBinary, filterHeadersJson, filterJson } from '../../views/filter';
import { PROFILES } from '../../views/profile';
import { badUri, filterNotMade, filterNotYetMade, noFilters, notFound, unknownFilterType } from '../errors';
import { ALL_FORMATS, parseHash, replyIn, splitSuffix } from '../format';
import { inFormats, OF_BLOCK } from '../operations';
import { countInPath, countInQuery, DEFAULT_COUNT, parseHeaderCount } from './headers';
import type { Answers } from '../../answers/answers';
import type { IndexSnapshot } from '../../index/types';
import type { Endpoint, RestRequest } from '../endpoint';
import type { PlacedOperation } from '../../describe/open-api';

/** Up to this many filter headers are read in one go. */
const FEW = 64;

/** The filter of any block that is or was on the active chain. */
export function blockFilterEndpoint({ filters, blockFilters }: Answers): Endpoint {
  return async (request) => {
    const { parameter, format } = splitSuffix(request.pathOnly);
    const [type, hashText, ...more] = parameter.split('/');
    if (type === undefined || hashText === undefined || more.length > 0) throw badUri('/rest/blockfilter/<filtertype>/<blockhash>');
    const hash = parseHash(hashText);
    requireBasic(type, filters);
    const found = await blockFilters.of(hash, request);
    if (found === 'unknown') throw notFound(hashText);
    if (found === 'not made') throw filterNotMade();
    if (found === 'not yet made') throw filterNotYetMade();
    const { filter, tip } = found;
    const forms = { binary: () => filterBinary(hash, filter), json: () => filterJson(filter) };
    const { contentType, body } = await replyIn(format, forms, ALL_FORMATS, request, tip);
    return { contentType, body, isImmutable: tip !== undefined, tip };
  };
}

/** Filter headers from a block of the active chain upwards; none from any other block. */
export function blockFilterHeadersEndpoint({ reader, filters, limits }: Answers): Endpoint {
  return async (request) => {
    const { parameter, format } = splitSuffix(request.pathOnly);
    const [type, ...rest] = parameter.split('/');
    const [hashText, countText] = rest.length === 2 ? [rest[1], rest[0]] : [rest[0], request.query('count') ?? DEFAULT_COUNT];
    if (type === undefined || hashText === undefined || countText === undefined || rest.length > 2)
      throw badUri('/rest/blockfilterheaders/<filtertype>/<blockhash>.<ext>?count=<count>');
    const count = parseHeaderCount(countText, limits.maxHeaders, PROFILES.modern);
    const hash = parseHash(hashText);
    requireBasic(type, filters);
    const { bytes, tip } = await reader.read(async (snapshot) => {
      const headers = filterHeadersFrom(hash, count, snapshot);
      return { tip: snapshot.tip, bytes: count > FEW ? await runInSlices(headers, request) : runAtOnce(headers) };
    });
    const forms = { binary: () => bytes, json: () => filterHeadersJson(bytes) };
    return await replyIn(format, forms, ALL_FORMATS, request, tip);
  };
}

/** Whether the request is heavy. */
export function asksForManyFilterHeaders(request: RestRequest): boolean {
  const [, count, hash] = request.pathOnly.split('/');
  return Number(hash === undefined ? (request.query('count') ?? DEFAULT_COUNT) : count) > FEW;
}

/** 32 bytes each, in wire order; yields now and then. @throws HttpError 404 when a filter header has not been made yet. */
function* filterHeadersFrom(hash: Buffer, count: number, snapshot: IndexSnapshot): Generator<void, Buffer> {
  const first = snapshot.heightOf(hash);
  if (first === undefined) return Buffer.alloc(0);
  const headers: Buffer[] = [];
  for (let height = first; headers.length < count && height <= snapshot.tip.height; height++) {
    const header = snapshot.filterHeaderAt(height);
    if (header === undefined) throw filterNotYetMade();
    headers.push(header);
    if (headers.length % FEW === 0) yield;
  }
  return Buffer.concat(headers);
}

/** @throws HttpError 400 */
function requireBasic(type: string, filters: boolean): void {
  if (type !== 'basic') throw unknownFilterType(type);
  if (!filters) throw noFilters();
}

const TYPE = inPath('type', 'The type of the filter. There is one.', { const: 'basic' });

const SWITCHED_OFF = 'This node makes no filters: --rest-filters is not set.';

export function blockFilterOperations({ filters }: Pick<Answers, 'filters'>): PlacedOperation[] {
  const operations = inFormats({
    id: 'getBlockFilter',
    path: '/blockfilter/{type}/{hash}',
    summary: 'The compact filter of a block (BIP158) that is or was in the active chain.',
    parameters: [TYPE, OF_BLOCK],
    formats: {
      bin: 'The type (one byte), the hash of the block (32 bytes), and the filter after its length.',
      json: { description: 'The filter.', schema: FILTER }
    },
    errors: { 400: 'The hash is not 64 hex digits, or there is no such type.', 404: 'There is no such block, or no filter of it yet.' }
  });
  return filters ? operations : operations.map((operation) => refused(operation, 400, SWITCHED_OFF));
}

export function blockFilterHeadersOperations({ filters, limits }: Pick<Answers, 'filters' | 'limits'>): PlacedOperation[] {
  const common = {
    summary: 'Headers of filters (BIP157) of the active chain, from a block upwards. None for a block off the chain.',
    formats: {
      bin: 'The headers, 32 bytes each.',
      json: { description: 'The headers.', schema: FILTER_HEADERS }
    },
    errors: {
      400: 'The hash is not 64 hex digits, there is no such type, or the count is out of its range.',
      404: 'Filters are still being made.'
    }
  };
  const operations = [
    ...inFormats({
      ...common,
      id: 'getBlockFilterHeaders',
      path: '/blockfilterheaders/{type}/{hash}',
      parameters: [TYPE, OF_BLOCK, countInQuery(limits)]
    }),
    ...inFormats({
      ...common,
      id: 'getCountedBlockFilterHeaders',
      path: '/blockfilterheaders/{type}/{count}/{hash}',
      parameters: [TYPE, countInPath(limits), OF_BLOCK]
    })
  ];
  return filters ? operations : operations.map((operation) => refused(operation, 400, SWITCHED_OFF));
}
