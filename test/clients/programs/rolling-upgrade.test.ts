// A whole fleet behind HAProxy as docs/haproxy.cfg has it: what docs/fleet.md promises about upgrades.

import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { Fleet, type FeedingNode, type FleetReader } from '../../fleet/chaos/fleet';
import { spendOf, type Spend } from '../../fleet/chaos/spends';
import { Haproxy, needsHaproxy } from '../../support/fleet/haproxy';
import { needsNats } from '../../support/fleet/nats';
import { freePort } from '../../support/bcoin/regtest-node';
import { SteadyClient } from './steady-client';

const TIMEOUT_MS = 240_000;
/** So that some coins can be spent. */
const FIRST_BLOCKS = 130;
const MATURE = 110;
const BLOCK_EVERY_MS = 700;
/** After a server was taken out, and between two steps. */
const PAUSE_MS = 2_000;
const CLIENTS = ['127.0.2.1', '127.0.2.2', '127.0.2.3'];
const SERVERS = ['reader1', 'reader2'] as const;

describe('a rolling upgrade of a fleet behind HAProxy', function () {
  this.timeout(TIMEOUT_MS);
  let fleet: Fleet;
  let proxy: Haproxy;
  let clients: SteadyClient[];
  let close: () => Promise<void> = () => Promise.resolve();
  /** Outpoints that transactions of the test spend. */
  const taken = new Set<string>();
  let [number, changes] = [1, 0];

  before(async function () {
    const program = needsNats(this);
    needsHaproxy(this);
    const electrum = [await freePort(), await freePort()] as const;
    const options = (port: number): string[] => [`--rest-electrum=${port}`, '--rest-trusted-proxies=127.0.0.1'];
    fleet = await Fleet.open(program, [options(electrum[0]), options(electrum[1])]);
    close = () => fleet.close();
    for (const reader of fleet.readers) reader.start();
    await mine(FIRST_BLOCKS);
    for (const reader of fleet.readers) await untilReady(reader);
    const [first, second] = fleet.readers.map(({ http }) => http) as [number, number];
    proxy = await Haproxy.open(
      [
        { http: first, electrum: electrum[0] },
        { http: second, electrum: electrum[1] }
      ],
      { namesWallets: true }
    );
    close = async () => {
      await proxy.close();
      await fleet.close();
    };
    for (const name of SERVERS) await proxy.untilSeen(name, 'UP');
    clients = CLIENTS.map(
      (from) => new SteadyClient({ proxy, from, spendable, relay: (spend) => fleet.pool([spend]), changes: () => changes })
    );
  });
  after(() => close());

  const spendable = (): Spend | undefined => {
    const { chain, tip } = fleet;
    const found = chain.coins(tip).find(({ coin, height }) => coin.coinbase && tip.height - height > MATURE && !taken.has(coin.outpoint));
    if (found === undefined) return undefined;
    taken.add(found.coin.outpoint);
    return spendOf(found.coin, 2, (number += 2));
  };

  /** One block after the other, and all nodes that run get each. A node is not stopped meanwhile. */
  let mining: Promise<void> = Promise.resolve();
  const whileNothingIsMined = (work: () => Promise<void>): Promise<void> => (mining = mining.then(work));
  const mine = (count: number): Promise<void> =>
    whileNothingIsMined(() => fleet.mine(fleet.nodes.find(({ isRunning }) => isRunning) ?? expect.fail('a node'), count));
  const mineAllTheTime = async (run: { readonly isOver: boolean }): Promise<void> => {
    while (!run.isOver) {
      await mine(1);
      await delay(BLOCK_EVERY_MS);
    }
  };

  const untilReady = async (reader: FleetReader): Promise<void> => {
    while ((await fetch(reader.url('/fleet/health')).catch(() => undefined))?.status !== 200) {
      if (!reader.isRunning) expect.fail(reader.words);
      await delay(100);
    }
  };
  const leads = async (node: FeedingNode): Promise<boolean> => (await node.ask({ type: 'tip' }))?.leads === true;

  const upgradeReader = async (at: 0 | 1, isAnnounced: boolean): Promise<void> => {
    const [reader, name] = [fleet.readers[at] ?? expect.fail('a reader'), SERVERS[at]];
    if (isAnnounced) {
      await proxy.set(name, 'drain');
      await delay(PAUSE_MS);
    }
    await reader.stop();
    await delay(PAUSE_MS);
    reader.start();
    await untilReady(reader);
    await proxy.set(name, 'ready');
    await proxy.untilSeen(name, 'UP');
    await delay(PAUSE_MS);
  };

  const upgradeNode = async (node: FeedingNode): Promise<void> => {
    const other = fleet.nodes.find((each) => each !== node) ?? expect.fail('another node');
    changes++;
    await whileNothingIsMined(() => node.stop());
    while (!(await leads(other))) await delay(50);
    await delay(PAUSE_MS);
    await whileNothingIsMined(async () => {
      await node.start();
      await fleet.catchUp(node);
      // What its peers have in their pools.
      await fleet.pool(
        clients.flatMap(({ broadcast }) => broadcast).filter(({ txid }) => fleet.chain.blockOf(fleet.tip, txid) === undefined)
      );
    });
    changes++;
    await delay(PAUSE_MS);
  };

  it('lets no request fail, and no client see an earlier block or miss its broadcast', async () => {
    const run = { isOver: false };
    const blocks = mineAllTheTime(run);
    for (const client of clients) client.start();
    await delay(PAUSE_MS);
    const steps: [string, () => Promise<void>][] = [
      ['reader 1', () => upgradeReader(0, true)],
      ['reader 2', () => upgradeReader(1, true)]
    ];
    // The one that leads comes first, and so both have led and have been followed.
    const nodes = (await leads(fleet.nodes[0] ?? expect.fail('a node'))) ? fleet.nodes : [...fleet.nodes].reverse();
    for (const node of nodes) steps.push([`node ${node.name}`, () => upgradeNode(node)]);
    steps.push(['reader 1, not announced', () => upgradeReader(0, false)]);
    const failed: string[] = [];
    try {
      for (const [name, step] of steps) {
        await step();
        for (const { failures } of clients) failed.push(...failures.splice(0).map((failure) => `${name}: ${failure}`));
      }
    } finally {
      for (const client of clients) await client.stop();
      run.isOver = true;
      await blocks;
    }
    for (const { failures } of clients) failed.push(...failures);
    console.log(`      ${clients.map(({ counts }) => JSON.stringify(counts)).join('\n      ')}`);
    expect(failed).to.deep.equal([]);
    for (const { counts } of clients) {
      expect(counts.answers).to.be.greaterThan(50);
      expect(counts.promised).to.be.greaterThan(0);
      expect(counts.wallet).to.be.greaterThan(50);
    }
    await expectAllMined();
  });

  /** Everything that was broadcast is in a block, on both readers. */
  async function expectAllMined(): Promise<void> {
    await mine(2);
    const { height, hash } = fleet.tip;
    /** The answer of a reader that has the tip. On a busy machine that can take more than the two seconds that a request waits for it. */
    const atTip = async (url: string): Promise<Response> => {
      for (;;) {
        const response = await fetch(url, { headers: { 'x-rest-min-tip': `${height} ${hash}` } });
        if (response.status !== 503) return response;
        await delay(100);
      }
    };
    for (const { broadcast } of clients)
      for (const { txid, raw } of broadcast) {
        expect(fleet.chain.blockOf(fleet.tip, txid), txid).not.to.equal(undefined);
        for (const reader of fleet.readers) {
          const response = await atTip(reader.url(`/rest/tx/${txid}.bin`));
          expect(response.status, `${txid} on ${reader.name}`).to.equal(200);
          expect(Buffer.from(await response.arrayBuffer())).to.deep.equal(raw);
        }
      }
  }
});
