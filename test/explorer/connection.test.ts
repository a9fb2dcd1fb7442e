// What open pages show when answers are slow, and when what tells them of changes is cut off or not let through.

import { once } from 'node:events';
import { createServer, request, type Server } from 'node:http';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { hasBrowser, openBrowser, watchedPage, type WatchedPage } from '../support/client/browser';
import { bcoin, type HostKeyRing } from '../support/bcoin/bcoin';
import { DroppingProxy } from '../support/fleet/dropping-proxy';
import { ExplorerPages, type ApiBlock, type ApiTransaction } from '../support/client/explorer-pages';
import { mine, mineOnly } from '../support/bcoin/regtest-node';
import { openRestNode, untilReady, type RestNode } from '../support/node/rest-node';
import { signed } from '../support/chain/signed';
import { until } from '../support/expectations/until';
import type { AddressInfo } from 'node:net';
import type { Browser, Route, WebSocket } from 'playwright-core';
import type { HostTransaction } from '../../lib/node/host';

/** Coins that the owner may spend. */
const COINS = 8;
const MATURE = 100;

describe('an open page of the explorer', () => {
  const closing: (() => Promise<unknown>)[] = [];
  let browser: Browser;
  let served: RestNode;
  let owner: HostKeyRing;
  const coins: HostTransaction[] = [];

  before(async function () {
    if (!hasBrowser()) this.skip(); // chromium is not installed
    browser = await openBrowser();
    closing.push(() => browser.close());
    served = await openRestNode({ settings: { 'rest-explorer': true, 'rest-addresses': true } });
    closing.push(() => served.node.close());
    await untilReady(served);
    owner = bcoin.KeyRing.generate();
    const blocks = await mine(served.node, COINS, undefined, owner.getAddress());
    coins.push(...blocks.flatMap(({ txs }) => txs.slice(0, 1)));
    await mine(served.node, MATURE);
  });
  after(async () => {
    for (const close of closing) await close();
  });

  /** Brings a payment of a whole coin into the pool. */
  async function pay(payee: HostKeyRing): Promise<HostTransaction> {
    const coin = coins.shift() ?? expect.fail('no coin is left');
    const payment = signed(owner, [coin], [[payee.getAddress(), (coin.outputs[0]?.value ?? 0) - 10_000]]);
    await served.node.mempool.addTX(payment);
    return payment;
  }

  const opened = (port: number): Promise<WatchedPage> => watchedPage(browser, `http://127.0.0.1:${port}`);

  describe('whose connection was cut', () => {
    let proxy: DroppingProxy;
    before(async () => {
      proxy = await DroppingProxy.open(served.port);
      closing.unshift(() => proxy.close());
    });

    it('shows what has happened meanwhile, and what happens from then on', async () => {
      const [payee, { node }] = [bcoin.KeyRing.generate(), served];
      const [home, ofAddress, ofTransaction, ofBlock] = await Promise.all([0, 1, 2, 3].map(() => opened(proxy.port)));
      if (!home || !ofAddress || !ofTransaction || !ofBlock) throw new Error('expected four pages');
      const pages = new ExplorerPages(home.page, served.port);
      const all = [home, ofAddress, ofTransaction, ofBlock].map(({ page }) => page);
      const fork = node.chain.tip;
      await mine(node, 1);
      const paid = await pay(payee);
      const [lost] = await pages.api<ApiBlock[]>('/blocks');
      await home.page.goto('/explorer');
      await ofAddress.page.goto(`/explorer/address/${addressOf(payee)}`);
      await ofTransaction.page.goto(`/explorer/tx/${toDisplayHex(paid.hash())}`);
      await ofBlock.page.goto(`/explorer/block/${lost?.id ?? ''}`);
      await Promise.all(all.map((page) => page.waitForSelector('.contact.live')));
      await ofAddress.page.waitForSelector('[data-field="pending"]');
      await ofTransaction.page.waitForSelector('[data-field="state"]:has-text("in the pool")');
      await ofBlock.page.waitForSelector('[data-field="confirmations"]');

      proxy.pull();
      await mineOnly(node, [], await mineOnly(node, [paid], fork));
      await pay(payee);
      proxy.plug();

      await home.page.waitForSelector(`[data-height="${node.chain.height}"]`);
      await home.page.waitForSelector('.block.next:has-text("1 transaction waits")');
      await ofAddress.page.waitForSelector('article:has-text("in the pool")');
      await until(async () => (await ofAddress.page.locator('article[data-txid]').count()) === 2);
      await ofTransaction.page.waitForSelector('[data-field="state"]:has-text("confirmation")');
      await ofBlock.page.waitForSelector('.note:has-text("no longer in the chain")');
      expect(await ofBlock.page.locator('[data-field="confirmations"]').innerText()).to.equal('none');

      await Promise.all(all.map((page) => page.waitForSelector('.contact.live')));
      await pay(payee);
      await until(async () => (await ofAddress.page.locator('article:has-text("in the pool")').count()) === 2);
      await home.page.waitForSelector('.block.next:has-text("2 transactions wait")');
      await mine(node, 1);
      await home.page.waitForSelector(`[data-height="${node.chain.height}"]`);
      await ofTransaction.page.waitForSelector('[data-field="state"]:has-text("3 confirmations")');
      await Promise.all(all.map((page) => page.context().close()));
    });
  });

  describe('whose connection says nothing more', () => {
    let proxy: DroppingProxy;
    before(async () => {
      proxy = await DroppingProxy.open(served.port);
      closing.unshift(() => proxy.close());
    });

    it('connects again once a ping was not answered, but not because a browser has let it sleep', async () => {
      const { page } = await opened(proxy.port);
      const sockets: WebSocket[] = [];
      page.on('websocket', (socket) => sockets.push(socket));
      await page.clock.install();
      await page.goto('/explorer');
      await page.waitForSelector('.contact.live');
      for (let minute = 0; minute < 3; minute++) {
        const answered = sockets[0]?.waitForEvent('framereceived', ({ payload }) => payload.toString().includes('"pong"'));
        await page.clock.fastForward('01:00');
        await answered;
      }
      expect(sockets).to.have.length(1);
      proxy.pull();
      await page.clock.fastForward('01:00');
      await page.clock.fastForward('01:00');
      proxy.plug();
      await until(() => sockets.length > 1);
      await page.context().close();
    });
  });

  it('is told of changes again once the node has answered after all', async () => {
    const { page } = await opened(served.port);
    await page.goto('/explorer');
    await page.waitForSelector('.contact.live');
    await page.route('**/status.json', (route) => route.abort());
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
    await page.waitForSelector('.contact.lost');
    await page.unroute('**/status.json');
    await page.waitForSelector('.contact.live');
    await page.context().close();
  });

  describe('behind a proxy that lets no WebSocket through', () => {
    let proxy: Server;
    before(async () => {
      proxy = withoutWebSockets(served.port).listen(0, '127.0.0.1');
      await once(proxy, 'listening');
    });
    after(() => {
      proxy.close();
    });

    it('asks for changes, and never says that the node does not answer', async () => {
      const { page } = await opened((proxy.address() as AddressInfo).port);
      let attempts = 0;
      page.on('websocket', () => attempts++);
      await page.addInitScript(`addEventListener('DOMContentLoaded', () => new MutationObserver(() => {
        if (document.querySelector('.note.bad, .contact.lost')) window.wasLost = true;
      }).observe(document.body, { childList: true, subtree: true, attributes: true }))`);
      await page.goto('/explorer');
      await page.waitForSelector('[data-field="tip"]');
      await mine(served.node, 1);
      await page.waitForSelector(`[data-height="${served.node.chain.height}"]`);
      await until(() => attempts >= 3);
      await page.waitForSelector('.contact.asking');
      expect(await page.evaluate('window.wasLost')).to.equal(undefined);
      await page.context().close();
    });
  });

  it('shows answers that take longer than changes', async () => {
    const { page } = await opened(served.port);
    // Answers come only when they are let through.
    const held: Route[] = [];
    await page.route('**/api/tx/*', (route) => void held.push(route));
    const paid = await pay(bcoin.KeyRing.generate());
    await page.goto(`/explorer/tx/${toDisplayHex(paid.hash())}`);
    await page.waitForSelector('.contact.live');
    await until(() => held.length === 1);
    await mine(served.node, 1);
    await page.waitForSelector('p.unseen:has-text("is the newest one now")', { state: 'attached' });
    await held.shift()?.continue();
    await page.waitForSelector('[data-field="state"]');
    await until(() => held.length === 1);
    await held.shift()?.continue();
    await page.waitForSelector('[data-field="state"]:has-text("1 confirmation")');
    await page.context().close();
  });

  it('shows no pages of proxies in the place of answers, and tries again', async () => {
    const { page } = await opened(served.port);
    const [body, contentType] = ['<html><h1>from a proxy</h1></html>', 'text/html'];
    const paid = await pay(bcoin.KeyRing.generate());
    for (const status of [502, 429]) {
      await page.route('**/api/tx/*', (route) => route.fulfill({ status, contentType, body }));
      await page.goto(`/explorer/tx/${toDisplayHex(paid.hash())}`);
      await page.waitForSelector('main .note.bad:has-text("Trying again")');
      expect(await page.locator('main').innerText()).not.to.include('proxy');
      await page.unroute('**/api/tx/*');
      await page.waitForSelector('[data-field="state"]');
    }
    await page.context().close();
  });

  it('has the transactions of an address each once, also those that new ones move down the list', async () => {
    const [ring, { node }] = [bcoin.KeyRing.generate(), served];
    await mine(node, 40, undefined, ring.getAddress());
    const { page } = await opened(served.port);
    const pages = new ExplorerPages(page, served.port);
    const held: Route[] = [];
    await page.route('**/txs/chain/*', (route) => void held.push(route));
    await pages.open(`/address/${addressOf(ring)}`, '.contact.live');
    const cards = page.locator('article[data-txid]');
    // The list is drawn in pieces, which push the button down.
    await cards.nth(24).waitFor();
    const asked = page.waitForRequest('**/txs/chain/*');
    await page.getByRole('button', { name: /^Load 15 more/ }).press('Enter');
    await asked;
    await until(() => held.length === 1);
    // Meanwhile a block comes that has none of them, and the newest ones are asked for again. A response does not say when its request fails.
    const again = page.waitForEvent('requestfinished', (request) => request.url().endsWith('/txs'));
    await mine(node, 1);
    await again;
    await held[0]?.continue();
    await cards.nth(39).waitFor();
    await mine(node, 3, undefined, ring.getAddress());
    await cards.nth(42).waitFor();
    expect(await cards.count()).to.equal(43);
    const newest = await pages.api<ApiTransaction[]>(`/address/${addressOf(ring)}/txs`);
    const older = await pages.api<ApiTransaction[]>(`/address/${addressOf(ring)}/txs/chain/${newest.at(-1)?.txid ?? ''}`);
    expect(await page.evaluate("[...document.querySelectorAll('article[data-txid]')].map((one) => one.dataset.txid)")).to.deep.equal(
      [...newest, ...older].map(({ txid }) => txid)
    );
    await page.context().close();
  });
});

const addressOf = (ring: HostKeyRing): string => (ring.getAddress() as { toString(network: string): string }).toString('regtest');

/** Passes requests on, and knows nothing of protocols that they could be upgraded to. */
function withoutWebSockets(port: number): Server {
  return createServer((asked, reply) => {
    const { method, url, headers } = asked;
    if (headers.upgrade !== undefined) {
      reply.writeHead(400).end();
      return;
    }
    const passed = request({ host: '127.0.0.1', port, method, path: url, headers }, (answer) => {
      reply.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(reply);
    });
    asked.pipe(passed);
  });
}
