// The transaction pool: its summary, its entries.

import { invalidParameter, notFound, type CallError } from '../../answers/errors';
import { entriesSchema, poolContentsSchema } from '../../answers/pool/contents';
import { toDisplayHex } from '../../bitcoin/hash';
import { anyOf, listOf } from '../../describe/schema';
import { ASKED_HASH, FLAG, TXID } from '../../describe/values';
import { entrySchema } from '../../views/pool-entry';
import { mempoolInfoSchema } from '../../views/pool-info';
import { jsonAnswer, lineAnswer, plainAnswer, type Answer, type CallDefinition } from '../call';
import type { PoolRelative } from '../../answers/pool/texts';

export const poolCalls = {
  getmempoolinfo: {
    summary: 'The pool in figures.',
    parameters: [],
    result: mempoolInfoSchema,
    answer: (_, { poolTexts }) => lineAnswer(poolTexts.info())
  },
  getrawmempool: {
    summary: 'The transactions of the pool, or their txids.',
    parameters: [
      {
        name: 'verbose',
        type: 'bool',
        isOptional: true,
        schema: { ...FLAG, default: false, description: 'Whether the transactions are shown.' }
      },
      {
        name: 'mempool_sequence',
        type: 'bool',
        isOptional: true,
        schema: { ...FLAG, default: false, description: 'Whether the txids are with the number of the last change.' }
      }
    ],
    result: poolContentsSchema,
    isHeavy: (parameters) => parameters.flag(0, false),
    answer: async (parameters, { poolTexts }) => {
      const [isVerbose, hasSequence] = [parameters.flag(0, false), parameters.flag(1, false)];
      if (isVerbose && hasSequence) throw invalidParameter('Verbose results cannot contain mempool sequence values.');
      return lineAnswer(await poolTexts.text(isVerbose ? 'entries' : hasSequence ? 'sequence' : 'txids'));
    }
  },
  getmempoolentry: {
    summary: 'A transaction of the pool.',
    parameters: [{ name: 'txid', type: 'string', schema: ASKED_HASH }],
    result: entrySchema,
    answer: async (parameters, { poolTexts }) => {
      const entry = await poolTexts.entry(parameters.hash(0));
      if (entry === undefined) throw notInPool();
      return jsonAnswer(entry);
    }
  },
  getmempoolancestors: relativesCall('All transactions of the pool from which one of them spends, directly or not.', 'parents'),
  getmempooldescendants: relativesCall('All transactions of the pool that spend from one of them, directly or not.', 'children')
} satisfies Readonly<Record<string, CallDefinition>>;

function relativesCall(summary: string, direction: 'parents' | 'children'): CallDefinition {
  return {
    summary,
    parameters: [
      { name: 'txid', type: 'string', schema: ASKED_HASH },
      {
        name: 'verbose',
        type: 'bool',
        isOptional: true,
        schema: { ...FLAG, default: false, description: 'Whether the transactions are shown, or their txids.' }
      }
    ],
    result: (fields) => anyOf(entriesSchema(fields), listOf(TXID)),
    isHeavy: (parameters) => parameters.flag(1, false),
    answer: async (parameters, { poolTexts }) => {
      const isVerbose = parameters.flag(1, false);
      const relatives = await poolTexts.relatives(parameters.hash(0), direction);
      if (relatives === undefined) throw notInPool();
      return isVerbose ? entriesAnswer(relatives) : plainAnswer(relatives.map(({ txid }) => toDisplayHex(txid)));
    }
  };
}

/** An object of entries by their txids. */
function entriesAnswer(relatives: readonly PoolRelative[]): Answer {
  const parts = relatives.flatMap(({ txid, text }, i) => [Buffer.from(`${i === 0 ? '' : ','}"${toDisplayHex(txid)}":`), text]);
  return jsonAnswer(Buffer.concat([Buffer.from('{'), ...parts, Buffer.from('}')]));
}

const notInPool = (): CallError => notFound('Transaction not in mempool');
