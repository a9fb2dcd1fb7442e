// /rest/mempool/info.json and /rest/mempool/contents.json: the pool in figures and entry by entry. Bitcoin Core 0.17 has two prefixes;
// since 24 it has one for both, and the contents take parameters.

import { badPoolParameter, badPoolPath, formatNotFound, sequenceInVerbose } from '../errors';
import { jsonReply, requireJson, splitSuffix } from '../format';
import type { Answers } from '../../answers/answers';
import type { PoolForm } from '../../answers/pool/texts';
import type { Endpoint, RestRequest } from '../endpoint';

export function mempoolInfoEndpoint(context: Answers): Endpoint {
  return ({ path }) => {
    requireJson(path);
    return Promise.resolve(jsonReply(context.poolTexts.info()));
  };
}

export function mempoolContentsEndpoint({ poolTexts }: Answers): Endpoint {
  return async ({ path }) => {
    requireJson(path);
    return jsonReply(await poolTexts.text('entries'));
  };
}

/** Info and contents under one prefix, with the parameters of the contents. */
export function mempoolEndpoint(context: Answers): Endpoint {
  return async (request) => {
    const { parameter, format } = splitSuffix(request.path);
    if (parameter !== 'info' && parameter !== 'contents') throw badPoolPath();
    if (format !== 'json') throw formatNotFound('json');
    return parameter === 'info' ? jsonReply(context.poolTexts.info()) : jsonReply(await context.poolTexts.text(formOf(request)));
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
