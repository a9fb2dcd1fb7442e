// getrawtransaction: a transaction of the pool, of the chain, or of a given block.

import { findInBlock, findTransaction, requireOrdinary, transactionJson } from '../../answers/transactions/raw-transaction';
import { hexAnswer, type CallDefinition } from '../call';

export const transactionCalls = {
  getrawtransaction: {
    parameters: [
      { name: 'txid', type: 'string' },
      { name: 'verbosity|verbose', type: 'any', isOptional: true },
      { name: 'blockhash', type: 'string', isOptional: true }
    ],
    answer: async (parameters, context, client) => {
      const txid = parameters.hash(0, 'parameter 1');
      requireOrdinary(txid, context);
      const verbosity = parameters.verbosity(1, 0);
      const isNamed = parameters.optionalText(2) !== undefined;
      const found = isNamed
        ? await findInBlock(txid, parameters.hash(2, 'parameter 3'), context, client)
        : await findTransaction(txid, context, client);
      if (verbosity <= 0) return hexAnswer(found.raw);
      return { parts: await transactionJson(found, { verbosity, isNamed }, context, client) };
    }
  }
} satisfies Readonly<Record<string, CallDefinition>>;
