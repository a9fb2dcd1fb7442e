// The explorer in Debian's Chromium: all pages, in all sizes and both themes, with what goes wrong and what strangers write.

import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { scriptHashOf } from '../../../lib/bitcoin/hash';
import { violations } from '../../support/client/accessible';
import { ask } from '../../support/client/http';
import { hasBrowser, openBrowser, watchedPage, type WatchedPage } from '../../support/client/browser';
import { bcoin, type HostKeyRing } from '../../support/bcoin/bcoin';
import { makeBusy, type Busy } from '../../support/node/busy-node';
import { copiedChain, fillChainAPool, openChainANode } from '../../support/node/chain-a-node';
import { ExplorerPages, grouped, type ApiBlock, type ApiTransaction } from '../../support/client/explorer-pages';
import { freePort, mine, mineOnly } from '../../support/bcoin/regtest-node';
import { openRestNode, untilReady, type RestNode } from '../../support/node/rest-node';
import { signed } from '../../support/chain/signed';
import { until } from '../../support/expectations/until';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import type { HostTransaction } from '../../../lib/node/host';

const EXPLORER = { 'rest-explorer': true, 'rest-addresses': true };

const OVERFLOW = 'document.documentElement.scrollWidth - innerWidth';
const OUTPUT_AMOUNTS = `[...document.querySelectorAll('article[data-txid]')].map((card) => [
  card.dataset.txid, [...card.querySelectorAll('[data-output] [data-sats]')].map((one) => one.dataset.sats)])`;

const WIDTHS = [320, 375, 768, 1_280, 2_560];
/** Colours depend on the theme, layout on the width: the rules are judged once in each theme, narrow and wide. */
const JUDGED = { light: 320, dark: 1_280 } as const;
const THEMES = ['light', 'dark'] as const;

/** What a browser writes to its console by itself when a request is refused, or its node has gone. */
const isOfRequest = (fault: string): boolean => /Failed to load resource|WebSocket connection to/.test(fault);

describe('the explorer', function () {
  this.timeout(240_000);
  let browser: Browser;
  const open: RestNode[] = [];
  const closing: (() => Promise<unknown>)[] = [];

  before(async function () {
    if (!hasBrowser()) this.skip(); // chromium is not installed
    browser = await openBrowser();
    closing.push(() => browser.close());
  });
  after(async () => {
    for (const close of closing) await close();
    for (const { node } of open) if (node.opened) await node.close();
  });

  const kept = async (opening: Promise<RestNode>): Promise<RestNode> => {
    const served = await opening;
    open.push(served);
    return served;
  };
  const watch = (served: RestNode, options?: BrowserContextOptions): Promise<WatchedPage> => watchedPage(browser, served.baseUrl, options);

  async function chainA(settings: Readonly<Record<string, unknown>> = EXPLORER): Promise<RestNode> {
    const served = await kept(openChainANode(settings));
    await fillChainAPool(served.node);
    return served;
  }

  describe('over chain A', () => {
    let served: RestNode;
    let watched: WatchedPage;
    let pages: ExplorerPages;
    let page: Page;

    before(async () => {
      served = await chainA();
      watched = await watch(served);
      ({ page } = watched);
      pages = new ExplorerPages(page, served.port);
    });
    after(async () => {
      await page.context().close();
      await served.node.close();
    });

    it('shows the pool, and the newest of its transactions', async () => {
      await pages.expectHome();
      await pages.expectPool();
      await pages.expectPoolChart();
      for (const { txid } of (await pages.api<ApiTransaction[]>('/mempool/recent')).slice(0, 5)) await pages.expectTransaction(txid);
    });

    it('shows transactions with each kind of output, and the addresses of these', async () => {
      interface Found extends ApiTransaction {
        readonly vout: readonly { readonly value: number; readonly scriptpubkey_type: string; readonly scriptpubkey_address?: string }[];
      }
      const kinds = new Map<string, { readonly txid: string; readonly address: string | undefined }>();
      const [tip] = await pages.api<ApiBlock[]>('/blocks');
      for (let height = tip?.height ?? 0; height > 0; height -= 10) {
        for (const block of await pages.api<ApiBlock[]>(`/blocks/${height}`)) {
          if (block.tx_count === 1) continue;
          for (const { txid, vout } of await pages.api<Found[]>(`/block/${block.id}/txs`))
            for (const { scriptpubkey_type, scriptpubkey_address } of vout)
              if (!kinds.has(scriptpubkey_type)) kinds.set(scriptpubkey_type, { txid, address: scriptpubkey_address });
        }
      }
      expect([...kinds.keys()]).to.include.members(['p2pk', 'p2pkh', 'p2sh', 'op_return', 'v0_p2wpkh', 'v0_p2wsh', 'v1_p2tr', 'unknown']);
      for (const { txid, address } of kinds.values()) {
        await pages.expectTransaction(txid);
        if (address !== undefined) await pages.expectAddress(address);
      }
    });

    it('shows blocks page by page', async () => {
      const blocks = await pages.api<ApiBlock[]>('/blocks');
      for (const { id } of blocks.slice(0, 3)) await pages.expectBlock(id);
    });

    it('unfolds scripts and witnesses, and shows the bytes', async () => {
      const [tip] = await pages.api<ApiBlock[]>('/blocks');
      let found: string | undefined;
      for (let height = tip?.height ?? 0; found === undefined && height > 0; height -= 10)
        for (const { id } of await pages.api<ApiBlock[]>(`/blocks/${height}`)) {
          const list = await pages.api<{ txid: string; vin: { witness?: string[]; is_coinbase: boolean }[] }[]>(`/block/${id}/txs`);
          found ??= list.find(({ vin }) => vin[0]?.is_coinbase !== true && (vin[0]?.witness?.length ?? 0) > 0)?.txid;
        }
      const { vin } = await pages.api<{ vin: { witness: string[] }[] }>(`/tx/${found ?? ''}`);
      await pages.open(`/tx/${found ?? ''}`, '[data-field="state"]');
      await page.locator('[data-input="0"] summary').click();
      await page.waitForSelector('[data-input="0"] .witness pre');
      expect(await page.locator('[data-input="0"] .witness li pre').allInnerTexts()).to.deep.equal(vin[0]?.witness);
      await page.getByRole('button', { name: /as hex/ }).click();
      const shown = await page.locator('section[aria-labelledby="raw"] pre').innerText();
      const hex = (await ask(served.port, { path: `/api/tx/${found ?? ''}/hex` })).body.toString();
      expect(hex.startsWith(shown.replace(/…$/, ''))).to.equal(true);
    });

    it('finds heights, hashes, outputs, scripts and addresses', async () => {
      const [, below] = await pages.api<ApiBlock[]>('/blocks');
      const { txid, vout } =
        (await pages.api<(ApiTransaction & { vout: { scriptpubkey: string }[] })[]>(`/block/${below?.id ?? ''}/txs`))[0] ?? expect.fail();
      const address = vout.find(({ scriptpubkey_address }) => scriptpubkey_address !== undefined)?.scriptpubkey_address ?? '';
      const script = scriptHashOf(Buffer.from(vout[0]?.scriptpubkey ?? '', 'hex')).toString('hex');
      const searches: readonly (readonly [text: string, path: string])[] = [
        [String(below?.height), `/explorer/block/${below?.id ?? ''}`],
        [below?.id ?? '', `/explorer/block/${below?.id ?? ''}`],
        [txid, `/explorer/tx/${txid}`],
        [`${txid}:0`, `/explorer/tx/${txid}?output=0`],
        [address, `/explorer/address/${address}`],
        [script, `/explorer/scripthash/${script}`],
        [(txid.match(/../g) ?? []).reverse().join(''), `/explorer/tx/${txid}`]
      ];
      for (const [text, path] of searches) {
        await search(page, text);
        await page.waitForURL(`**${path}`);
        await page.waitForSelector('[data-field]');
      }
      await page.waitForSelector('[data-field="weight"]');
      await search(page, `${txid}:0`);
      await page.waitForSelector('.pointed[data-output="0"]');
    });

    it('says what a text could have been that is nothing', async () => {
      const searches: readonly (readonly [text: string, hint: string])[] = [
        ['99999', 'There is no block 99,999 yet'],
        ['ab'.repeat(32), 'no block, no transaction'],
        ['ab'.repeat(31), 'this has 62'],
        ['bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4', 'an address of the main network. This node is on regtest'],
        ['bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt08p', 'checksum does not fit'],
        ['5HueCGU8rMjxEXxiPuD5BDku4MkFqeZyd4dZ1jvhTVqvbTLvyTJ', 'private key'],
        ['<img src=x onerror=alert(1)>', 'neither a height'],
        ['%E0%A4%A', 'neither a height']
      ];
      for (const [text, hint] of searches) {
        watched.asked.length = 0;
        await search(page, text);
        await page.waitForSelector(`.hints:has-text("${hint}")`);
        // Secrets stay in the browser.
        if (hint !== 'private key') continue;
        expect(watched.asked.filter((path) => path.startsWith('/api'))).to.deep.equal([]);
        expect(page.url()).to.not.include(text);
      }
    });

    it('goes back and forward, and is the same after a reload', async () => {
      await pages.open('', '[data-height]');
      await page.locator('[data-height] a').first().click();
      await page.waitForSelector('article[data-txid]');
      const block = page.url();
      await page.locator('article header a').first().click();
      await page.waitForSelector('[data-field="state"]');
      await page.goBack();
      await page.waitForSelector('article[data-txid]');
      expect(page.url()).to.equal(block);
      await page.goForward();
      await page.waitForSelector('[data-field="state"]');
      await page.reload();
      await page.waitForSelector('[data-field="state"]');
      expect(await page.title()).to.match(/^Transaction /);
    });

    it('returns to where the reader was', async () => {
      await page.setViewportSize({ width: 600, height: 500 });
      await pages.open('', '[data-field="difficulty"]');
      await page.mouse.wheel(0, 300);
      await until(async () => (await page.evaluate<number>('scrollY')) > 200);
      await page.locator('[data-field="tip"]').click();
      await page.waitForSelector('article[data-txid]');
      expect(await page.evaluate<number>('scrollY')).to.equal(0);
      await page.goBack();
      await until(async () => (await page.evaluate<number>('scrollY')) > 200);
      await page.setViewportSize({ width: 1_280, height: 720 });
    });

    it('shows amounts in the unit that the reader has chosen, from then on', async () => {
      await pages.open('/pool', '[data-field="count"]');
      await page.getByRole('button', { name: /Amounts in BTC/ }).click();
      await page.reload();
      await page.waitForSelector('tr[data-txid]');
      const row = page.locator('tr[data-txid] [data-sats]').first();
      expect(await row.innerText()).to.equal(`${grouped(Number(await row.getAttribute('data-sats')))} sats`);
      await page.getByRole('button', { name: /Amounts in sats/ }).click();
    });

    it('can be used with the keyboard alone', async () => {
      await pages.open('', '[data-height]');
      await page.keyboard.press('Tab');
      expect(await page.evaluate<string>('document.activeElement.textContent')).to.equal('To the content');
      await page.getByRole('searchbox').focus();
      await page.keyboard.type('1');
      await page.keyboard.press('Enter');
      await page.waitForSelector('h1:has-text("Block 1")');
      // A new page is read from its beginning.
      expect(await page.evaluate<string>('document.activeElement.id')).to.equal('main');
    });

    it('has asked nobody but the node, and written nothing to the console', () => {
      expect(watched.faults).to.deep.equal([]);
    });

    it('has no barrier on any page, in either theme, and fits into any width', async () => {
      const [tip] = await pages.api<ApiBlock[]>('/blocks');
      const [{ txid, vout } = expect.fail()] = await pages.api<ApiTransaction[]>(`/block/${tip?.id ?? ''}/txs`);
      const address = vout.find(({ scriptpubkey_address }) => scriptpubkey_address !== undefined)?.scriptpubkey_address ?? '';
      const [pooled] = await pages.api<ApiTransaction[]>('/mempool/recent');
      const all: readonly (readonly [path: string, shown: string])[] = [
        ['', '.pool-chart'],
        ['/pool', '.pool-chart'],
        [`/block/${tip?.id ?? ''}`, 'article[data-txid]'],
        [`/tx/${txid}`, '[data-field="state"]'],
        [`/tx/${pooled?.txid ?? ''}`, '[data-field="state"]'],
        [`/address/${address}`, 'article[data-txid]'],
        [`/address/${address}?view=coins`, '[data-coin]'],
        ['/search?q=abc', '.hints'],
        ['/nothing', 'h1:has-text("no such page")']
      ];
      for (const colorScheme of THEMES) {
        const { page: themed } = await watch(served, { colorScheme });
        // Every other page has all parts that have colours.
        for (const [path, shown] of all.filter((_, i) => colorScheme === 'light' || i % 2 === 0)) {
          await themed.goto(`/explorer${path}`);
          await themed.waitForSelector(shown);
          for (const details of await themed.locator('details').all()) if (path.startsWith('/tx')) await details.locator('summary').click();
          if (colorScheme === 'light')
            for (const width of WIDTHS) {
              await themed.setViewportSize({ width, height: 900 });
              const over = await themed.evaluate<number>(OVERFLOW);
              expect(over, `${path} in ${width} pixels`).to.be.at.most(0);
            }
          const width = JUDGED[colorScheme];
          await themed.setViewportSize({ width, height: 900 });
          expect(await violations(themed), `${path}, ${colorScheme}, ${width}`).to.deep.equal([]);
        }
        await themed.context().close();
      }
    });
  });

  describe('live', () => {
    it('follows blocks and a reorganization, and says that a block has left the chain', async () => {
      const served = await chainA();
      const { node } = served;
      const [{ page, faults }, { page: other }] = [await watch(served), await watch(served)];
      const pages = new ExplorerPages(page, served.port);
      await pages.open('', '.contact.live');
      const fork = node.chain.tip;
      const [lost] = await mine(node, 1);
      await page.waitForSelector(`[data-height="${node.chain.height}"]`);
      const [tip] = await pages.api<ApiBlock[]>('/blocks');
      const onLost = new ExplorerPages(other, served.port);
      await onLost.open(`/block/${tip?.id ?? ''}`, '[data-field="confirmations"]');
      await mine(node, 2, fork);
      await page.waitForSelector(`[data-height="${node.chain.height}"]`);
      await pages.expectHome();
      await other.waitForSelector('.note:has-text("no longer in the chain")');
      expect(lost).not.to.equal(undefined);
      expect(faults).to.deep.equal([]);
      await node.close();
      await Promise.all([page.context().close(), other.context().close()]);
    });

    it('shows a payment to an address as it comes into the pool, and as it is confirmed', async () => {
      const served = await kept(openRestNode({ settings: EXPLORER }));
      const { node } = served;
      await untilReady(served);
      const ring = bcoin.KeyRing.generate();
      const [first] = await mine(node, 101, undefined, ring.getAddress());
      const payee = bcoin.KeyRing.generate();
      const address = addressOf(payee);
      const { page, faults } = await watch(served);
      const pages = new ExplorerPages(page, served.port);
      await pages.open(`/address/${address}`, '[data-field="balance"]');
      await page.waitForSelector('.contact.live');
      const payment = signed(ring, [first?.txs[0] as HostTransaction], [[payee.getAddress(), 4_999_990_000]]);
      await node.mempool.addTX(payment);
      await page.waitForSelector('[data-field="pending"]');
      await pages.expectAddress(address);
      const txid = (await pages.api<ApiTransaction[]>(`/address/${address}/txs`))[0]?.txid ?? '';
      await pages.expectTransaction(txid);
      await mine(node, 1);
      await page.waitForSelector('[data-field="state"]:has-text("1 confirmation")');
      await pages.expectAddress(address);
      expect(faults).to.deep.equal([]);
      await page.context().close();
      await node.close();
    });

    it('shows what a node is waiting for, and turns into the explorer by itself', async () => {
      const served = await kept(openRestNode({ settings: { ...EXPLORER, network: 'main', 'rest-warmup': 'synced' } }));
      const { page, faults } = await watch(served);
      await page.goto('/explorer');
      await page.waitForSelector('h1:has-text("getting ready")');
      await page.waitForSelector('[data-job="chain"] [role="progressbar"]');
      expect(await page.evaluate<string[]>("[...document.querySelectorAll('[data-job]')].map((job) => job.dataset.job)")).to.deep.equal([
        'chain',
        'index',
        'rehearsal',
        'scripts'
      ]);
      await expectNoBarrier(page);
      const { chain } = served.node as unknown as { readonly chain: { synced: boolean; emit(event: string): void } };
      chain.synced = true;
      chain.emit('full');
      await page.waitForSelector('[data-field="tip"]');
      expect(await page.locator('[data-field="tip"]').innerText()).to.equal('0');
      expect(faults).to.deep.equal([]);
      await page.context().close();
      await served.node.close();
    });

    it('goes on when the node has gone away and comes back', async () => {
      const prefix = await copiedChain();
      const httpPort = await freePort();
      const settings = { ...EXPLORER, httpPort };
      const before = await kept(openRestNode({ prefix, settings }));
      await untilReady(before);
      const { page, faults } = await watch(before);
      const pages = new ExplorerPages(page, httpPort);
      await pages.open('', '.contact.live');
      await before.node.close();
      await page.waitForSelector('.note.bad:has-text("does not answer")');
      const again = await kept(openRestNode({ prefix, settings }));
      await untilReady(again);
      await page.waitForSelector('.contact.live', { timeout: 60_000 });
      await mine(again.node, 1);
      await page.waitForSelector(`[data-height="${again.node.chain.height}"]`);
      await pages.expectHome();
      expect(faults.filter((fault) => !isOfRequest(fault))).to.deep.equal([]);
      await page.context().close();
      await again.node.close();
    });
  });

  describe('on a node with other options', () => {
    it('without --rest-addresses shows the rest, and says what is left out', async () => {
      const served = await chainA({ 'rest-explorer': true });
      const { page, faults } = await watch(served);
      await page.goto('/explorer');
      await page.waitForSelector('#missing:has-text("--rest-addresses")');
      await page.waitForSelector(`[data-height="${served.node.chain.height}"]`);
      await page.waitForSelector('.pool-chart .bar-row');
      expect(await violations(page)).to.deep.equal([]);
      await page.locator('[data-height] a').first().click();
      await page.waitForSelector('article[data-txid]');
      // The amounts of Bitcoin Core's JSON are decimals: what is shown are whole satoshis.
      const cards = await page.evaluate<[txid: string, amounts: string[]][]>(OUTPUT_AMOUNTS);
      for (const [txid, amounts] of cards) {
        const { body } = await ask(served.port, { path: `/rest/tx/${txid}.json` });
        const { vout } = JSON.parse(body.toString()) as { vout: { value: number }[] };
        expect(amounts).to.deep.equal(vout.slice(0, 5).map(({ value }) => String(Math.round(value * 100_000_000))));
      }
      await page.locator('article header a').last().click();
      await page.waitForSelector('[data-field="state"]');
      await mine(served.node, 1);
      await page.goto('/explorer');
      await page.waitForSelector(`[data-height="${served.node.chain.height}"]`);
      await search(page, 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080');
      await page.waitForSelector('.hints:has-text("no index by script")');
      expect(faults).to.deep.equal([]);
      await page.context().close();
      await served.node.close();
    });

    it('with --rest-auth asks for the key, and keeps it as long as the tab is open', async () => {
      const served = await chainA({ ...EXPLORER, 'rest-auth': true, 'api-key': 'the key' });
      const { page, faults } = await watch(served);
      await page.goto('/explorer/pool');
      await page.getByRole('textbox', { name: 'Key' }).fill('“the key”');
      await expectNoBarrier(page);
      await page.getByRole('button', { name: 'Open' }).click();
      await page.waitForSelector('[role="alert"]:has-text("not the key")');
      await page.getByRole('textbox', { name: 'Key' }).fill('the key');
      await page.getByRole('button', { name: 'Open' }).click();
      await page.waitForSelector('[data-field="count"]');
      await page.reload();
      await page.waitForSelector('[data-field="count"]');
      // Nothing tells the page of blocks: it asks.
      await page.goto('/explorer');
      await mine(served.node, 1);
      await page.waitForSelector(`[data-height="${served.node.chain.height}"]`);
      // Nor of payments.
      const [ring, payee] = [bcoin.KeyRing.generate(), bcoin.KeyRing.generate()];
      const [first] = await mine(served.node, 101, undefined, ring.getAddress());
      await page.goto(`/explorer/address/${addressOf(payee)}`);
      await page.waitForSelector('[data-field="balance"]');
      const coinbase = first?.txs[0] as HostTransaction; // every block has one
      const paid = (coinbase.outputs[0]?.value ?? 0) - 10_000;
      await served.node.mempool.addTX(signed(ring, [coinbase], [[payee.getAddress(), paid]]));
      await page.waitForSelector('[data-field="pending"]');
      expect(faults.filter((fault) => !isOfRequest(fault))).to.deep.equal([]);
      await page.context().close();
      await served.node.close();
    });
  });

  describe('over what strangers write', () => {
    it('shows markup, surrogates, turned texts and a megabyte of data as texts', async () => {
      const served = await kept(openRestNode({ settings: EXPLORER }));
      const { node } = served;
      await untilReady(served);
      const ring = bcoin.KeyRing.generate();
      const markup = '<img src=x onerror="document.title=1"><script>alert(1)</script>';
      const miner = node.miner as unknown as { options: { coinbaseFlags: Buffer } };
      miner.options.coinbaseFlags = Buffer.from('<b onclick=alert(1)>');
      const [first] = await mine(node, 101, undefined, ring.getAddress());
      const texts = [
        Buffer.from(markup),
        Buffer.from('abc\u202edef\u0000\u200bghi'),
        Buffer.from(`${'61'.repeat(9)}eda080${'62'.repeat(9)}`, 'hex'),
        Buffer.alloc(900_000, 0x41)
      ];
      const outputs = texts.map((data) => [dataScript(data), 0] as const);
      const transaction = signed(ring, [first?.txs[0] as HostTransaction], [...outputs, [ring.getAddress(), 4_000_000_000]]);
      await mineOnly(node, [transaction]);
      const { page, faults } = await watch(served);
      const pages = new ExplorerPages(page, served.port);
      const [tip] = await pages.api<ApiBlock[]>('/blocks');
      await pages.expectBlock(tip?.id ?? '');
      expect(await page.locator('article').first().innerText()).to.include('<b onclick=alert(1)>');
      const { txid } = (await pages.api<ApiTransaction[]>(`/block/${tip?.id ?? ''}/txs`))[1] ?? expect.fail();
      await pages.expectTransaction(txid);
      const said = await page.locator('[data-output] .said').allInnerTexts();
      expect(said[0]).to.include(markup);
      expect(said[1]).to.include('abc·def··ghi');
      expect(said[2]).to.match(/a\ufffd+b/);
      expect(said[3]?.length).to.be.below(300);
      for (const summary of await page.locator('[data-output] summary').all()) await summary.click();
      await page.getByRole('button', { name: /as hex/ }).click();
      await page.waitForSelector('section[aria-labelledby="raw"] pre');
      expect(await page.locator('img, main script, b').count()).to.equal(0);
      expect(await page.title()).to.match(/^Transaction /);
      expect(await page.evaluate<number>(OVERFLOW)).to.be.at.most(0);
      expect(faults).to.deep.equal([]);
      await page.context().close();
      await node.close();
    });
  });

  describe('with a busy chain', () => {
    let served: RestNode;
    let busy: Busy;

    before(async () => {
      served = await kept(openRestNode({ settings: EXPLORER }));
      busy = await makeBusy(served);
    });

    it('loads little', async () => {
      const { page, faults } = await watch(served);
      const session = await page.context().newCDPSession(page);
      await session.send('Network.enable');
      let bytes = 0;
      // On a busy machine the page has time to ask again, which is no part of loading.
      const asked = new Set<string>();
      session.on('Network.responseReceived', ({ response }) => asked.add(response.url));
      session.on('Network.loadingFinished', ({ encodedDataLength }) => (bytes += encodedDataLength));
      await page.goto('/explorer');
      await page.waitForSelector('[data-field="tip"]');
      console.log(`      ${Math.round(bytes / 1_000)} kB in ${asked.size} requests`);
      expect(bytes).to.be.below(100_000);
      expect(asked.size).to.be.within(1, 19);
      expect(faults).to.deep.equal([]);
      await page.context().close();
    });

    it('pages through a block of 3,000 transactions', async () => {
      const { page, faults } = await watch(served);
      const pages = new ExplorerPages(page, served.port);
      await pages.open(`/block/${busy.hash}`, 'article[data-txid]');
      for (const number of [2, 121]) {
        await page
          .locator('.pager a', { hasText: String(number) })
          .first()
          .click();
        await page.waitForURL(`**page=${number}`);
        await page.waitForSelector('article[data-txid]');
      }
      await pages.expectBlock(busy.hash);
      await pages.expectBlock(busy.hash, 60);
      expect(faults).to.deep.equal([]);
      await page.context().close();
    });

    it('shows an address with 10,000 transactions, and more of its history when asked', async () => {
      const { page, faults } = await watch(served);
      const pages = new ExplorerPages(page, served.port);
      await pages.expectAddress(busy.address);
      await page.waitForSelector('.chart canvas');
      await page.getByRole('button', { name: /^Load 25 more of/ }).click();
      await until(async () => (await page.locator('article[data-txid]').count()) === 50);
      await page.getByRole('link', { name: 'Coins' }).click();
      await page.waitForSelector('[role="alert"]:has-text("Too many unspent outputs")');
      expect(faults.filter((fault) => !isOfRequest(fault))).to.deep.equal([]);
      await page.context().close();
    });
  });
});

async function expectNoBarrier(page: Page): Promise<void> {
  for (const colorScheme of THEMES) {
    await page.emulateMedia({ colorScheme });
    expect(await violations(page), colorScheme).to.deep.equal([]);
  }
}

async function search(page: Page, text: string): Promise<void> {
  await page.getByRole('searchbox').fill(text);
  await page.getByRole('searchbox').press('Enter');
}

const addressOf = (ring: HostKeyRing): string => (ring.getAddress() as { toString(network: string): string }).toString('regtest');

/** OP_RETURN and a push of the data. */
function dataScript(data: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32LE(data.length);
  const push = data.length <= 75 ? Buffer.from([data.length]) : Buffer.concat([Buffer.from([0x4e]), length]);
  return Buffer.concat([Buffer.from([0x6a]), push, data]);
}
