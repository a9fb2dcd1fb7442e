// A process to be killed: opens a node and its index in a folder, with or without an index by script, checks that both are
// right, and works until it is killed. Reports by messages how far it is, and what the index by script does.
//
//   killed-node.ts <folder> <turn> <seed> <undo depth> <blocks|coins> [scripts]

import fc from 'fast-check';
import { distinctUntilChanged, map } from 'rxjs';
import { allowEarlySpends } from '../chain/early-spends';
import { IndexWalk } from '../index/walk';
import { healthyStep } from '../index/walk-steps';
import type { ScriptsState } from '../../../lib/scripts/types';

export type KilledNodeMessage = 'opening' | 'right' | ScriptsState['phase'];

const STEPS = 200;

const say = (message: KilledNodeMessage): void => {
  process.send?.(message);
};

async function main(): Promise<void> {
  const [folder, ...words] = process.argv.slice(2);
  const [turn, seed, undoDepth] = words.map(Number);
  const [bootstrap, word] = words.slice(3);
  const scripts = word === 'scripts';
  if (
    folder === undefined ||
    turn === undefined ||
    seed === undefined ||
    undoDepth === undefined ||
    (bootstrap !== 'blocks' && bootstrap !== 'coins')
  )
    throw new Error('expected <folder> <turn> <seed> <undo depth> <blocks|coins> [scripts]');
  allowEarlySpends();
  // Now and then filters are off, so that they are missing afterwards.
  const walk = await IndexWalk.on({ folder, undoDepth, bootstrap, filters: turn % 3 > 0, turn, scripts });
  say('opening');
  await walk.openIndexes();
  if (scripts)
    walk.scripts.state$
      .pipe(
        map(({ phase }) => phase),
        distinctUntilChanged()
      )
      .subscribe(say);
  await walk.expectRight();
  say('right');
  for (const step of fc.sample(healthyStep, { seed, numRuns: STEPS })) await walk.stepUnchecked(step);
  await walk.close();
}

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
