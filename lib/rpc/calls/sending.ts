// Transactions for the pool: sending one or a package, or only testing whether they would be taken.

import { decodeTransaction, decodeTransactions, requireNotBurnt, requirePackageSize } from '../../answers/transactions/decoding';
import { DEFAULT_MOST_FEE_RATE, seenFrom } from '../../answers/transactions/sending';
import { toDisplayHex } from '../../bitcoin/hash';
import { described, listOf } from '../../describe/schema';
import { ASKED_HEX, TXID } from '../../describe/values';
import { PACKAGE, packageJson, TRIALS, trialsJson } from '../../views/sending';
import { jsonAnswer, plainAnswer, type CallDefinition } from '../call';
import { requireText } from '../parameters';

const AMOUNT = { type: ['number', 'string'] } as const;

const MOST_RATE = {
  name: 'maxfeerate',
  type: 'any',
  isOptional: true,
  schema: { ...AMOUNT, description: 'The most BTC for each 1,000 virtual bytes that a transaction may pay; 0: any.' }
} as const;

const MOST_BURNT = {
  name: 'maxburnamount',
  type: 'any',
  isOptional: true,
  schema: { ...AMOUNT, description: 'The most BTC in an output that can never be spent; 0 by default.' }
} as const;

const RAW_TRANSACTIONS = {
  type: 'array',
  usage: '["rawtx",...]',
  schema: described('The serialized transactions in hex, parents first.', listOf(ASKED_HEX))
} as const;

export const sendingCalls = {
  sendrawtransaction: {
    summary: 'Brings a transaction into the pool.',
    parameters: [{ name: 'hexstring', type: 'string', schema: ASKED_HEX }, MOST_RATE, MOST_BURNT],
    result: () => TXID,
    answer: async (parameters, { node, sending }) => {
      const mostBurnt = parameters.amount(2, 0);
      const transaction = decodeTransaction(parameters.text(0));
      requireNotBurnt(transaction, mostBurnt);
      await sending.send(transaction, parameters.feeRate(1, DEFAULT_MOST_FEE_RATE));
      return { ...plainAnswer(toDisplayHex(transaction.txid)), change: seenFrom([transaction], node) };
    }
  },
  testmempoolaccept: {
    summary: 'Whether the pool would take transactions, without sending them.',
    parameters: [{ name: 'rawtxs', ...RAW_TRANSACTIONS }, MOST_RATE],
    result: () => TRIALS,
    isHeavy: (parameters) => parameters.list(0).length > 1,
    answer: async (parameters, { sending }) => {
      const raws = parameters.list(0);
      requirePackageSize(raws);
      const mostRate = parameters.feeRate(1, DEFAULT_MOST_FEE_RATE);
      const { list, fault } = await sending.test(await decodeTransactions(raws, requireText), mostRate);
      return jsonAnswer(trialsJson(list, fault));
    }
  },
  submitpackage: {
    summary: 'Brings transactions that depend on each other into the pool.',
    parameters: [{ name: 'package', ...RAW_TRANSACTIONS }, MOST_RATE, MOST_BURNT],
    result: () => PACKAGE,
    isHeavy: () => true,
    answer: async (parameters, { node, sending }) => {
      const raws = parameters.list(0);
      requirePackageSize(raws);
      const mostRate = parameters.feeRate(1, DEFAULT_MOST_FEE_RATE);
      const mostBurnt = parameters.amount(2, 0);
      const transactions = await decodeTransactions(raws, requireText);
      const { message, list, replaced } = await sending.sendPackage(transactions, { mostRate, mostBurnt });
      return {
        ...jsonAnswer(packageJson(message, list, replaced)),
        change: seenFrom(
          list.map(({ transaction }) => transaction),
          node
        )
      };
    }
  }
} satisfies Readonly<Record<string, CallDefinition>>;
