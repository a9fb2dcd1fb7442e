// The difficulty period: how far it is, and what follows.

import { grouped } from '../../parts/amounts';
import { duration } from '../../parts/times';
import { Answer } from '../frame/page';
import { useLoaded } from '../state/loaded';
import { useSession, useSource } from '../state/session';
import { PERIOD, periodOf, periodStart } from './period';
import type { Block } from '../data/types';

/** Networks whose difficulty follows the pace of blocks. */
const ADJUSTING = ['main', 'test'];

export function Difficulty({ tip }: { readonly tip: Block }) {
  const { status } = useSession();
  const isAdjusting = ADJUSTING.includes(status?.chain ?? '');
  return (
    <>
      <p class="big" data-field="difficulty">
        {difficultyText(tip.difficulty)}
      </p>
      {isAdjusting ? <Period tip={tip} /> : <p class="quiet">On this network it stays the same.</p>}
    </>
  );
}

function Period({ tip }: { readonly tip: Block }) {
  const source = useSource();
  const start = periodStart(tip.height);
  const first = useLoaded(`period ${start}`, 0, async () => source.block(await source.hashAt(start)));
  return (
    <Answer of={first} what="the period">
      {(block) => {
        const { mined, left, change, secondsLeft } = periodOf(tip, block);
        return (
          <>
            <div
              class="track"
              role="progressbar"
              aria-label="Difficulty period"
              aria-valuemin={0}
              aria-valuemax={PERIOD}
              aria-valuenow={mined}
            >
              <div class="part" style={{ width: `${(mined / PERIOD) * 100}%` }} />
            </div>
            <p class="quiet small">
              {grouped(left)} blocks to the next adjustment
              {secondsLeft !== undefined && `, about ${duration(secondsLeft)}`}
              {change !== undefined && `; ${change < 0 ? 'down' : 'up'} ${Math.abs(change).toFixed(1)} % at this pace`}
            </p>
          </>
        );
      }}
    </Answer>
  );
}

const UNITS = ['', ' k', ' M', ' G', ' T', ' P', ' E'] as const;

/** `146.47 T`; small ones, as of test networks, as they are. */
export function difficultyText(difficulty: number): string {
  if (difficulty < 1_000) return difficulty < 0.01 ? difficulty.toExponential(2) : String(Math.round(difficulty * 100) / 100);
  const step = Math.min(UNITS.length - 1, Math.floor(Math.log10(difficulty) / 3));
  return `${(difficulty / 1_000 ** step).toFixed(2)}${UNITS[step] ?? ''}`;
}
