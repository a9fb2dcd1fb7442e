// What the explorer says of transactions that wait for a block, and of what blocks pay.

import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { hasBrowser, openBrowser, watchedPage, type WatchedPage } from '../support/client/browser';
import { bcoin, type HostKeyRing } from '../support/bcoin/bcoin';
import { ExplorerPages, grouped, type ApiBlock } from '../support/client/explorer-pages';
import { mine, mineOnly } from '../support/bcoin/regtest-node';
import { openRestNode, untilReady, type RestNode } from '../support/node/rest-node';
import { signed } from '../support/chain/signed';
import type { HostTransaction } from '../../lib/node/host';

const MATURE = 101;
const COIN = 5_000_000_000;

describe('a transaction that waits, on its page', () => {
  const closing: (() => Promise<unknown>)[] = [];
  let served: RestNode;
  let watched: WatchedPage;
  let pages: ExplorerPages;
  let owner: HostKeyRing;
  let parent: HostTransaction;
  let child: HostTransaction;

  before(async function () {
    if (!hasBrowser()) this.skip(); // chromium is not installed
    const browser = await openBrowser();
    closing.push(() => browser.close());
    served = await openRestNode({ settings: { 'rest-explorer': true, 'rest-addresses': true } });
    closing.push(() => served.node.close());
    await untilReady(served);
    watched = await watchedPage(browser, served.baseUrl);
    pages = new ExplorerPages(watched.page, served.port);
    owner = bcoin.KeyRing.generate();
    const [first] = await mine(served.node, MATURE, undefined, owner.getAddress());
    const coinbase = first?.txs[0] as HostTransaction; // every block has one
    parent = signed(owner, [coinbase], [[owner.getAddress(), COIN - 1_000]], 2);
    child = signed(owner, [parent], [[owner.getAddress(), COIN - 31_000]], 2);
    await served.node.mempool.addTX(parent);
  });
  after(async () => {
    for (const close of closing) await close();
  });

  it('is expected in the next block, and waits since it entered the pool', async () => {
    const { page } = watched;
    const txid = toDisplayHex(parent.hash());
    await pages.expectTransaction(txid);
    await page.waitForSelector('[data-field="expected"]:has-text("in the next block")');
    await page.waitForSelector('dt:has-text("In the pool since")');
    expect(await page.locator('#others').count()).to.equal(0);
  });

  it('is mined together with what pays for it, as soon as that is there', async () => {
    const { page } = watched;
    const [txid, by] = [toDisplayHex(parent.hash()), toDisplayHex(child.hash())];
    await served.node.mempool.addTX(child);
    await page.waitForSelector(`#others ~ table [data-txid="${by}"]`);
    const { effectiveFeePerVsize } = await pages.api<{ effectiveFeePerVsize: number }>(`/v1/cpfp/${txid}`);
    expect(await pages.field('common-rate')).to.equal(`${effectiveFeePerVsize.toFixed(2)} sat/vB`);
    await pages.expectTransaction(txid);
    await pages.expectTransaction(by);
    await page.waitForSelector(`#others ~ table [data-txid="${txid}"]`);
  });

  it('is like any other once it is in a block, which says what its transactions pay', async () => {
    const { page } = watched;
    await mine(served.node, 1);
    await page.waitForSelector('[data-field="state"]:has-text("1 confirmation")');
    expect(await page.locator('#others, [data-field="expected"]').count()).to.equal(0);
    const [tip] = await pages.api<ApiBlock[]>('/blocks');
    await pages.expectBlock(tip?.id ?? '');
    await page.waitForSelector('[data-field="reward"]');
    expect([await pages.sats('fees'), await pages.sats('reward')]).to.deep.equal([31_000, COIN + 31_000]);
    expect(watched.faults).to.deep.equal([]);
  });

  it('is expected as before after a reorganization that leaves it where it was', async () => {
    const { page } = watched;
    const { node } = served;
    // A reorganization drops what spends young coinbases.
    const next = signed(owner, [child], [[owner.getAddress(), COIN - 41_000]]);
    await node.mempool.addTX(next);
    await pages.open(`/tx/${toDisplayHex(next.hash())}`, '[data-field="expected"]');
    const fork = node.chain.tip;
    const untilShown = (): Promise<unknown> =>
      page.waitForSelector(`p.unseen:has-text("Block ${grouped(node.chain.height)} is the newest one")`, { state: 'attached' });
    await mineOnly(node, [], fork);
    await untilShown();
    await page.waitForSelector('[data-field="expected"]');
    await mineOnly(node, [], await mineOnly(node, [], fork));
    await untilShown();
    expect(await page.locator('[data-field="expected"]').allInnerTexts()).to.deep.equal(['in the next block']);
  });
});

describe('a transaction that was replaced, on its page', () => {
  it('names the one that has taken its place, also when the page is loaded again', async function () {
    if (!hasBrowser()) this.skip(); // chromium is not installed
    const browser = await openBrowser();
    const served = await openRestNode({ settings: { 'rest-explorer': true, 'rest-addresses': true, 'rest-pool': 'modern' } });
    try {
      await untilReady(served);
      const owner = bcoin.KeyRing.generate();
      const [first] = await mine(served.node, MATURE, undefined, owner.getAddress());
      const coinbase = first?.txs[0] as HostTransaction; // every block has one
      const [replaced, by] = [1_000, 20_000].map((fee) => signed(owner, [coinbase], [[owner.getAddress(), COIN - fee]]));
      if (!replaced || !by) throw new Error('expected two transactions');
      const { page } = await watchedPage(browser, served.baseUrl);
      await served.node.mempool.addTX(replaced);
      await page.goto(`/explorer/tx/${toDisplayHex(replaced.hash())}`);
      await page.waitForSelector('[data-field="expected"]');
      await served.node.mempool.addTX(by);
      const notice = `.note:has-text("taken its place") a[href$="${toDisplayHex(by.hash())}"]`;
      await page.waitForSelector(notice);
      await page.reload();
      await page.waitForSelector(notice);
    } finally {
      await browser.close();
      await served.node.close();
    }
  });
});
