import { setImmediate, setTimeout } from 'node:timers/promises';

/** Beyond any test's timeout, so that the loop ends and the process with it. */
const GIVE_UP_MS = 120_000;

/** Turns of the event loop in which a condition of this process comes true. For one of another process the processor is left to it. */
const TURNS = 100;

/** Resolves when the condition holds. A condition that never holds ends with the test's timeout. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + GIVE_UP_MS;
  for (let turns = 0; !(await condition()); turns++) {
    if (performance.now() > end) throw new Error('the condition never held');
    await (turns < TURNS ? setImmediate() : setTimeout(1));
  }
}
