// /rest/chaininfo.json: the state of the chain.

import { chainInfoSchema } from '../../views/chain-info';
import { jsonReply, requireJson } from '../format';
import { inFormats, NO_SUCH_FORMAT } from '../operations';
import type { Answers } from '../../answers/answers';
import type { Endpoint } from '../endpoint';
import type { PlacedOperation } from '../../describe/open-api';

export function chainInfoEndpoint({ chainInfo }: Pick<Answers, 'chainInfo'>): Endpoint {
  return async ({ path }) => {
    requireJson(path);
    const { text, basis } = await chainInfo.get();
    return { ...jsonReply(text), basis };
  };
}

export const chainInfoOperations = ({ profile: { fields } }: Pick<Answers, 'profile'>): PlacedOperation[] =>
  inFormats({
    id: 'getChainInfo',
    path: '/chaininfo',
    summary: 'The state of the chain.',
    formats: { json: { description: 'The state of the chain.', schema: chainInfoSchema(fields) } },
    errors: { 404: NO_SUCH_FORMAT }
  });
