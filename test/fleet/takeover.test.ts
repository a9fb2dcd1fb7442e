// What happens to the log when a leader, a server or the way to it is gone.

import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import { parseNatsUrls } from '../../lib/fleet/log/access';
import { connectToNats, type NatsBus } from '../../lib/fleet/log/connection';
import { NatsAwayError } from '../../lib/fleet/log/errors';
import { FleetLog } from '../../lib/fleet/log/log-reader';
import { subjectsOf } from '../../lib/fleet/log/subjects';
import { MOST_STEPS } from '../../lib/fleet/feed/chain-feed';
import { DroppingProxy } from '../support/fleet/dropping-proxy';
import { Faucet } from '../support/chain/faucet';
import { FeedingNode } from '../support/fleet/feeding-node';
import { Nats, needsNats } from '../support/fleet/nats';
import { mine } from '../support/bcoin/regtest-node';
import { testScale } from '../support/process/scale';
import { until } from '../support/expectations/until';
import { FoldedLog } from './folded-log';

const SUBJECTS = subjectsOf('regtest');
const ADDRESS = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080';
/** On a busy machine servers elect anew for half a minute, more than once. */
const SETTLED_MS = 200_000;
const NEVER = new AbortController().signal;

/** A longer test has all of it on one server as well. */
const COUNTS = testScale() > 1 ? ([1, 3] as const) : ([3] as const);

for (const count of COUNTS) {
  describe(`a fleet on ${count === 1 ? 'one server' : 'three servers'}`, function () {
    this.timeout(90_000);
    let program: string;
    let nats: Nats;
    let bus: NatsBus;
    let proxy: DroppingProxy;
    let opened: FeedingNode[];

    before(function () {
      program = needsNats(this);
    });

    // Servers of its own for each test: nats-server 2.9 loses a stream that was deleted and made again, once it is started again.
    beforeEach(async () => {
      opened = [];
      nats = await Nats.open(program, count);
      bus = await connectToNats(parseNatsUrls(nats.url) ?? expect.fail('a URL'), 'test');
      proxy = await DroppingProxy.open(nats.servers[0]?.port ?? 0);
    });

    afterEach(async () => {
      proxy.plug();
      for (const node of opened) await node.close();
      await proxy.close();
      await bus.connection.close();
      await nats.close();
    });

    async function openNode(): Promise<FeedingNode> {
      const node = await FeedingNode.open(nats.url);
      opened.push(node);
      return node;
    }

    /** Two nodes on one chain of ten blocks, of which the first leads, through the proxy. */
    async function pair(): Promise<readonly [FeedingNode, FeedingNode]> {
      const [a, b] = [await openNode(), await openNode()];
      await a.lead({ name: 'a' }, proxy.url);
      for (const block of await mine(a.node, 10)) await b.node.chain.add(block);
      await a.feed.settled();
      b.start({ name: 'b' });
      return [a, b];
    }

    /** As `feed.settled`, but says after a while why it is not. */
    async function settled({ feed, log }: FeedingNode): Promise<number> {
      const sequence = await Promise.race([feed.settled(), setTimeout(SETTLED_MS, undefined, { ref: false })]);
      return sequence ?? expect.fail(`the feed has not settled: ${JSON.stringify(feed.figures)}\n${log.lines.join('\n')}`);
    }

    async function expectLogOf(node: FeedingNode): Promise<FoldedLog> {
      const last = await settled(node);
      for (const end = performance.now() + SETTLED_MS; ;) {
        try {
          const folded = await foldedUpTo(last, node);
          await folded.expectEqual(node.source);
          return folded;
        } catch (error) {
          // For a moment after the death of a server.
          if (!(error instanceof NatsAwayError) || performance.now() > end) throw error;
        }
      }
    }

    /** All servers have the whole log. */
    async function untilReplicated(): Promise<void> {
      await until(async () => {
        const info = await bus.manager.streams.info(SUBJECTS.stream).catch(() => undefined);
        const replicas = info?.cluster?.replicas ?? [];
        return replicas.length === count - 1 && replicas.every(({ current, offline }) => current && !offline);
      });
    }

    async function foldedUpTo(last: number, node: FeedingNode): Promise<FoldedLog> {
      const log = await FleetLog.open(bus, SUBJECTS, node.source.network.genesisHash);
      const folded = new FoldedLog();
      for await (const { record, sequence } of log.read(1, { silenceMs: 5_000, signal: NEVER })) {
        folded.apply(record.body, sequence);
        folded.writers.add(record.node);
        if (sequence >= last) break;
      }
      return folded;
    }

    it('is led by another node once the leader is cut off, and nothing that the leader writes afterwards is in the log', async () => {
      const [a, b] = await pair();
      proxy.pull();
      // It does not know yet.
      expect(a.feed.isLeading).to.equal(true);
      await mine(a.node, 1);
      await until(() => b.feed.isLeading);
      await mine(b.node, 2);
      await expectLogOf(b);
      proxy.plug();
      await until(() => !a.feed.isLeading);
      for (const block of await mine(b.node, 2)) expect(block.txs).to.have.length(1);
      const folded = await expectLogOf(b);
      expect([...folded.writers]).to.deep.equal(['a', 'b']);
      expect(folded.blocks.size).to.equal(14);
    });

    it('has everything that somebody waits for in the next term, when the leader loses its lease meanwhile', async () => {
      const node = await openNode();
      await node.lead({}, proxy.url);
      proxy.pull();
      await mine(node.node, 1);
      const settled = node.feed.settled();
      await until(() => !node.feed.isLeading);
      proxy.plug();
      const folded = await foldedUpTo(await settled, node);
      await folded.expectEqual(node.source);
    });

    it('has transactions that came into the pool while the connection was lost', async () => {
      const node = await openNode();
      await node.lead({ leaseMs: 20_000 }, proxy.url);
      const faucet = await Faucet.on(node.node, 12);
      await node.feed.settled();
      proxy.pull();
      proxy.cut();
      await faucet.pays(ADDRESS, 10_000);
      await until(() => proxy.attempts > 0);
      proxy.plug();
      expect((await expectLogOf(node)).pool.size).to.equal(1);
      expect(node.log.lines.filter((line) => line.includes('left out'))).to.deep.equal([]);
    });

    it('has no gap and nothing twice when acknowledgements are lost in the middle of blocks and transactions', async () => {
      const node = await openNode();
      await node.lead({ leaseMs: 20_000 }, proxy.url);
      const faucet = await Faucet.on(node.node, 12);
      for (let i = 0; i < 3; i++) {
        await faucet.pays(ADDRESS, 10_000 + i);
        proxy.cutAfterNextRequest(`PUB ${[SUBJECTS.record.block, SUBJECTS.record.pool, SUBJECTS.record.chain][i] ?? ''}`);
        await faucet.pays(ADDRESS, 20_000 + i);
        await mine(node.node, 1);
        await expectLogOf(node);
      }
      expect(proxy.cuts).to.equal(3);
    });

    it('catches up without the blocks in between when more have come than the feed keeps', async () => {
      const node = await openNode();
      await node.lead({ leaseMs: 20_000 }, proxy.url);
      const faucet = await Faucet.on(node.node, 3);
      await node.feed.settled();
      proxy.pull();
      await faucet.pays(ADDRESS, 10_000);
      await mine(node.node, MOST_STEPS + 10);
      await faucet.pays(ADDRESS, 20_000);
      proxy.plug();
      const folded = await expectLogOf(node);
      expect(folded.resets).to.deep.equal(['start', 'gap']);
      expect(folded.pool.size).to.equal(1);
    });

    if (count === 3) {
      it('goes on while one of the servers is dead, whichever it is, and when it is back', async function () {
        // The servers elect anew each time, on a busy machine in half a minute.
        this.timeout(600_000);
        const node = await openNode();
        await node.lead({ leaseMs: 20_000 });
        const faucet = await Faucet.on(node.node, 12);
        for (const server of nats.servers) {
          await server.kill();
          await faucet.pays(ADDRESS, 10_000);
          await mine(node.node, 1);
          await server.start();
          await faucet.pays(ADDRESS, 20_000);
          await expectLogOf(node);
          // Without the next one there would be no majority while this one lags behind.
          await untilReplicated();
        }
        const folded = await expectLogOf(node);
        expect(folded.resets).to.deep.equal(['start']);
      });
    }
  });
}
