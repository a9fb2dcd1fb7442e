/** Beyond any test's timeout, so that the loop ends and the process with it. */
const GIVE_UP_MS = 120_000;

/** Resolves when the condition holds. A condition that never holds ends with the test's timeout. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const end = process.hrtime.bigint() + BigInt(GIVE_UP_MS) * 1_000_000n;
  while (!(await condition())) {
    if (process.hrtime.bigint() > end) throw new Error('the condition never held');
    await new Promise(setImmediate);
  }
}
