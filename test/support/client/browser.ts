// Debian's Chromium, without a window, for pages that nodes serve.

import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';
import { isInstalled } from '../process/installed';

/** Quiet: it asks nobody but the tests' own nodes for anything. */
const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync'
];

const PROGRAM = 'chromium';

/** Says what to install where it is missing. */
export function hasBrowser(): boolean {
  if (isInstalled(PROGRAM)) return true;
  console.log(`      ${PROGRAM} is not installed: apt-get install ${PROGRAM}`);
  return false;
}

/** With a profile of its own, in a new folder. */
export const openBrowser = (): Promise<Browser> => chromium.launch({ executablePath: `/usr/bin/${PROGRAM}`, args: FLAGS });

export interface WatchedPage {
  readonly page: Page;
  /** Errors of scripts, whatever was written to the console, failed requests, and requests to anybody but the node. */
  readonly faults: string[];
  /** Paths that were asked for, in order. */
  readonly asked: string[];
}

/** A page in a new context, whose faults are written down. `baseUrl`: of the node. */
export async function watchedPage(browser: Browser, baseUrl: string, options: BrowserContextOptions = {}): Promise<WatchedPage> {
  // What moves without end is painted without end.
  const still = { reducedMotion: 'reduce', timezoneId: 'Europe/Berlin', locale: 'en-GB' } as const;
  const page = await browser.newPage({ baseURL: baseUrl, ...still, ...options });
  const [faults, asked]: [string[], string[]] = [[], []];
  page.on('console', (message) => faults.push(`console ${message.type()}: ${message.text()} ${message.location().url}`));
  page.on('pageerror', (error) => faults.push(`error: ${error.stack ?? error.message}`));
  page.on('request', (request) => {
    const { origin, pathname } = new URL(request.url());
    if (origin !== new URL(baseUrl).origin) faults.push(`a request to ${request.url()}`);
    asked.push(pathname);
  });
  return { page, faults, asked };
}
