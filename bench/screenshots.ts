// Makes the pictures of the explorer in README.md: `npm run screenshots`. A node with a busy pool, in memory, seen with Debian's Chromium.

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { hasBrowser, openBrowser, watchedPage } from '../test/support/client/browser';
import { bcoin, type TestFullNode } from '../test/support/bcoin/bcoin';
import { projectFolder } from '../test/support/process/project-folder';
import { closeLeftNodes, mine, mineOnly } from '../test/support/bcoin/regtest-node';
import { openRestNode, untilReady } from '../test/support/node/rest-node';
import { signed } from '../test/support/chain/signed';
import type { HostTransaction } from '../lib/node/host';

const FOLDER = join(projectFolder, 'docs/pictures');
const SIZE = { width: 1_280, height: 800 };

const COINS = 160;
const COIN = 30_000_000;
const MATURE = 101;
const BLOCKS = 9;
const BLOCK_SECONDS = 560;

/** Satoshis per virtual byte of what waits in the pool. */
const RATES = [1, 1, 2, 2, 3, 3, 3, 4, 4, 5, 5, 6, 7, 8, 8, 9, 10, 11, 12, 14, 15, 18, 20, 24, 25, 30, 38, 45, 60];

/** Bytes of data that make transactions as large as many payments. */
const DATA_BYTES = [38_000, 61_000, 52_000, 44_000, 70_000];

interface Clock {
  readonly network: { readonly time: { offset: number } };
}

async function main(): Promise<void> {
  if (!hasBrowser()) throw new Error('the pictures are made with chromium');
  const served = await openRestNode({ settings: { 'rest-explorer': true, 'rest-addresses': true, 'rest-pool': 'modern' } });
  await untilReady(served);
  const address = await fill(served.node);
  const browser = await openBrowser();
  await mkdir(FOLDER, { recursive: true });
  const pictures = [
    { name: 'explorer', path: '', shown: '.bar-row', colorScheme: 'light' },
    { name: 'explorer-address', path: `/address/${address}`, shown: '.chart canvas', colorScheme: 'dark' }
  ] as const;
  for (const { name, path, shown, colorScheme } of pictures) {
    const { page } = await watchedPage(browser, served.baseUrl, { viewport: SIZE, colorScheme });
    await page.goto(`/explorer${path}`);
    await page.waitForSelector(shown);
    await page.waitForSelector('.contact.live');
    await page.screenshot({ path: join(FOLDER, `${name}.png`) });
    console.log(join(FOLDER, `${name}.png`));
  }
  await browser.close();
  await closeLeftNodes();
}

/** A chain of blocks with payments, ten minutes apart, and a pool with more than a block. Gives an address with a history. */
async function fill(node: TestFullNode): Promise<string> {
  const { time } = (node as unknown as Clock).network;
  time.offset = -(BLOCKS * BLOCK_SECONDS) - MATURE;
  const [owner, payee] = [bcoin.KeyRing.generate(), bcoin.KeyRing.generate()];
  const [first] = await mine(node, MATURE, undefined, owner.getAddress());
  const coins = signed(
    owner,
    [first?.txs[0] as HostTransaction], // every block has one
    Array.from({ length: COINS }, () => [owner.getAddress(), COIN] as const)
  );
  await mineOnly(node, [coins]);
  let next = 0;
  let owned: HostTransaction | undefined;
  for (let block = 0; block < BLOCKS; block++) {
    time.offset += BLOCK_SECONDS;
    const payments = Array.from({ length: 3 + ((block * 7) % 11) }, (_, i) => {
      const value = 1_000_000 + ((block * 7_919_771 + i * 1_299_709) % 20_000_000);
      const target = i === 0 ? payee.getAddress() : bcoin.KeyRing.generate().getAddress();
      return signed(
        owner,
        [[coins, next++]],
        [
          [target, value],
          [owner.getAddress(), COIN - value - 2_000]
        ]
      );
    });
    if (owned !== undefined && block % 4 === 3)
      payments.push(signed(payee, [[owned, 0]], [[owner.getAddress(), (owned.outputs[0]?.value ?? 0) - 2_000]]));
    owned = payments[0];
    await mineOnly(node, payments);
  }
  time.offset = 0;
  for (const [i, rate] of RATES.entries()) {
    const data = Buffer.alloc(DATA_BYTES[i % DATA_BYTES.length] ?? 0, i);
    const script = Buffer.concat([Buffer.from([0x6a, 0x4e]), lengthOf(data), data]);
    const fee = rate * (data.length + 250) + 100 * i;
    await node.mempool.addTX(
      signed(
        owner,
        [[coins, next++]],
        [
          [bcoin.KeyRing.generate().getAddress(), COIN - fee],
          [script, 0]
        ]
      )
    );
  }
  return (payee.getAddress() as { toString(network: string): string }).toString('regtest');
}

function lengthOf({ length }: Buffer): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(length);
  return bytes;
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  }
);
