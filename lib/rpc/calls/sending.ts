// Transactions for the pool: sending one or a package, or only testing whether they would be taken.

import { decodeTransaction, decodeTransactions, DEFAULT_MOST_FEE_RATE, requireNotBurnt } from '../../answers/transactions/sending';
import { toDisplayHex } from '../../bitcoin/hash';
import { packageJson, trialsJson } from '../../views/sending';
import { jsonAnswer, plainAnswer, type CallDefinition } from '../call';
import { requireText } from '../parameters';

export const sendingCalls = {
  sendrawtransaction: {
    parameters: [
      { name: 'hexstring', type: 'string' },
      { name: 'maxfeerate', type: 'any', isOptional: true },
      { name: 'maxburnamount', type: 'any', isOptional: true }
    ],
    answer: async (parameters, { sending }) => {
      const mostBurnt = parameters.amount(2, 0);
      const transaction = decodeTransaction(parameters.text(0));
      requireNotBurnt(transaction, mostBurnt);
      await sending.send(transaction, parameters.feeRate(1, DEFAULT_MOST_FEE_RATE));
      return plainAnswer(toDisplayHex(transaction.txid));
    }
  },
  testmempoolaccept: {
    parameters: [
      { name: 'rawtxs', type: 'array' },
      { name: 'maxfeerate', type: 'any', isOptional: true }
    ],
    isHeavy: (parameters) => parameters.list(0).length > 1,
    answer: async (parameters, { sending }) => {
      const mostRate = parameters.feeRate(1, DEFAULT_MOST_FEE_RATE);
      const { list, fault } = await sending.test(decodeTransactions(parameters.list(0), requireText), mostRate);
      return jsonAnswer(trialsJson(list, fault));
    }
  },
  submitpackage: {
    parameters: [
      { name: 'package', type: 'array' },
      { name: 'maxfeerate', type: 'any', isOptional: true },
      { name: 'maxburnamount', type: 'any', isOptional: true }
    ],
    isHeavy: () => true,
    answer: async (parameters, { sending }) => {
      const mostRate = parameters.feeRate(1, DEFAULT_MOST_FEE_RATE);
      const mostBurnt = parameters.amount(2, 0);
      const transactions = decodeTransactions(parameters.list(0), requireText);
      const { message, list, replaced } = await sending.sendPackage(transactions, { mostRate, mostBurnt });
      return jsonAnswer(packageJson(message, list, replaced));
    }
  }
} satisfies Readonly<Record<string, CallDefinition>>;
