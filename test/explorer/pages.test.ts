import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { hasBrowser, openBrowser, watchedPage, type WatchedPage } from '../support/client/browser';
import { bcoin } from '../support/bcoin/bcoin';
import { chainAPool } from '../support/chain/chain-a';
import { openChainANode } from '../support/node/chain-a-node';
import { ExplorerPages, type ApiBlock, type ApiTransaction } from '../support/client/explorer-pages';
import { ask } from '../support/client/http';
import { mine } from '../support/bcoin/regtest-node';
import { until } from '../support/expectations/until';
import type { Browser } from 'playwright-core';
import type { RestNode } from '../support/node/rest-node';

// What takes longer is in test/clients/programs/explorer.test.ts.
describe('the explorer in a browser', () => {
  const closing: (() => Promise<unknown>)[] = [];
  let browser: Browser;
  let served: RestNode;
  let watched: WatchedPage;
  let pages: ExplorerPages;

  before(async function () {
    if (!hasBrowser()) this.skip(); // chromium is not installed
    browser = await openBrowser();
    closing.push(() => browser.close());
    served = await openChainANode({ 'rest-explorer': true, 'rest-addresses': true, 'rest-addresses-search': true });
    closing.push(() => served.node.close());
    for (const raw of chainAPool().slice(0, 5)) await served.node.mempool.addTX(bcoin.TX.fromRaw(raw));
    watched = await watchedPage(browser, served.baseUrl);
    pages = new ExplorerPages(watched.page, served.port);
  });
  after(async () => {
    for (const close of closing) await close();
  });

  async function search(text: string): Promise<void> {
    await watched.page.getByRole('searchbox').fill(text);
    await watched.page.keyboard.press('Enter');
  }

  it('shows the newest blocks, the pool and the fees as the API has them', () => pages.expectHome());

  it('shows a block as it arrives', async () => {
    const { page } = watched;
    await pages.open('', '[data-field="tip"]');
    await page.waitForSelector('.contact.live');
    await mine(served.node, 1);
    await page.waitForSelector(`[data-height="${served.node.chain.height}"]`);
    await pages.expectHome();
  });

  it('shows a block, a transaction and an address as the API has them', async () => {
    const [tip] = await pages.api<ApiBlock[]>('/blocks');
    const hash = tip?.id ?? '';
    await pages.expectBlock(hash);
    const [transaction] = await pages.api<ApiTransaction[]>(`/block/${hash}/txs`);
    await pages.expectTransaction(transaction?.txid ?? '');
    const address = transaction?.vout.find(({ scriptpubkey_address }) => scriptpubkey_address !== undefined)?.scriptpubkey_address;
    await pages.expectAddress(address ?? '');
  });

  it('finds a height, and says what a text could have been that is nothing', async () => {
    const { page } = watched;
    await search('100');
    await page.waitForSelector('h1:has-text("Block 100")');
    await search('ab'.repeat(31));
    await page.waitForSelector('.hints:has-text("this has 62")');
    await page.goBack();
    await page.waitForSelector('h1:has-text("Block 100")');
  });

  it('finds addresses by how they begin, where the node keeps a list of them, and asks for no secret', async () => {
    const { page, asked } = watched;
    // Each version of bcoin has another one for regtest.
    const witnessPrefix = `${served.node.network.addressPrefix.bech32}1q`;
    await until(async () => (await ask(served.port, { path: `/api/address-prefix/${witnessPrefix}` })).status === 200);
    const [address = expect.fail('an address')] = await pages.api<string[]>(`/address-prefix/${witnessPrefix}`);
    await page.goto('/explorer');
    for (const length of [8, 25]) {
      await search(address.slice(0, length));
      await page.locator('.hints a', { hasText: address }).click();
      await page.waitForSelector('h1:has-text("Address")');
    }
    asked.length = 0;
    await search('5HueCGU8rMjxEXxiPuD5BDku4MkFqeZyd4dZ1jvhTVqvbTLvyTJ');
    await page.waitForSelector('.hints:has-text("private key")');
    expect(asked.filter((path) => path.startsWith('/api'))).to.deep.equal([]);
  });

  it('looks for what a link has in the place of a hash or an address, and asks nothing with it as it is', async () => {
    const { page, asked } = watched;
    for (const path of ['/block/100', '/tx/100', '/address/100']) {
      await page.goto(`/explorer${path}`);
      await page.waitForSelector('h1:has-text("Block 100")');
    }
    for (const path of ['/tx/..%2F..%2Frest%2Fchaininfo.json', '/address/Send%20all%20to%20me!', '/block/%E2%80%AEabc']) {
      asked.length = 0;
      await page.goto(`/explorer${path}`);
      await page.waitForSelector('.hints');
      expect(asked.filter((each) => /chaininfo|Send|abc/.test(each) && !each.startsWith('/explorer/'))).to.deep.equal([]);
      expect(await page.title()).to.equal('Search · Explorer');
    }
  });

  it('copies where browsers offer no clipboard, and leaves the focus where it was', async () => {
    const { page } = await watchedPage(browser, served.baseUrl);
    // As over http from another machine.
    await page.addInitScript("Object.defineProperty(navigator, 'clipboard', { value: undefined })");
    await page.goto('/explorer');
    const button = page.getByRole('button', { name: 'Copy the hash of the newest block' });
    await button.focus();
    await page.keyboard.press('Enter');
    await page.waitForSelector('.copy.copied');
    expect(await page.evaluate<string>('document.activeElement.title')).to.equal('Copy the hash of the newest block');
    await page.getByRole('searchbox').focus();
    await page.keyboard.press('Control+V');
    const [tip] = await pages.api<ApiBlock[]>('/blocks');
    expect(await page.getByRole('searchbox').inputValue()).to.equal(tip?.id);
    await page.context().close();
  });

  it('is as light or dark as the system, until the reader has chosen', async () => {
    const { page } = await watchedPage(browser, served.baseUrl);
    await page.goto('/explorer');
    const theme = page.getByRole('button', { name: 'Change the theme' });
    const seen: unknown[] = [];
    for (const choice of ['as the system', 'light', 'dark']) {
      await page.waitForSelector(`button[title="Theme: ${choice}"]`);
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        seen.push(
          await page.evaluate('(({ colorScheme, backgroundColor }) => [colorScheme, backgroundColor])(getComputedStyle(document.body))')
        );
      }
      await theme.click();
    }
    const [light, dark] = [
      ['light', 'rgb(247, 245, 241)'],
      ['dark', 'rgb(18, 16, 13)']
    ];
    expect(seen).to.deep.equal([light, dark, light, light, dark, dark]);
    await page.context().close();
  });

  it('says that a part of it could not be loaded, and loads it when asked', async () => {
    const { page } = await watchedPage(browser, served.baseUrl);
    await page.goto('/explorer');
    await page.waitForSelector('[data-field="tip"]');
    await page.route('**/explorer/assets/*', (route) => route.abort());
    await page.getByRole('searchbox').fill('100');
    await page.keyboard.press('Enter');
    await page.waitForSelector('[role="alert"]:has-text("could not be loaded")');
    await page.unroute('**/explorer/assets/*');
    await page.getByRole('button', { name: 'Load it again' }).click();
    await page.waitForSelector('h1:has-text("Block 100")');
    await page.context().close();
  });

  it('says without scripts that it needs them, and does not say that it is loading', async () => {
    const { page } = await watchedPage(browser, served.baseUrl, { javaScriptEnabled: false });
    await page.goto('/explorer/pool');
    expect(await page.locator('main').innerText()).to.equal('This page draws itself with JavaScript. Programs ask /rest and /api.');
    await page.context().close();
  });

  it('has asked nobody but the node, and written nothing to the console', () => {
    expect(watched.faults).to.deep.equal([]);
  });
});
