// /rest/mempool/info.json and /rest/mempool/contents.json: the pool in figures and entry by entry. Bitcoin Core 0.17 has two prefixes;
// since 24 it has one for both, and the contents take parameters.

import { badPoolParameter, badPoolPath, formatNotFound, sequenceInVerbose } from '../errors';
import { entriesSchema, poolContentsSchema } from '../../answers/pool/contents';
import { inQuery } from '../../describe/open-api';
import { FLAG } from '../../describe/values';
import { mempoolInfoSchema } from '../../views/pool-info';
import { jsonReply, requireJson, splitSuffix } from '../format';
import { inFormats, NO_SUCH_FORMAT } from '../operations';
import type { Answers } from '../../answers/answers';
import type { PoolForm } from '../../answers/pool/texts';
import type { Endpoint, RestRequest } from '../endpoint';
import type { PlacedOperation } from '../../describe/open-api';

export function mempoolInfoEndpoint(answers: Answers): Endpoint {
  return ({ path }) => {
    requireJson(path);
    return Promise.resolve(jsonReply(answers.poolTexts.info()));
  };
}

export function mempoolContentsEndpoint({ poolTexts }: Answers): Endpoint {
  return async ({ path }) => {
    requireJson(path);
    return jsonReply(await poolTexts.text('entries'));
  };
}

/** Info and contents under one prefix, with the parameters of the contents. */
export function mempoolEndpoint(answers: Answers): Endpoint {
  return async (request) => {
    const { parameter, format } = splitSuffix(request.path);
    if (parameter !== 'info' && parameter !== 'contents') throw badPoolPath();
    if (format !== 'json') throw formatNotFound('json');
    return parameter === 'info' ? jsonReply(answers.poolTexts.info()) : jsonReply(await answers.poolTexts.text(formOf(request)));
  };
}

/** Whether the request is heavy. */
export function asksForContents({ path }: RestRequest): boolean {
  return path.startsWith('contents');
}

function formOf(request: RestRequest): PoolForm {
  const isVerbose = flagOf(request, 'verbose', true);
  const withSequence = flagOf(request, 'mempool_sequence', false);
  if (isVerbose && withSequence) throw sequenceInVerbose();
  if (isVerbose) return 'entries';
  return withSequence ? 'sequence' : 'txids';
}

/** @throws HttpError 400 */
function flagOf(request: RestRequest, name: string, otherwise: boolean): boolean {
  const value = request.query(name);
  if (value === undefined) return otherwise;
  if (value !== 'true' && value !== 'false') throw badPoolParameter(name);
  return value === 'true';
}

export const mempoolInfoOperations = ({ profile: { fields } }: Pick<Answers, 'profile'>): PlacedOperation[] =>
  inFormats({
    id: 'getMempoolInfo',
    path: '/mempool/info',
    summary: 'The pool in figures.',
    formats: { json: { description: 'The figures.', schema: mempoolInfoSchema(fields) } },
    errors: { 404: NO_SUCH_FORMAT }
  });

export function mempoolContentsOperations({ profile: { fields, parsing } }: Pick<Answers, 'profile'>): PlacedOperation[] {
  const common = { id: 'getMempoolContents', path: '/mempool/contents', errors: { 404: NO_SUCH_FORMAT } };
  if (!parsing.poolParameters)
    return inFormats({
      ...common,
      summary: 'The transactions of the pool.',
      formats: { json: { description: 'The transactions by txid.', schema: entriesSchema(fields) } }
    });
  return inFormats({
    ...common,
    summary: 'The transactions of the pool, or their txids.',
    parameters: [
      inQuery('verbose', 'false: only the txids.', { ...FLAG, default: true }),
      inQuery('mempool_sequence', 'true: with the number of the last change. Only with verbose=false.', { ...FLAG, default: false })
    ],
    formats: { json: { description: 'The transactions by txid, or their txids.', schema: poolContentsSchema(fields) } },
    errors: { ...common.errors, 400: 'A parameter is neither true nor false, or both are true.' }
  });
}
