import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import { after, afterEach, before, describe, it } from 'mocha';
import { needsNats } from '../support/fleet/nats';
import { testScale, testSeed } from '../support/process/scale';
import { until } from '../support/expectations/until';
import { seeded } from './chaos/seeded';
import { Faults } from './chaos/faults';
import { Fleet } from './chaos/fleet';
import { logTail } from './chaos/log-tail';
import { Prober } from './chaos/prober';

/** Faults in `npm test`; `npm run test:fleet` has 35 times as many. */
const FAULTS = 6 * testScale();
/** Blocks before coins can be spent. */
const FIRST_BLOCKS = 130;
const CLIENTS = 4;
/** How long a reader may take to be live again once nothing is wrong any more. */
const RECOVERY_MS = 60_000;
/** After so many faults all are undone, and both readers must be live again. */
const FAULTS_AT_A_TIME = 6;
/** Of the log, when a test fails. */
const LINES = 150;
const seed = testSeed();

describe(`a fleet to which everything happens (TEST_SEED=${seed})`, function () {
  this.timeout(120_000 + FAULTS * 20_000);
  let fleet: Fleet;
  let prober: Prober;
  let faults: Faults;

  before(async function () {
    fleet = await Fleet.open(needsNats(this));
    const random = seeded(seed);
    faults = new Faults(fleet, random);
    prober = new Prober(fleet, random, () => faults.spendable());
    for (const reader of fleet.readers) reader.start();
    await fleet.mine(fleet.nodes[0] ?? expect.fail('a node'), FIRST_BLOCKS);
    await untilLive();
  });
  afterEach(async function () {
    if (this.currentTest?.state === 'failed') console.log(await whatEachSays());
  });
  after(async () => {
    await fleet.close();
  });

  /** Both readers are at the tip of the chain that has most blocks, and say that they are well. */
  async function untilLive(): Promise<void> {
    const end = performance.now() + RECOVERY_MS;
    for (const reader of fleet.readers)
      for (let said = 'nothing'; ;) {
        const response = await fetch(reader.url('/fleet/health')).catch(() => undefined);
        if (response !== undefined) said = await response.text();
        const { ready, tip } = (response === undefined ? {} : JSON.parse(said)) as { ready?: boolean; tip?: { hash: string } };
        if (ready === true && tip?.hash === fleet.tip.hash) break;
        if (performance.now() > end)
          expect.fail(`reader ${reader.name} is not live again at ${fleet.tip.height} ${fleet.tip.hash}: ${said}`);
        await setTimeout(100);
      }
  }

  async function whatEachSays(): Promise<string> {
    const nodes = fleet.nodes.map(async (node) => `${node.name}: ${JSON.stringify(await node.ask({ type: 'tip' }))}`);
    const readers = fleet.readers.map(({ name, words }) => `${name}:\n${words.slice(-3_000)}`);
    const log = await logTail(fleet.nats.url, LINES).catch(String);
    return [...(await Promise.all(nodes)), log, await fleet.nats.words(LINES), ...readers].join('\n');
  }

  /** As whoever runs processes does: starts what has ended. */
  async function startEnded(): Promise<void> {
    for (const reader of fleet.readers) if (!reader.isRunning) reader.start();
    for (const node of fleet.nodes) if (!node.isRunning) await node.start();
  }

  /** Both nodes come to have the same tip: two of them with as much work would each keep its own. */
  async function agree(): Promise<void> {
    for (;;) {
      for (const node of fleet.nodes) await fleet.catchUp(node);
      await fleet.mine(fleet.nodes[0] ?? expect.fail('a node'), 1);
      for (const node of fleet.nodes) await fleet.catchUp(node);
      const tips = await Promise.all(fleet.nodes.map((node) => node.ask({ type: 'tip' })));
      if (tips.every((tip) => tip?.hash === fleet.tip.hash)) return;
    }
  }

  it('answers nothing wrong, loses nothing, and is live again by itself', async () => {
    const done: string[] = [];
    const list = faults.all;
    const random = seeded(seed + 1);
    prober.start(CLIENTS);
    /** Every fault comes before any comes again. */
    let left: number[] = [];
    while (done.length < FAULTS) {
      for (let i = 0; i < FAULTS_AT_A_TIME && done.length < FAULTS; i++) {
        if (left.length === 0) left = list.map((_, each) => each);
        const fault = list[left.splice(Math.floor(random() * left.length), 1)[0] ?? 0] ?? expect.fail('a fault');
        done.push(fault.name);
        const running = fault.run();
        // The chain goes on meanwhile.
        if (random() < 0.5) await faults.quietBlocks(1);
        await running;
      }
      await startEnded();
      await agree();
      await untilLive().catch((error: unknown) => {
        throw new Error(`after ${done.slice(-FAULTS_AT_A_TIME).join(', ')}: ${(error as Error).message}`);
      });
      if (testScale() > 1)
        console.log(
          `      ${done.length}: ${done.slice(-FAULTS_AT_A_TIME).join(', ')}; height ${fleet.tip.height}, ${JSON.stringify(prober.counts)}`
        );
      expect(prober.wrong, done.slice(-2 * FAULTS_AT_A_TIME).join(', ')).to.deep.equal([]);
    }
    // Faults may have left little time to ask in; all is well again.
    await until(() => prober.counts.judged > 20 * FAULTS);
    await prober.stop();
    await expectNothingLost();
    expect(prober.wrong).to.deep.equal([]);
    // Three looks at each broadcast.
    if (testScale() > 1) expect(prober.counts.seen).to.be.greaterThan(prober.counts.promised);
    console.log(`      ${FAULTS} faults, ${faults.lies} lies, ${JSON.stringify(prober.counts)}`);
  });

  /** Everything that was broadcast can be mined and found on both readers. */
  async function expectNothingLost(): Promise<void> {
    const all = [...fleet.transactions].map(([txid, raw]) => ({ txid, raw }));
    await fleet.pool(all);
    await agree();
    await agree();
    await untilLive();
    for (const [txid, raw] of prober.broadcast)
      for (const reader of fleet.readers) {
        const response = await fetch(reader.url(`/rest/tx/${txid}.bin`));
        expect(response.status, `${txid} on ${reader.name}`).to.equal(200);
        expect(Buffer.from(await response.arrayBuffer())).to.deep.equal(raw);
      }
  }
});
