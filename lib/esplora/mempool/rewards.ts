// What the last blocks have paid to miners.

import { inPath, json } from '../../describe/open-api';
import { named, object } from '../../describe/schema';
import { COUNT, HEIGHT, SATOSHIS } from '../../describe/values';
import { extendedBlock } from '../blocks';
import { jsonReply, readNumber, replyAt } from '../reply';
import type { Endpoint, EsploraContext, Route } from '../endpoint';

/** The most blocks over which rewards are summed up: each may have to be read. */
const MOST_REWARDS = 144;

export const rewardRoutes = (context: EsploraContext): Route[] => [
  {
    method: 'GET',
    path: '/v1/mining/reward-stats/:count',
    endpoint: rewardEndpoint(context),
    isHeavy: true,
    operation: {
      id: 'getRewardStats',
      summary: `What the last blocks have paid, ${MOST_REWARDS} at most.`,
      parameters: [inPath('count', 'How many blocks.', COUNT)],
      answer: json('The sums.', REWARD_STATS),
      errors: { 400: 'The count is not a number.' }
    }
  }
];

/** `RewardStats` in node-api.interface.ts. */
const REWARD_STATS = named(
  'RewardStats',
  object({ startBlock: HEIGHT, endBlock: HEIGHT, totalReward: SATOSHIS, totalFee: SATOSHIS, totalTx: COUNT })
);

function rewardEndpoint(context: EsploraContext): Endpoint {
  return async (request) => {
    const count = Math.max(1, Math.min(readNumber(request.parameter('count')), MOST_REWARDS));
    return context.scripts.read(async ({ index }) => {
      const { tip } = index;
      const startBlock = Math.max(0, tip.height - count + 1);
      let [totalReward, totalFee, totalTx] = [0, 0, 0];
      for (let height = startBlock; height <= tip.height; height++) {
        const { reward, totalFees, transactionCount } = await extendedBlock(index.headerAt(height) ?? tip, request, context);
        totalReward += reward;
        totalFee += totalFees;
        totalTx += transactionCount;
      }
      return replyAt(jsonReply(JSON.stringify({ startBlock, endBlock: tip.height, totalReward, totalFee, totalTx })), tip, undefined);
    });
  };
}
