// /rest/chaininfo.json: the state of the chain.

import { jsonReply, requireJson } from '../format';
import type { Answers } from '../../answers/answers';
import type { Endpoint } from '../endpoint';

export function chainInfoEndpoint({ chainInfo }: Pick<Answers, 'chainInfo'>): Endpoint {
  return async ({ path }) => {
    requireJson(path);
    const { text, basis } = await chainInfo.get();
    return { ...jsonReply(text), basis };
  };
}
