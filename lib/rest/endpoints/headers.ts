// /rest/headers/<hash>.<bin|hex|json>?count=<count> and its old form, /rest/headers/<count>/<hash>.<bin|hex|json>: headers of the
// active chain from a block upwards. A block that is unknown or off the chain gives an empty list.

import { FEW_HEADERS } from '../../answers/chain/headers';
import { CONTENT_TYPES, type Format } from '../../server/http/reply';
import { listOf } from '../../describe/schema';
import { headerSchema } from '../../views/header';
import { badHeaderRequest } from '../errors';
import { parseHash, replyIn, splitSuffix } from '../format';
import { inFormats, OF_BLOCK } from '../operations';
import { inPath, inQuery, type OperationParameter, type PlacedOperation } from '../../describe/open-api';
import type { Answers } from '../../answers/answers';
import type { Limits } from '../../server/limits';
import type { Profile } from '../../views/profile';
import type { Endpoint, RestRequest } from '../endpoint';
import type { PlainSchema } from '../../describe/schema';

/** The count when the request has none. */
export const DEFAULT_COUNT = '5';

/** The parts of a request, as typed. */
interface HeaderRequest {
  readonly countText: string;
  readonly hashText: string;
  readonly format: Format | undefined;
}

export function headersEndpoint({ reader, limits, profile, headers }: Answers): Endpoint {
  return async (request) => {
    const { countText, hashText, format } = readRequest(request, profile);
    const count = parseHeaderCount(countText, limits.maxHeaders, profile);
    const hash = parseHash(hashText);
    const isJson = format === 'json';
    if (count <= FEW_HEADERS) {
      const { bytes, tip } = reader.read((snapshot) => ({
        bytes: isJson ? headers.fewJson(hash, count, snapshot) : headers.fewBytes(hash, count, snapshot),
        tip: snapshot.tip
      }));
      return await replyIn(format, { binary: () => bytes, json: () => bytes }, profile.texts.headerFormats, request, tip);
    }
    return await reader.read(async (snapshot) => {
      const { tip } = snapshot;
      if (isJson) {
        const { text, release } = await headers.json(hash, count, snapshot, request);
        return { contentType: CONTENT_TYPES.json, body: text, tip, release };
      }
      const bytes = await headers.bytes(hash, count, snapshot, request);
      return await replyIn(format, { binary: () => bytes, json: () => bytes }, profile.texts.headerFormats, request, tip);
    });
  };
}

/** Whether the request is heavy. */
export function asksForMany(request: RestRequest, { parsing: { countInQuery } }: Profile): boolean {
  const isInQuery = countInQuery && !request.path.includes('/');
  return parseInt(isInQuery ? (request.query('count') ?? DEFAULT_COUNT) : request.path, 10) > FEW_HEADERS;
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

/** Digits alone, or as C's strtol: leading white space, a sign, digits; the rest is ignored. @throws HttpError 400 */
export function parseHeaderCount(text: string, most: number, { parsing: { isStrict }, texts }: Profile): number {
  const count = Number((isStrict ? /^(\d+)$/ : /^[\t-\r ]*([+-]?\d+)/).exec(text)?.[1] ?? 0);
  if (count < 1 || count > most) throw badHeaderRequest(texts.headerCountOutOfRange(text, most));
  return count;
}

const countSchema = ({ maxHeaders }: Pick<Limits, 'maxHeaders'>): PlainSchema => ({ type: 'integer', minimum: 1, maximum: maxHeaders });

export const countInPath = (limits: Pick<Limits, 'maxHeaders'>): OperationParameter =>
  inPath('count', 'The most headers.', countSchema(limits));

export const countInQuery = (limits: Pick<Limits, 'maxHeaders'>): OperationParameter =>
  inQuery('count', 'The most headers.', { ...countSchema(limits), default: Number(DEFAULT_COUNT) });

export function headersOperations({ profile: { fields, parsing }, limits }: Pick<Answers, 'profile' | 'limits'>): PlacedOperation[] {
  const common = {
    summary: 'Headers of the active chain, from a block upwards. None for a block off the chain.',
    formats: { bin: 'The headers, 80 bytes each.', json: { description: 'The headers.', schema: listOf(headerSchema(fields)) } },
    errors: { 400: 'The hash is not 64 hex digits, or the count is out of its range.' }
  };
  const counted = inFormats({
    ...common,
    id: 'getCountedHeaders',
    path: '/headers/{count}/{hash}',
    parameters: [countInPath(limits), OF_BLOCK]
  });
  if (!parsing.countInQuery) return counted;
  return [...inFormats({ ...common, id: 'getHeaders', path: '/headers/{hash}', parameters: [OF_BLOCK, countInQuery(limits)] }), ...counted];
}
