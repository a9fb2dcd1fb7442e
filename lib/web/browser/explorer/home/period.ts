// Difficulty periods of 2,016 blocks, each of which should take two weeks.

import type { Block } from '../data/types';

export const PERIOD = 2_016;
const BLOCK_SECONDS = 600;

/** With fewer blocks the pace says little. */
const LEAST_BLOCKS = 10;

/** The difficulty changes by a factor of 4 at most. */
const [LEAST_CHANGE, MOST_CHANGE] = [-75, 300];

export const periodStart = (height: number): number => height - (height % PERIOD);

/** `first`: the first block of the period. `change`: in percent, and `secondsLeft`, at the pace so far; undefined while that is not known. */
export function periodOf(tip: Pick<Block, 'height' | 'time'>, first: Pick<Block, 'height' | 'time'>) {
  const passed = tip.height - first.height;
  const mined = passed + 1;
  const left = PERIOD - mined;
  const seconds = tip.time - first.time;
  if (passed < LEAST_BLOCKS || seconds <= 0) return { mined, left, change: undefined, secondsLeft: undefined };
  const change = ((passed * BLOCK_SECONDS) / seconds - 1) * 100;
  return { mined, left, change: Math.min(MOST_CHANGE, Math.max(LEAST_CHANGE, change)), secondsLeft: (left * seconds) / passed };
}
