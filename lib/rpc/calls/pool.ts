// The transaction pool: its summary, its entries.

import { toDisplayHex } from '../../bitcoin/hash';
import { replyAnswer, type CallDefinition } from '../call';
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
    answer: async (parameters, { ask, node }, client) => {
      const txid = parameters.hash(0, 'txid');
      if (node.pool.transaction(txid) === undefined) throw notFound('Transaction not in mempool');
      const { body } = await ask('/rest/mempool/contents.json', client);
      return { parts: [entryIn(body, txid)] };
    }
  }
} satisfies Readonly<Record<string, CallDefinition>>;

/** The entry's text in the contents of the pool, of which it was a part just now. */
function entryIn(contents: Buffer, txid: Buffer): Buffer {
  const name = `"${toDisplayHex(txid)}":{`;
  const start = contents.indexOf(name);
  if (start < 0) throw notFound('Transaction not in mempool');
  const next = contents.indexOf('},"', start);
  return contents.subarray(start + name.length - 1, next < 0 ? -2 : next + 1);
}
