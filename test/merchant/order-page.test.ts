// The page of an order in a browser: Debian's Chromium, which asks a real node.

import { join } from 'node:path';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { parseBitcoinUri } from '../../lib/payments';
import { hasBrowser, openBrowser, watchedPage, type WatchedPage } from '../support/client/browser';
import { Faucet, scriptAt } from '../support/chain/faucet';
import { newFolder } from '../support/process/folders';
import { mine } from '../support/bcoin/regtest-node';
import { openRestNode, untilReady, type RestNode } from '../support/node/rest-node';
import { violations } from '../support/client/accessible';
import { AUTHORIZATION, KEY } from './served-merchant';
import type { Browser } from 'playwright-core';

const AMOUNT = 150_000;

describe('the page of an order, in Chromium', () => {
  let served: RestNode;
  let faucet: Faucet;
  let browser: Browser;

  before(async function () {
    if (!hasBrowser()) this.skip(); // chromium is not installed
    served = await openRestNode({ settings: { 'rest-payments': join(await newFolder(), 'shop'), 'api-key': KEY } });
    await untilReady(served);
    faucet = await Faucet.on(served.node, 4);
    browser = await openBrowser();
  });
  after(async () => {
    // Without a browser nothing was opened.
    await (browser as Browser | undefined)?.close();
    await (served as RestNode | undefined)?.node.close();
  });

  const created = async (order: object): Promise<string> => {
    const response = await fetch(`${served.baseUrl}/pay`, {
      method: 'POST',
      headers: { authorization: AUTHORIZATION },
      body: JSON.stringify(order)
    });
    return ((await response.json()) as { url: string }).url;
  };
  /** The page asks at once, and not after its pause. */
  const hurry = ({ page }: WatchedPage): Promise<unknown> => page.evaluate("dispatchEvent(new Event('online'))");

  it('says what to pay and where, and shows by itself when it is seen, and confirmed', async () => {
    const url = await created({
      outputs: [{ amount: AMOUNT, script: `0014${'ab'.repeat(20)}` }],
      memo: 'Two <b>mugs</b>',
      expires: Math.floor(Date.now() / 1_000) + 900,
      merchant_url: 'https://shop.example/cart?a=1&b=2'
    });
    const watched = await watchedPage(browser, served.baseUrl);
    const { page, faults } = watched;
    await page.goto(url);
    expect(await page.locator('h1').textContent()).to.equal('Two <b>mugs</b>');
    expect(await page.locator('.total').textContent()).to.equal('0.0015 BTC');
    expect(await page.locator('.back a').getAttribute('href')).to.equal('https://shop.example/cart?a=1&b=2');
    await page.locator('[data-left]', { hasText: / · 1[45]:\d\d left/ }).waitFor();
    const uri = parseBitcoinUri((await page.getByRole('link', { name: 'Open in your wallet' }).getAttribute('href')) ?? '');
    expect(uri).to.deep.include({ amount: 150_000n, message: 'Two <b>mugs</b>', paymentUrl: url });
    expect(scriptAt(uri.address ?? '').toString('hex')).to.equal(`0014${'ab'.repeat(20)}`);
    expect(await violations(page)).to.deep.equal([]);

    await faucet.pays(uri.address ?? '', AMOUNT);
    await hurry(watched);
    await page.getByRole('status').filter({ hasText: 'Payment seen' }).waitFor();
    expect(await page.getByRole('link', { name: 'Open in your wallet' }).count()).to.equal(0);
    await mine(served.node, 1);
    await hurry(watched);
    await page.getByRole('status').filter({ hasText: '1 confirmation' }).waitFor();
    expect(await page.title()).to.equal('Paid · Two <b>mugs</b>');
    expect(await violations(page)).to.deep.equal([]);
    expect(faults).to.deep.equal([]);
    await page.context().close();
  });

  it('goes on asking after its parts could not be replaced', async () => {
    const script = Buffer.from(`0014${'ef'.repeat(20)}`, 'hex');
    const url = await created({ outputs: [{ amount: AMOUNT, script: script.toString('hex') }] });
    const { page, faults } = await watchedPage(browser, served.baseUrl);
    await page.goto(url);
    await page.locator('button.copy.ready').first().waitFor();
    // As an extension of the browser may do.
    await page.evaluate(`
      const { replaceChildren } = Element.prototype;
      Element.prototype.replaceChildren = function () {
        Element.prototype.replaceChildren = replaceChildren;
        throw new Error('torn');
      };
    `);
    await faucet.sends(script, AMOUNT);
    await page.getByRole('status').filter({ hasText: 'Payment seen' }).waitFor();
    expect(faults).to.have.length(1);
    expect(faults[0]).to.include('torn');
    await page.context().close();
  });

  it('is complete without scripts', async () => {
    const url = await created({ outputs: [{ amount: AMOUNT, script: `0014${'cd'.repeat(20)}` }] });
    const { page, faults } = await watchedPage(browser, served.baseUrl, { javaScriptEnabled: false });
    await page.goto(url);
    expect(await page.locator('.total').textContent()).to.equal('0.0015 BTC');
    expect(await page.locator('svg.qr').count()).to.equal(1);
    expect(await page.locator('.copied code').first().textContent()).to.match(/^bcrt1q/);
    expect(await page.locator('noscript').textContent()).to.include('Load this page again');
    expect(faults).to.deep.equal([]);
    await page.context().close();
  });
});
