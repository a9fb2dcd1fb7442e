// The transaction pool: its summary, its entries.

import { invalidParameter, notFound } from '../../answers/errors';
import { jsonAnswer, lineAnswer, type CallDefinition } from '../call';

export const poolCalls = {
  getmempoolinfo: {
    parameters: [],
    answer: (_, { poolTexts }) => lineAnswer(poolTexts.info())
  },
  getrawmempool: {
    parameters: [
      { name: 'verbose', type: 'bool', isOptional: true },
      { name: 'mempool_sequence', type: 'bool', isOptional: true }
    ],
    isHeavy: (parameters) => parameters.flag(0, false),
    answer: async (parameters, { poolTexts }) => {
      const [isVerbose, hasSequence] = [parameters.flag(0, false), parameters.flag(1, false)];
      if (isVerbose && hasSequence) throw invalidParameter('Verbose results cannot contain mempool sequence values.');
      return lineAnswer(await poolTexts.text(isVerbose ? 'entries' : hasSequence ? 'sequence' : 'txids'));
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
