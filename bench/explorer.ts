// How quick the explorer is on a slow machine: `npm run bench:explorer`. Debian's Chromium, and a node with full blocks in memory.

import { hasBrowser, openBrowser, watchedPage } from '../test/support/client/browser';
import { makeBusy, type Busy } from '../test/support/node/busy-node';
import { closeLeftNodes } from '../test/support/bcoin/regtest-node';
import { openRestNode } from '../test/support/node/rest-node';
import type { Browser, Page } from 'playwright-core';

const ROUNDS = 5;
/** A slow machine: so many times slower than this one. */
const SLOWER = 4;
/** Milliseconds. */
const GOALS = { paint: 1_000, task: 50 };
const LAST_PAGES = [2, 121];

interface Figures {
  /** Until there is something to see, and until the newest blocks are there; of the clock, on the slow machine. */
  readonly paint: number;
  readonly shown: number;
  /** The longest task of the page while it pages through a block, of its own processor time. */
  readonly task: number;
}

async function main(): Promise<void> {
  if (!hasBrowser()) throw new Error('the explorer is measured with chromium');
  const served = await openRestNode({ settings: { 'rest-explorer': true, 'rest-addresses': true } });
  const busy = await makeBusy(served);
  const browser = await openBrowser();
  const rounds: Figures[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const { page } = await watchedPage(browser, served.baseUrl);
    const load = await loading(page);
    rounds.push({ ...load, task: await longestTaskOfPaging(browser, page, busy) });
    await page.context().close();
  }
  const median = (of: (figures: Figures) => number): string => (rounds.map(of).sort((a, b) => a - b)[ROUNDS >> 1] ?? NaN).toFixed(0);
  console.log(`Median of ${ROUNDS} rounds, ms. Loading: a processor ${SLOWER} times slower than this one.`);
  console.log('| first content (goal) | newest blocks | longest task while paging through 3,000 transactions (goal) |\n|---|---|---|');
  const [paint, shown, task] = [median((each) => each.paint), median((each) => each.shown), median((each) => each.task)];
  console.log(`| ${paint} (${GOALS.paint}) | ${shown} | ${task} (${GOALS.task}) |`);
  await browser.close();
  await closeLeftNodes();
}

async function loading(page: Page): Promise<Omit<Figures, 'task'>> {
  const session = await page.context().newCDPSession(page);
  await session.send('Emulation.setCPUThrottlingRate', { rate: SLOWER });
  await page.goto('/explorer');
  await page.waitForSelector('[data-field="tip"]');
  const paint = await page.evaluate<number>("performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? Infinity");
  const shown = await page.evaluate<number>('performance.now()');
  await session.send('Emulation.setCPUThrottlingRate', { rate: 1 });
  return { paint, shown };
}

async function longestTaskOfPaging(browser: Browser, page: Page, { hash }: Busy): Promise<number> {
  await browser.startTracing(page, { categories: ['disabled-by-default-devtools.timeline', '__metadata'] });
  await page.goto(`/explorer/block/${hash}`);
  await page.waitForSelector('article[data-txid]');
  for (const number of LAST_PAGES) {
    const link = page.locator('.pager a', { hasText: String(number) }).first();
    await link.click();
    await page.waitForURL(`**page=${number}`);
    await page.waitForSelector('article[data-txid]');
  }
  return longestTask(await browser.stopTracing());
}

/**
 * The longest task of a page's main thread, in milliseconds of its own processor time: the machine has other work, for which the page is not
 * to blame.
 */
function longestTask(trace: Buffer): number {
  interface Event {
    readonly name: string;
    readonly pid: number;
    readonly tid: number;
    readonly tdur?: number;
    readonly args: { readonly name?: string };
  }
  const { traceEvents } = JSON.parse(trace.toString()) as { readonly traceEvents: readonly Event[] };
  const threadOf = ({ pid, tid }: Event): string => `${pid} ${tid}`;
  const mains = new Set(traceEvents.filter(({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain').map(threadOf));
  const tasks = traceEvents.filter((event) => event.name === 'RunTask' && mains.has(threadOf(event)));
  return Math.max(...tasks.map(({ tdur = 0 }) => tdur)) / 1_000;
}

void main();
