import { hash } from 'node:crypto';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { keyOf } from '../../lib/bitcoin/hash';
import { bcoin, type HostFullBlock, type HostKeyRing } from '../support/bcoin';
import { COINBASE_SATS } from '../support/coinbases';
import { mine, mineOnly } from '../support/regtest-node';
import { openRestNode, untilReady, type RestNode } from '../support/rest-node';
import { signed } from '../support/signed';
import type { HostTransaction } from '../../lib/node/host';

/** Inputs of 41 bytes, outputs of 14: a child with this many of both has a little less than 100,000 bytes. */
const WIDE = 1_700;
/** A parent with this many outputs of its own, and a child that spends from this many parents. */
const MANY = 2_300;
const CHAIN = 20;
const MATURE = 101;
const VALUE = 2_000;
const FEE = 50_000;
/** Enough for the fees of a chain. */
const LARGE_VALUE = 2_000_000;
/** What the listeners of the pool may take, in times of making a map of as many scripts: some ms where others do not need the processor. */
const MOST_TIMES = 5;
/** The best of several transactions counts: others may have collected garbage, run code that was not compiled yet, or shared the machine. */
const MOST_ROUNDS = 15;

/** A script that anybody can spend: a number on the stack. */
const scriptOf = (n: number): Buffer => Buffer.from([4, 1 + (n & 0x7f), (n >> 7) & 0x7f, (n >> 14) & 0x7f, 1]);
const ONE = scriptOf(0);

const ownScripts = (count: number): Buffer[] => Array.from({ length: count }, (_, n) => scriptOf(n + 1));
const oneScript = (count: number): Buffer[] => Array<Buffer>(count).fill(ONE);

describe('a transaction of 100,000 bytes', function () {
  this.timeout(120_000);
  let served: RestNode;
  let ring: HostKeyRing;
  let blocks: HostFullBlock[];

  before(async () => {
    served = await openRestNode({ settings: { 'rest-addresses': true, 'rest-core': 'modern' } });
    ring = bcoin.KeyRing.generate();
    blocks = await mine(served.node, MATURE + 160, undefined, ring.getAddress());
    await untilReady(served);
  });
  after(() => served.node.close());

  /**
   * The processor time that all listeners of the pool took for the last event of this name while `work` ran, as a multiple of what a map
   * of as many scripts by their hashes took right afterwards.
   */
  async function heldBy(event: 'tx' | 'remove entry', work: () => Promise<unknown>): Promise<number> {
    const { mempool } = served.node;
    let [before, held] = [process.cpuUsage(), Infinity];
    const first = (): void => void (before = process.cpuUsage());
    const last = (): void => void (held = usedSince(before));
    mempool.prependListener(event, first);
    mempool.on(event, last);
    await work();
    mempool.removeListener(event, first);
    mempool.removeListener(event, last);
    before = process.cpuUsage();
    const scripts = new Map(ownScripts(WIDE).map((script) => [keyOf(hash('sha256', script, 'buffer')), script]));
    expect(scripts.size).to.equal(WIDE);
    return held / usedSince(before);
  }

  /** As heldBy, for a transaction that enters the pool. */
  async function timesHeld(transaction: HostTransaction): Promise<number> {
    const { mempool } = served.node;
    const held = await heldBy('tx', () => mempool.addTX(transaction));
    expect(mempool.hasEntry(hostHash(transaction))).to.equal(true);
    return held;
  }

  const hostHash = (transaction: HostTransaction): Buffer | string =>
    typeof served.node.chain.tip.hash === 'string' ? transaction.hash().toString('hex') : transaction.hash();

  /** Spends a coinbase for outputs of these scripts. */
  function payment(scripts: readonly Buffer[], value = VALUE): HostTransaction {
    const change = [ring.getAddress(), COINBASE_SATS - scripts.length * value - 1_000_000] as const;
    return signed(
      ring,
      [blocks.shift()?.txs[0] ?? expect.fail('a coinbase')],
      [...scripts.map((script) => [script, value] as const), change]
    );
  }

  /** Spends outputs of earlier transactions, for an output of `value` satoshis for each script. */
  function spending(
    coins: readonly (readonly [HostTransaction, number])[],
    scripts: readonly Buffer[],
    value = VALUE / 10
  ): HostTransaction {
    const transaction = new bcoin.MTX();
    for (const [parent, index] of coins) transaction.addTX(parent, index);
    for (const script of scripts) transaction.addOutput(bcoin.Script.fromRaw(script), value);
    return transaction.toTX();
  }

  const allOf = (parent: HostTransaction, count: number): (readonly [HostTransaction, number])[] =>
    Array.from({ length: count }, (_, i) => [parent, i] as const);

  /** `prepare`: puts parents into the pool and makes the transaction. */
  async function expectQuick(prepare: () => Promise<HostTransaction>): Promise<void> {
    let best = Infinity;
    for (let round = 0; round < MOST_ROUNDS && best >= MOST_TIMES; round++) {
      best = Math.min(best, await timesHeld(await prepare()));
      await mine(served.node, 1);
    }
    expect(best).to.be.below(MOST_TIMES);
  }

  const pooled = async (transaction: HostTransaction): Promise<HostTransaction> => {
    const { mempool } = served.node;
    await mempool.addTX(transaction);
    expect(mempool.hasEntry(hostHash(transaction))).to.equal(true);
    return transaction;
  };

  for (const [kind, scripts] of [
    ['one script', oneScript],
    ['a script each', ownScripts]
  ] as const) {
    it(`holds the event loop no longer than making five maps of its scripts with as many outputs as there is room for, of ${kind}`, () =>
      expectQuick(() => Promise.resolve(payment(scripts(WIDE)))));

    it(`and when it spends all outputs of such a transaction for as many, of ${kind}`, () =>
      expectQuick(async () => spending(allOf(await pooled(payment(scripts(WIDE))), WIDE), scripts(WIDE))));
  }

  it('and when it spends one output each of twenty such transactions, whose scripts nobody else touches', () =>
    expectQuick(async () => {
      const parents: HostTransaction[] = [];
      for (let i = 0; i < CHAIN; i++) parents.push(await pooled(payment(ownScripts(i * WIDE + WIDE).slice(i * WIDE))));
      return spending(
        parents.flatMap((parent) => allOf(parent, Math.floor(MANY / CHAIN))),
        [ONE]
      );
    }));

  it('and at the end of a long chain of transactions', () =>
    expectQuick(async () => {
      let last = await pooled(payment(oneScript(WIDE), LARGE_VALUE));
      for (let i = 1; i < CHAIN; i++) last = await pooled(spending(allOf(last, 1), [ONE], LARGE_VALUE - i * FEE));
      return spending(allOf(last, 1), oneScript(WIDE), 1);
    }));

  it('and when a transaction leaves whose outputs thousands of others spend, for scripts of their own', async () => {
    const { node } = served;
    let best = Infinity;
    for (let round = 0; round < MOST_ROUNDS && best >= MOST_TIMES; round++) {
      const parent = await pooled(payment(ownScripts(WIDE)));
      for (let i = 0; i < WIDE; i++) await pooled(spending([[parent, i]], [scriptOf(WIDE + 2 * i), scriptOf(WIDE + 2 * i + 1)]));
      best = Math.min(best, await heldBy('remove entry', () => mineOnly(node, [parent])));
      expect(node.mempool.hasEntry(hostHash(parent))).to.equal(false);
      await mine(node, 1);
    }
    expect(best).to.be.below(MOST_TIMES);
  });
});

/** In µs. */
function usedSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return user + system;
}
