// The target of the next block (GetNextWorkRequired of Bitcoin Core), by networks.

import { bitsOf, timeOf } from './header';
import { compactOf, targetOf } from './work';

interface Rules {
  /** The easiest target. */
  readonly limit: number;
  readonly retargets: boolean;
  /** Whether a block has the easiest target when it comes late. */
  readonly resets: boolean;
}

const DEFAULT_LIMIT = 0x1d00_ffff;
const EASY_LIMIT = 0x207f_ffff;

/** By Bitcoin Core's names of networks. */
const RULES: Readonly<Record<string, Rules | undefined>> = {
  test: { limit: DEFAULT_LIMIT, retargets: true, resets: true },
  regtest: { limit: EASY_LIMIT, retargets: false, resets: true },
  simnet: { limit: EASY_LIMIT, retargets: true, resets: true }
};
const MAIN: Rules = { limit: DEFAULT_LIMIT, retargets: true, resets: false };

/** Blocks between two changes of the target. */
export const RETARGET_BLOCKS = 2_016;
const SPACING_SECONDS = 600;
const SPAN_SECONDS = RETARGET_BLOCKS * SPACING_SECONDS;
/** The target changes by this factor at most. */
const MOST_CHANGE = 4;
/** After this time without a block the target is reset. */
const LATE_SECONDS = 2 * SPACING_SECONDS;

/**
 * The bits of a block at `height`, found at `time` (Unix seconds). `headerAt`: the header at a lower height of its chain; undefined below the
 * genesis block.
 */
export function nextBits(chain: string, height: number, time: number, headerAt: (height: number) => Buffer | undefined): number {
  const { limit, retargets, resets } = RULES[chain] ?? MAIN;
  const last = headerAt(height - 1);
  if (last === undefined) return limit;
  if (height % RETARGET_BLOCKS !== 0) {
    if (!resets) return bitsOf(last);
    if (time > timeOf(last) + LATE_SECONDS) return limit;
    return bitsBeforeResets(height - 1, limit, headerAt);
  }
  const first = headerAt(height - RETARGET_BLOCKS);
  if (!retargets || first === undefined) return bitsOf(last);
  const seconds = Math.min(Math.max(timeOf(last) - timeOf(first), SPAN_SECONDS / MOST_CHANGE), SPAN_SECONDS * MOST_CHANGE);
  const target = (targetOf(bitsOf(last)) * BigInt(seconds)) / BigInt(SPAN_SECONDS);
  const easiest = targetOf(limit);
  return compactOf(target < easiest ? target : easiest);
}

/** The bits of the last block that did not come late. */
function bitsBeforeResets(from: number, limit: number, headerAt: (height: number) => Buffer | undefined): number {
  for (let height = from; ; height--) {
    const header = headerAt(height);
    if (header === undefined) return limit;
    if (bitsOf(header) !== limit || height % RETARGET_BLOCKS === 0) return bitsOf(header);
  }
}
