// Transactions of the pool, as mempool's interface shows them: among their relatives, and in time.

import { inQuery, json } from '../../describe/open-api';
import { described, listOf, object } from '../../describe/schema';
import { ASKED_HASH, COUNT } from '../../describe/values';
import { notTxids, tooManyTxids } from '../errors';
import { NOT_HEX, TXID_IN_PATH } from '../operations';
import { findHash, jsonReply, readHash } from '../reply';
import { CPFP_INFO, cpfpInfo } from './cpfp';
import type { EsploraContext, Route } from '../endpoint';

/** mempool's limit. */
const MOST_TIMES = 100;

export function poolRoutes({ node, projections }: Pick<EsploraContext, 'node' | 'projections'>): Route[] {
  return [
    {
      method: 'GET',
      path: '/v1/cpfp/:txid',
      endpoint: async (request) => {
        const txid = readHash(request.parameter('txid'));
        return jsonReply(JSON.stringify(cpfpInfo(txid, await projections.get()) ?? { ancestors: [] }));
      },
      isHeavy: true,
      operation: {
        id: 'getCpfp',
        summary: 'The relatives of a transaction in the pool, and what a miner gets for taking it.',
        parameters: [TXID_IN_PATH],
        answer: json('The relatives; none for a transaction that the pool does not have.', CPFP_INFO),
        errors: { 400: NOT_HEX }
      }
    },
    {
      method: 'GET',
      path: '/v1/transaction-times',
      endpoint: (request) => {
        const asked = request.queries('txId[]');
        if (asked.length === 0) throw notTxids();
        if (asked.length > MOST_TIMES) throw tooManyTxids();
        const txids = asked.flatMap((text) => findHash(text) ?? []);
        return Promise.resolve(jsonReply(JSON.stringify(txids.map((txid) => node.pool.entry(txid)?.time ?? 0))));
      },
      operation: {
        id: 'getTransactionTimes',
        summary: 'When transactions entered the pool.',
        parameters: [inQuery('txId[]', `The transactions, ${MOST_TIMES} at most.`, ASKED_HASH)],
        answer: json('Unix times in seconds; 0 for one that the pool does not have.', listOf(COUNT)),
        errors: { 400: 'There are no transactions, or too many.' }
      }
    },
    {
      method: 'GET',
      path: '/v1/tx/:txid/rbf',
      endpoint: (request) => {
        readHash(request.parameter('txid'));
        return Promise.resolve(jsonReply('{"replacements":null,"replaces":null}'));
      },
      operation: {
        id: 'getReplacements',
        summary: 'What has replaced a transaction. This server keeps no contents of what was replaced, so it shows none.',
        parameters: [TXID_IN_PATH],
        answer: json('Nothing.', object({ replacements: described('Not known.', { type: 'null' }), replaces: { type: 'null' } })),
        errors: { 400: NOT_HEX }
      }
    }
  ];
}
