import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { hasBrowser, openBrowser, watchedPage, type WatchedPage } from '../support/browser';
import { bcoin } from '../support/bcoin';
import { chainAPool } from '../support/chain-a';
import { openChainANode } from '../support/chain-a-node';
import { ExplorerPages, type ApiBlock, type ApiTransaction } from '../support/explorer-pages';
import { mine } from '../support/regtest-node';
import type { RestNode } from '../support/rest-node';

// What takes longer is in test/clients/programs/explorer.test.ts.
describe('the explorer in a browser', function () {
  this.timeout(30_000);
  const closing: (() => Promise<unknown>)[] = [];
  let served: RestNode;
  let watched: WatchedPage;
  let pages: ExplorerPages;

  before(async function () {
    if (!hasBrowser()) {
      console.log('    skipped: chromium is not installed');
      this.skip();
    }
    const browser = await openBrowser();
    closing.push(() => browser.close());
    served = await openChainANode({ 'rest-explorer': true, 'rest-addresses': true });
    closing.push(() => served.node.close());
    for (const raw of chainAPool().slice(0, 5)) await served.node.mempool.addTX(bcoin.TX.fromRaw(raw));
    watched = await watchedPage(browser, served.baseUrl);
    pages = new ExplorerPages(watched.page, served.port);
  });
  after(async () => {
    for (const close of closing) await close();
  });

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
    const search = async (text: string): Promise<void> => {
      await page.getByRole('searchbox').fill(text);
      await page.keyboard.press('Enter');
    };
    await search('100');
    await page.waitForSelector('h1:has-text("Block 100")');
    await search('ab'.repeat(31));
    await page.waitForSelector('.hints:has-text("this has 62")');
    await page.goBack();
    await page.waitForSelector('h1:has-text("Block 100")');
  });

  it('has asked nobody but the node, and written nothing to the console', () => {
    expect(watched.faults).to.deep.equal([]);
  });
});
