// Difficulty and hash rate, as mempool's interface shows them.

import { adjustmentsSince, currentHashrate, difficultyAdjustment, hashratesSince } from '../../answers/chain/difficulty';
import { bitsOf } from '../../bitcoin/header';
import { difficultyOf } from '../../bitcoin/work';
import { inPath, json } from '../../describe/open-api';
import { described, listOf, named, object } from '../../describe/schema';
import { COUNT, HEIGHT, INTEGER, NUMBER, TEXT, TIME } from '../../describe/values';
import { runInSlices } from '../../turns/slices';
import { jsonReply, replyAt } from '../reply';
import type { Adjustment } from '../../answers/chain/difficulty';
import type { IndexSnapshot } from '../../index/types';
import type { Endpoint, EsploraContext, EsploraRequest, Route } from '../endpoint';

const DAY = 86_400;

/** How far back an interval reaches, in days; any other text: to the beginning. */
const INTERVALS: ReadonlyMap<string, number> = new Map(
  Object.entries({
    '24h': 1,
    '3d': 3,
    '1w': 7,
    '1m': 30,
    '3m': 90,
    '6m': 180,
    '1y': 365,
    '2y': 730,
    '3y': 1_095,
    '4y': 1_461
  })
);

const INTERVAL = inPath('interval', `${[...INTERVALS.keys()].join(', ')}; any other text: all.`, TEXT);

export function difficultyRoutes({ node, scripts }: Pick<EsploraContext, 'node' | 'scripts'>): Route[] {
  const adjustments = sinceEndpoint(scripts, adjustmentList);
  const hashrates = sinceEndpoint(scripts, hashrateList);
  return [
    {
      method: 'GET',
      path: '/v1/difficulty-adjustment',
      // It changes with the clock, too.
      endpoint: () =>
        scripts.read(({ index }) => Promise.resolve(jsonReply(JSON.stringify(difficultyAdjustment(index, node.network.chain, now()))))),
      operation: {
        id: 'getDifficultyAdjustment',
        summary: 'Where the difficulty period under way stands.',
        answer: json('The period.', DIFFICULTY_ADJUSTMENT)
      }
    },
    {
      method: 'GET',
      path: '/v1/mining/difficulty-adjustments',
      endpoint: adjustments,
      isHeavy: true,
      operation: { id: 'getDifficultyAdjustments', summary: 'All changes of the difficulty.', answer: ADJUSTMENTS }
    },
    {
      method: 'GET',
      path: '/v1/mining/difficulty-adjustments/:interval',
      endpoint: adjustments,
      isHeavy: true,
      operation: {
        id: 'getDifficultyAdjustmentsSince',
        summary: 'Changes of the difficulty.',
        parameters: [INTERVAL],
        answer: ADJUSTMENTS
      }
    },
    {
      method: 'GET',
      path: '/v1/mining/hashrate/:interval',
      endpoint: hashrates,
      isHeavy: true,
      operation: {
        id: 'getHashrate',
        summary: 'Hash rate by day, and changes of the difficulty.',
        parameters: [INTERVAL],
        answer: json('Both upwards.', HASHRATE)
      }
    }
  ];
}

type SinceAnswer = (since: number, index: IndexSnapshot, request: EsploraRequest) => Promise<unknown>;

/** `answer`: makes the JSON value of the reply, from a time in Unix seconds on. */
function sinceEndpoint(scripts: EsploraContext['scripts'], answer: SinceAnswer): Endpoint {
  return (request) =>
    scripts.read(async ({ index }) => {
      const days = INTERVALS.get(request.optional('interval') ?? '');
      const since = days === undefined ? 0 : now() - days * DAY;
      return replyAt(jsonReply(JSON.stringify(await answer(since, index, request))), index.tip, undefined);
    });
}

const adjustmentList: SinceAnswer = async (since, index, request) =>
  (await runInSlices(adjustmentsSince(since, index), request))
    .reverse()
    .map(({ time, height, difficulty, adjustment }) => [time, height, difficulty, adjustment]);

const hashrateList: SinceAnswer = async (since, index, request) => ({
  hashrates: await runInSlices(hashratesSince(since, index), request),
  difficulty: await runInSlices(adjustmentsSince(since, index), request),
  currentHashrate: currentHashrate(index),
  currentDifficulty: difficultyOf(bitsOf(index.tip.header))
});

const now = (): number => Math.floor(Date.now() / 1_000);

const MILLISECONDS = { ...INTEGER, description: 'Milliseconds.' };
const PERCENT = { ...NUMBER, description: 'Percent.' };

/** `DifficultyAdjustment` in node-api.interface.ts. */
export const DIFFICULTY_ADJUSTMENT = named(
  'DifficultyAdjustment',
  object({
    progressPercent: PERCENT,
    difficultyChange: described('The change to be expected, in percent.', NUMBER),
    estimatedRetargetDate: described('Unix time in milliseconds.', INTEGER),
    remainingBlocks: COUNT,
    remainingTime: MILLISECONDS,
    previousRetarget: described('The change before, in percent.', NUMBER),
    previousTime: described('When the period began, Unix time in seconds.', TIME),
    nextRetargetHeight: HEIGHT,
    timeAvg: MILLISECONDS,
    adjustedTimeAvg: MILLISECONDS,
    timeOffset: MILLISECONDS,
    expectedBlocks: NUMBER
  } satisfies Record<keyof ReturnType<typeof difficultyAdjustment>, object>)
);

const DIFFICULTY = described('In relation to the easiest target of the main network.', NUMBER);
const CHANGE = described('In relation to the difficulty before; 0 for the genesis block.', NUMBER);

const ADJUSTMENTS = json('Time, height, difficulty and change, downwards.', listOf(listOf(NUMBER)));

const HASHES = { ...NUMBER, minimum: 0, description: 'Hashes a second.' };

const HASHRATE = named(
  'Hashrate',
  object({
    hashrates: listOf(object({ timestamp: TIME, avgHashrate: HASHES })),
    difficulty: listOf(
      object({ time: TIME, height: HEIGHT, difficulty: DIFFICULTY, adjustment: CHANGE } satisfies Record<keyof Adjustment, object>)
    ),
    currentHashrate: HASHES,
    currentDifficulty: DIFFICULTY
  })
);
