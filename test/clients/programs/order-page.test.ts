// The page of an order, paid by a wallet of BDK's while it is open.

import { join } from 'node:path';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { parseBitcoinUri } from '../../../lib/payments';
import { violations } from '../../support/client/accessible';
import { AUTHORIZATION, KEY } from '../../merchant/served-merchant';
import { hasBrowser, openBrowser, watchedPage, type WatchedPage } from '../../support/client/browser';
import { withEarlyForks } from '../../support/chain/early-forks';
import { newFolder } from '../../support/process/folders';
import { freePort, mineOnly } from '../../support/bcoin/regtest-node';
import { BdkWallet } from '../bdk-wallet';
import { WalletNode } from '../wallet-node';
import type { Browser } from 'playwright-core';

const AMOUNT = 1_500_000;
const WIDTHS = [320, 768, 1_280, 2_560];

let orders = 0;

describe('the page of an order, which a wallet of BDK’s pays', function () {
  this.timeout(300_000);
  withEarlyForks();
  let served: WalletNode;
  let wallet: BdkWallet;
  let browser: Browser;

  before(async function () {
    if (!hasBrowser()) this.skip(); // chromium is not installed
    const httpPort = await freePort();
    const folder = await newFolder();
    served = await WalletNode.open(
      8,
      { 'rest-payments': join(folder, 'shop'), 'api-key': KEY, 'http-port': httpPort },
      join(folder, 'node')
    );
    wallet = await BdkWallet.open(served.port);
    await served.faucet.pays(await wallet.newAddress(), 100_000_000);
    await served.confirm();
    await wallet.sync();
    browser = await openBrowser();
  });
  after(async () => {
    await (browser as Browser | undefined)?.close();
    await (wallet as BdkWallet | undefined)?.close();
    await (served as WalletNode | undefined)?.close();
  });

  const baseUrl = (): string => `http://127.0.0.1:${served.port}`;
  const created = async (more: object = {}): Promise<string> => {
    const script = `0014${(++orders).toString(16).padStart(40, '0')}`;
    const order = { outputs: [{ amount: AMOUNT, script }], memo: 'Two mugs', ...more };
    const response = await fetch(`${baseUrl()}/pay`, {
      method: 'POST',
      headers: { authorization: AUTHORIZATION },
      body: JSON.stringify(order)
    });
    expect(response.status, await response.clone().text()).to.equal(201);
    return ((await response.json()) as { url: string }).url;
  };
  const uriOn = async ({ page }: WatchedPage): Promise<ReturnType<typeof parseBitcoinUri>> =>
    parseBitcoinUri((await page.getByRole('link', { name: 'Open in your wallet' }).getAttribute('href')) ?? '');
  const says = ({ page }: WatchedPage, text: string | RegExp): Promise<void> =>
    page.getByRole('status').filter({ hasText: text }).waitFor();

  it('follows a payment in two parts, from the URI that it shows, to its confirmation', async () => {
    const watched = await watchedPage(browser, baseUrl());
    const { page, faults } = watched;
    await page.goto(await created());
    await says(watched, 'Waiting for your payment');
    const { address = '', amount } = await uriOn(watched);
    expect(amount).to.equal(BigInt(AMOUNT));
    await wallet.send(address, 500_000);
    await says(watched, '0.01 BTC is missing');
    // The wallet is asked for the rest, and not sent to the request, which asks for everything.
    const rest = await uriOn(watched);
    expect(rest).to.deep.equal({ address, amount: 1_000_000n, message: 'Two mugs' });
    await wallet.sync();
    await wallet.send(address, Number(rest.amount));
    await says(watched, 'Payment seen');
    await served.confirm();
    await says(watched, '1 confirmation');
    await served.confirm();
    await page.bringToFront();
    await says(watched, '2 confirmations');
    await wallet.sync();
    expect(faults).to.deep.equal([]);
    await page.context().close();
  });

  it('shows a payment wait again when a reorganization takes its block away', async () => {
    const watched = await watchedPage(browser, baseUrl());
    await watched.page.goto(await created());
    const { address = '' } = await uriOn(watched);
    await wallet.send(address, AMOUNT);
    const before = served.node.chain.tip;
    await served.confirm();
    await says(watched, '1 confirmation');
    // bcoin gives transactions back to a pool that is not empty.
    await served.faucet.pays(await wallet.newAddress(), 20_000);
    await mineOnly(served.node, [], await mineOnly(served.node, [], before));
    await says(watched, 'Payment seen');
    await served.confirm();
    await wallet.sync();
    expect(watched.faults).to.deep.equal([]);
    await watched.page.context().close();
  });

  it('expires by itself, and offers no way to pay then', async () => {
    const watched = await watchedPage(browser, baseUrl());
    const { page, faults } = watched;
    await page.goto(await created({ expires: Math.floor(Date.now() / 1_000) + 9 }));
    await page.getByText(/0:0\d left/).waitFor();
    await page.getByRole('link', { name: 'Open in your wallet' }).focus();
    await says(watched, 'This request has expired');
    expect(await page.locator('.pay').textContent()).to.equal('');
    // What had the focus is gone: it goes to what has changed.
    expect(await page.evaluate<string>("document.activeElement.getAttribute('role')")).to.equal('status');
    expect(faults).to.deep.equal([]);
    await page.context().close();
  });

  it('copies address and amount', async () => {
    const watched = await watchedPage(browser, baseUrl(), { permissions: ['clipboard-read', 'clipboard-write'] });
    const { page, faults } = watched;
    await page.goto(await created());
    const { address } = await uriOn(watched);
    const copied = async (name: string): Promise<string> => {
      await page.getByRole('button', { name }).click();
      return page.evaluate<string>('navigator.clipboard.readText()');
    };
    expect(await copied('Copy the address')).to.equal(address);
    expect(await copied('Copy the amount')).to.equal('0.015');
    expect(faults).to.deep.equal([]);
    await page.context().close();
  });

  it('survives going back and forward, loading again, and a node that goes away and comes back', async () => {
    const watched = await watchedPage(browser, baseUrl());
    const { page } = watched;
    const [first, second] = [await created({ memo: 'First' }), await created({ memo: 'Second' })];
    await page.goto(first);
    await page.goto(second);
    await page.goBack();
    expect(await page.locator('h1').textContent()).to.equal('First');
    await says(watched, 'Waiting for your payment');
    await page.goForward();
    await page.reload();
    expect(await page.locator('h1').textContent()).to.equal('Second');
    expect(watched.faults).to.deep.equal([]);

    await page.context().setOffline(true);
    await says(watched, 'The server does not answer');
    await served.restart();
    await page.context().setOffline(false);
    await page.getByText('The server does not answer').waitFor({ state: 'hidden' });
    const { address = '' } = await uriOn(watched);
    await wallet.send(address, AMOUNT);
    await says(watched, 'Payment seen');
    await served.confirm();
    await wallet.sync();
    expect(watched.faults.filter((fault) => !/net::ERR_INTERNET_DISCONNECTED|status of 503/.test(fault))).to.deep.equal([]);
    await page.context().close();
  });

  it('says that there is no such order, and lists orders to the merchant alone', async () => {
    const { page } = await watchedPage(browser, baseUrl());
    expect((await page.goto(`/pay/${'0'.repeat(32)}`))?.status()).to.equal(404);
    expect(await page.locator('h1').textContent()).to.equal('There is no such order');
    expect((await page.goto('/pay').catch(() => null))?.status() ?? 401).to.equal(401);
    await page.context().close();

    const merchant = await watchedPage(browser, baseUrl(), { httpCredentials: { username: 'x', password: KEY } });
    await merchant.page.goto('/pay');
    expect(await merchant.page.getByRole('row').count()).to.be.greaterThan(5);
    await merchant.page.getByRole('link', { name: 'expired' }).click();
    await merchant.page.getByRole('row', { name: /Two mugs expired/ }).waitFor();
    expect(await merchant.page.getByRole('row').count()).to.equal(2);
    await merchant.page.getByRole('link', { name: 'Two mugs' }).click();
    await says(merchant, 'This request has expired');
    expect(merchant.faults).to.deep.equal([]);
    await merchant.page.context().close();
  });

  it('breaks no rule of accessibility and fits, light and dark, narrow and wide, in every state', async () => {
    const underpaid = await created();
    const open = await created({
      expires: Math.floor(Date.now() / 1_000) + 3_600,
      memo: 'a'.repeat(300),
      merchant_url: 'https://shop.example'
    });
    const several = await created({ outputs: [1, 2].map((n) => ({ amount: AMOUNT, script: `0014${'0f'.repeat(19)}0${n}` })) });
    const watched = await watchedPage(browser, baseUrl());
    await watched.page.goto(underpaid);
    await wallet.send((await uriOn(watched)).address ?? '', 500_000);
    await says(watched, 'is missing');
    await watched.page.context().close();
    const { orders: listed } = (await (
      await fetch(`${baseUrl()}/pay?limit=100`, { headers: { authorization: AUTHORIZATION } })
    ).json()) as {
      orders: { url: string; status: string }[];
    };
    const byStatus = new Map(listed.map(({ url, status }) => [status, url]));
    expect([...byStatus.keys()]).to.have.members(['open', 'underpaid', 'confirmed', 'expired']);
    const pages = [...byStatus.values(), open, several, `/pay/${'0'.repeat(32)}`, '/pay', '/pay?status=lost'];
    // Colours depend on the theme, layout on the width: the rules are judged once in each theme, narrow and wide.
    for (const [colorScheme, judged] of [
      ['light', 320],
      ['dark', 2_560]
    ] as const) {
      const { page } = await watchedPage(browser, baseUrl(), { colorScheme, httpCredentials: { username: 'x', password: KEY } });
      for (const url of pages) {
        await page.goto(url);
        for (const width of colorScheme === 'light' ? WIDTHS : [judged]) {
          await page.setViewportSize({ width, height: 900 });
          const beyond = await page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth');
          expect(beyond, `${url} ${width}`).to.equal(0);
          if (width === judged) expect(await violations(page), `${url} ${colorScheme} ${width}`).to.deep.equal([]);
        }
      }
      await page.context().close();
    }
  });
});
