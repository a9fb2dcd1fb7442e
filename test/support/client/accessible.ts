// What axe-core finds wrong with a page.

import { readFileSync } from 'node:fs';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';

/** Read by the debugger, which the policy of the page does not bind. */
const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

/** One line for each element that breaks a rule. */
export async function violations(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  const results = await page.evaluate<AxeResults>('axe.run()');
  return results.violations.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html}: ${failureSummary ?? ''}`));
}
