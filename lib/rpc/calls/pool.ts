// The transaction pool: its summary, its entries.

import { jsonAnswer, replyAnswer, type CallDefinition } from '../call';
import { invalidParameter, notFound } from '../errors';

export const poolCalls = {
  getmempoolinfo: {
    parameters: [],
    answer: async (_, { ask }, client) => replyAnswer(await ask('/rest/mempool/info.json', client))
  },
  getrawmempool: {
    parameters: [
      { name: 'verbose', type: 'bool', isOptional: true },
      { name: 'mempool_sequence', type: 'bool', isOptional: true }
    ],
    isHeavy: (parameters) => parameters.flag(0, false),
    answer: async (parameters, { ask }, client) => {
      const [isVerbose, hasSequence] = [parameters.flag(0, false), parameters.flag(1, false)];
      if (isVerbose && hasSequence) throw invalidParameter('Verbose results cannot contain mempool sequence values.');
      return replyAnswer(await ask(`/rest/mempool/contents.json?verbose=${isVerbose}&mempool_sequence=${hasSequence}`, client));
    }
  },
  getmempoolentry: {
    parameters: [{ name: 'txid', type: 'string' }],
    answer: async (parameters, { poolTexts }) => {
      const entry = await poolTexts.entry(parameters.hash(0, 'txid'));
      if (entry === undefined) throw notFound('Transaction not in mempool');
      return jsonAnswer(entry);
    }
  }
} satisfies Readonly<Record<string, CallDefinition>>;
