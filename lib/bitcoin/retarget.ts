// The target of the next block (GetNextWorkRequired of Bitcoin Core), by networks.

import { bitsOf, timeOf } from './header';
import { compactOf, targetOf } from './work';

interface Rules {
  /** The easiest target. */
  readonly limit: number;
  /** Blocks between two changes of the target. */
  readonly interval: number;
  readonly retargets: boolean;
  /** Whether a block has the easiest target when it comes late. */
  readonly resets: boolean;
}

const DEFAULT_LIMIT = 0x1d00_ffff;
const EASY_LIMIT = 0x207f_ffff;
const USUAL_INTERVAL = 2_016;
/** Since Bitcoin Core 29, though the target never changes. */
const REGTEST_INTERVAL = 144;

/** By Bitcoin Core's names of networks. */
const RULES: Readonly<Record<string, Rules | undefined>> = {
  test: { limit: DEFAULT_LIMIT, interval: USUAL_INTERVAL, retargets: true, resets: true },
  regtest: { limit: EASY_LIMIT, interval: REGTEST_INTERVAL, retargets: false, resets: true },
  simnet: { limit: EASY_LIMIT, interval: USUAL_INTERVAL, retargets: true, resets: true }
};
const MAIN: Rules = { limit: DEFAULT_LIMIT, interval: USUAL_INTERVAL, retargets: true, resets: false };

const SPACING_SECONDS = 600;
/** The target changes by this factor at most. */
const MOST_CHANGE = 4;
/** After this time without a block the target is reset. */
const LATE_SECONDS = 2 * SPACING_SECONDS;

const rulesOf = (chain: string): Rules => RULES[chain] ?? MAIN;

/** Blocks between two changes of the target. `chain`: Bitcoin Core's name of the network. */
export const retargetInterval = (chain: string): number => rulesOf(chain).interval;

/**
 * The bits of a block at `height`, found at `time` (Unix seconds). `headerAt`: the header at a lower height of its chain; undefined below the
 * genesis block.
 */
export function nextBits(chain: string, height: number, time: number, headerAt: (height: number) => Buffer | undefined): number {
  const { limit, interval, retargets, resets } = rulesOf(chain);
  const last = headerAt(height - 1);
  if (last === undefined) return limit;
  if (height % interval !== 0) {
    if (!resets) return bitsOf(last);
    if (time > timeOf(last) + LATE_SECONDS) return limit;
    return bitsBeforeResets(height - 1, { limit, interval }, headerAt);
  }
  const first = headerAt(height - interval);
  if (!retargets || first === undefined) return bitsOf(last);
  const wanted = interval * SPACING_SECONDS;
  const seconds = Math.min(Math.max(timeOf(last) - timeOf(first), wanted / MOST_CHANGE), wanted * MOST_CHANGE);
  const target = (targetOf(bitsOf(last)) * BigInt(seconds)) / BigInt(wanted);
  const easiest = targetOf(limit);
  return compactOf(target < easiest ? target : easiest);
}

/** The bits of the last block that did not come late. */
function bitsBeforeResets(
  from: number,
  { limit, interval }: Pick<Rules, 'limit' | 'interval'>,
  headerAt: (height: number) => Buffer | undefined
): number {
  for (let height = from; ; height--) {
    const header = headerAt(height);
    if (header === undefined) return limit;
    if (bitsOf(header) !== limit || height % interval === 0) return bitsOf(header);
  }
}
