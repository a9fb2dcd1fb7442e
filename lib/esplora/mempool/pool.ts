// The pool as mempool's interface shows it: the next blocks, what to pay for being in them, and transactions among their relatives.

import { preciseFees, RECOMMENDED_FEES, recommendedFees } from '../../answers/pool/recommended-fees';
import { inQuery, json } from '../../describe/open-api';
import { described, listOf, object } from '../../describe/schema';
import { ASKED_HASH, COUNT } from '../../describe/values';
import { notTxids, tooManyTxids } from '../errors';
import { NOT_HEX, TXID_IN_PATH } from '../operations';
import { findHash, jsonReply, readHash } from '../reply';
import { CPFP_INFO, cpfpInfo } from './cpfp';
import { PROJECTED_BLOCK, projectedBlock } from './projected-block';
import { MOST_BLOCKS } from '../../pool/projection/projected-blocks';
import type { EsploraContext, Route } from '../endpoint';

/** mempool's limit. */
const MOST_TIMES = 100;

export type PoolContext = Pick<EsploraContext, 'node' | 'pool' | 'projections'>;

const FEES = json('The rates.', RECOMMENDED_FEES);

export function poolRoutes({ node, projections }: PoolContext): Route[] {
  return [
    {
      method: 'GET',
      path: '/v1/fees/recommended',
      endpoint: async () => jsonReply(JSON.stringify(recommendedFees((await projections.get()).blocks, node.pool.info()))),
      isHeavy: true,
      operation: { id: 'getRecommendedFees', summary: 'Recommended fee rates, as whole numbers.', answer: FEES }
    },
    {
      method: 'GET',
      path: '/v1/fees/precise',
      endpoint: async () => jsonReply(JSON.stringify(preciseFees((await projections.get()).blocks, node.pool.info()))),
      isHeavy: true,
      operation: { id: 'getPreciseFees', summary: 'Recommended fee rates, in thousandths.', answer: FEES }
    },
    {
      method: 'GET',
      path: '/v1/fees/mempool-blocks',
      endpoint: async () => jsonReply(JSON.stringify((await projections.get()).blocks.map(projectedBlock))),
      isHeavy: true,
      operation: {
        id: 'getMempoolBlocks',
        summary: 'The next blocks, as a miner would make them of the pool. The last one has everything that is left.',
        answer: json('The blocks.', { ...listOf(PROJECTED_BLOCK), maxItems: MOST_BLOCKS })
      }
    },
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
