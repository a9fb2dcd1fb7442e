/** Resolves when the condition holds. A condition that never holds ends with the test's timeout. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise(setImmediate);
}
