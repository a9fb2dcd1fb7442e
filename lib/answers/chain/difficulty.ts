// Difficulty and hash rate of the chain, from its headers alone, in the steps of mempool's backend (difficulty-adjustment.ts, mining.ts).

import { bitsOf, timeOf } from '../../bitcoin/header';
import { difficultyOf, targetOf } from '../../bitcoin/work';
import type { IndexSnapshot } from '../../index/types';

type Headers = Pick<IndexSnapshot, 'tip' | 'headerAt'>;

const PERIOD = 2_016;
const BLOCK_SECONDS = 600;
const DAY_SECONDS = 86_400;

/** Blocks by which the pace is judged at the beginning of a period. */
const PACE_BLOCKS = 503;

/** On the test network a block may be easy after so long a time. */
const MOST_TESTNET_SECONDS = 1_200;

/** A period moves the target by no more than this, in percent of the difficulty. */
const [LEAST_CHANGE, MOST_CHANGE] = [-75, 300];

/** Headers or days between two yields. */
const STEPS = 64;

/** `DifficultyAdjustment` in mempool's node-api.interface.ts. Times in milliseconds, changes in percent. */
export interface DifficultyAdjustment {
  readonly progressPercent: number;
  readonly difficultyChange: number;
  readonly estimatedRetargetDate: number;
  readonly remainingBlocks: number;
  readonly remainingTime: number;
  readonly previousRetarget: number;
  /** Unix time in seconds, unlike the others. */
  readonly previousTime: number;
  readonly nextRetargetHeight: number;
  readonly timeAvg: number;
  readonly adjustedTimeAvg: number;
  readonly timeOffset: number;
  readonly expectedBlocks: number;
}

/** Where the period under way stands. `now`: Unix time in seconds. */
export function difficultyAdjustment(headers: Headers, chain: string, now: number): DifficultyAdjustment {
  const { height, header } = headers.tip;
  const blocks = height % PERIOD;
  const previousTime = timeAt(height - blocks, headers);
  const previousRetarget = height < PERIOD ? 0 : retarget(height - blocks, headers);
  const elapsed = Math.max(0, now - previousTime);
  const remainingBlocks = PERIOD - blocks;
  const pace = blocks === 0 ? BLOCK_SECONDS : elapsed / blocks;
  const { adjusted, change } = adjustedPace({ pace, elapsed, blocks, previousTime, previousRetarget, now }, headers);
  const seconds = chain === 'test' ? Math.min(pace, MOST_TESTNET_SECONDS) : pace;
  const sinceLast = now - timeOf(header);
  const isLate = chain === 'test' && sinceLast + seconds > MOST_TESTNET_SECONDS;
  const adjustedTimeAvg = Math.floor(adjusted * 1_000);
  const remainingTime = remainingBlocks * adjustedTimeAvg;
  return {
    progressPercent: (blocks / PERIOD) * 100,
    difficultyChange: Math.max(LEAST_CHANGE, Math.min(MOST_CHANGE, change)),
    estimatedRetargetDate: remainingTime + now * 1_000,
    remainingBlocks,
    remainingTime,
    previousRetarget,
    previousTime,
    nextRetargetHeight: height + remainingBlocks,
    timeAvg: Math.floor(seconds * 1_000),
    adjustedTimeAvg,
    timeOffset: isLate ? -Math.min(sinceLast, MOST_TESTNET_SECONDS) * 1_000 : 0,
    expectedBlocks: elapsed / BLOCK_SECONDS
  };
}

interface Pace {
  readonly pace: number;
  readonly elapsed: number;
  readonly blocks: number;
  readonly previousTime: number;
  readonly previousRetarget: number;
  readonly now: number;
}

/** Seconds for each block that are to be expected, and the change of difficulty that follows: early in a period from the end of the one before. */
function adjustedPace(given: Pace, headers: Headers): { readonly adjusted: number; readonly change: number } {
  const { pace, elapsed, blocks, previousTime, previousRetarget, now } = given;
  const { height, header } = headers.tip;
  if (height >= PACE_BLOCKS && blocks < PACE_BLOCKS) {
    const before = (previousTime - timeAt(height - PACE_BLOCKS, headers)) * (1 + previousRetarget / 100);
    const span = elapsed + before;
    return { adjusted: span / PACE_BLOCKS, change: changeFor(span / (PACE_BLOCKS + 1)) };
  }
  const until = blocks === PERIOD - 1 ? timeOf(header) : now;
  return { adjusted: pace, change: changeFor((until - previousTime) / (blocks + 1)) };
}

const changeFor = (seconds: number): number => (seconds === 0 ? MOST_CHANGE : (BLOCK_SECONDS / seconds - 1) * 100);

/** How much harder the period that begins at a height is than the one before, in percent. */
function retarget(height: number, headers: Headers): number {
  const [before, now] = [targetOf(bitsAt(height - PERIOD, headers)), targetOf(bitsAt(height, headers))];
  return now === 0n ? 0 : Math.max(LEAST_CHANGE, Math.min(MOST_CHANGE, (Number(before) / Number(now)) * 100 - 100));
}

/** A block whose difficulty is another one than that of the block before. */
export interface Adjustment {
  readonly time: number;
  readonly height: number;
  readonly difficulty: number;
  /** The difficulty in relation to the one before; 0 for the genesis block. */
  readonly adjustment: number;
}

/** The first blocks of periods with another difficulty, upwards from a time. Exceptions within a period (testnet) do not count. Yields often. */
export function* adjustmentsSince(time: number, headers: Headers): Generator<void, Adjustment[]> {
  const found: Adjustment[] = [];
  let before: number | undefined;
  for (let height = 0; height <= headers.tip.height; height += PERIOD) {
    if ((height / PERIOD) % STEPS === STEPS - 1) yield;
    const difficulty = difficultyOf(bitsAt(height, headers));
    const block = { time: timeAt(height, headers), height, difficulty };
    if (before === undefined) found.push({ ...block, adjustment: 0 });
    else if (difficulty !== before) found.push({ ...block, adjustment: Math.round((difficulty / before) * 1_000_000) / 1_000_000 });
    before = difficulty;
  }
  return found.filter((one) => one.time >= time);
}

/** Hashes a second, on average over a day. */
export interface DailyHashrate {
  /** The beginning of the day, Unix time in seconds. */
  readonly timestamp: number;
  readonly avgHashrate: number;
}

/** Of whole days from a time on, upwards. Days without blocks are left out. Yields often. */
export function* hashratesSince(time: number, headers: Headers): Generator<void, DailyHashrate[]> {
  const { tip } = headers;
  const first = timeAt(1 <= tip.height ? 1 : 0, headers);
  const rates: DailyHashrate[] = [];
  let day = Math.ceil(Math.max(time, first) / DAY_SECONDS) * DAY_SECONDS;
  let from = yield* heightAt(day, headers);
  for (let step = 0; day + DAY_SECONDS <= tip.medianTime; step++, day += DAY_SECONDS) {
    const until = yield* heightAt(day + DAY_SECONDS, headers);
    if (until > from) rates.push({ timestamp: day, avgHashrate: hashrateBetween(from, until, headers) });
    // A chain with gaps in time may have more empty days than anybody wants to see.
    else day = Math.max(day, Math.floor(medianTimeAt(until + 1, headers) / DAY_SECONDS) * DAY_SECONDS - DAY_SECONDS);
    from = until;
    if (step % STEPS === STEPS - 1) yield;
  }
  return rates;
}

/** Hashes a second over the last blocks, 1,008 at most. */
export function currentHashrate(headers: Headers): number {
  const { height } = headers.tip;
  return hashrateBetween(Math.max(0, height - 1_008), height, headers);
}

/** Work of the blocks above `from` up to `until`, for each second between them. */
function hashrateBetween(from: number, until: number, headers: Headers): number {
  const [below, top] = [headers.headerAt(from), headers.headerAt(until)];
  if (below === undefined || top === undefined) return 0;
  const seconds = timeOf(top.header) - timeOf(below.header);
  return seconds <= 0 ? 0 : Number(top.chainwork - below.chainwork) / seconds;
}

/** The last block whose median time is before a time; medians never fall. */
function* heightAt(time: number, headers: Headers): Generator<void, number> {
  let [low, high] = [0, headers.tip.height];
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if (medianTimeAt(middle, headers) < time) low = middle;
    else high = middle - 1;
  }
  yield;
  return low;
}

const medianTimeAt = (height: number, headers: Headers): number => (headers.headerAt(height) ?? headers.tip).medianTime;

const timeAt = (height: number, headers: Headers): number => timeOf(headerOf(height, headers));

const bitsAt = (height: number, headers: Headers): number => bitsOf(headerOf(height, headers));

/** Every height up to the tip has a header. */
const headerOf = (height: number, headers: Headers): Buffer => (headers.headerAt(height) ?? headers.tip).header;
