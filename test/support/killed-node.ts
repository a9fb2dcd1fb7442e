// A process to be killed: opens a node and its index in a folder, checks that the index is
// right, and works until it is killed. Says by messages how far it is.
//
//   killed-node.ts <folder> <turn> <seed> <undo depth> <blocks|coins>

import fc from 'fast-check';
import { IndexWalk } from './index-walk';
import { healthyStep } from './walk-steps';

export type KilledNodeMessage = 'opening' | 'right';

const STEPS = 200;

const say = (message: KilledNodeMessage): void => {
  process.send?.(message);
};

async function main(): Promise<void> {
  const [folder, ...words] = process.argv.slice(2);
  const [turn, seed, undoDepth] = words.map(Number);
  const bootstrap = words[3];
  if (
    folder === undefined ||
    turn === undefined ||
    seed === undefined ||
    undoDepth === undefined ||
    (bootstrap !== 'blocks' && bootstrap !== 'coins')
  )
    throw new Error('expected <folder> <turn> <seed> <undo depth> <blocks|coins>');
  // Now and then filters are off, and missing afterwards.
  const walk = await IndexWalk.on({ folder, undoDepth, bootstrap, filters: turn % 3 > 0, turn });
  say('opening');
  await walk.index.open();
  await walk.expectRight();
  say('right');
  for (const step of fc.sample(healthyStep, { seed, numRuns: STEPS })) await walk.stepUnchecked(step);
  await walk.close();
}

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
