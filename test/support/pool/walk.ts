// A regtest node whose pool gets transactions that spend anybody's coins, and the answers that the pool by script must give: computed
// from the node's own pool each time.

import { createHash } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { scanWholeTransaction, type ScannedTransaction } from '../../../lib/bitcoin/transaction';
import { BcoinNode } from '../../../lib/node/bcoin';
import { ScriptPool } from '../../../lib/pool/by-script/script-pool';
import { bcoin, type HostFullBlock, type TestFullNode } from '../bcoin/bcoin';
import { COINBASE_SATS, FEE_SATS } from '../chain/coinbases';
import { activateForksAsShipped, activateForksEarly } from '../chain/early-forks';
import { finish } from '../expectations/finish';
import { isFleetWanted } from '../fleet/fleet';
import { openModernNode } from '../bcoin/modern-node';
import { madeTransaction, type MadeOutput } from '../chain/made-blocks';
import { blockWith, mine, mineOnly, openRegtestNode, type RegtestOptions } from '../bcoin/regtest-node';
import { signed } from '../chain/signed';
import { TaprootKey, TaprootOutput } from '../chain/taproot-key';
import { unfailing } from '../expectations/unfailing';
import type { HostEntry, HostHash, HostTransaction } from '../../../lib/node/host';

interface Payable {
  readonly script: Buffer;
  /** The script, and the witness, with which anybody may spend it. */
  readonly unlock: Buffer;
  readonly witness?: readonly Buffer[];
}

/** OP_1 */
const ANYBODY = Buffer.of(0x51);
const TAPROOT_OUTPUT = new TaprootOutput(TaprootKey.of('a key that nobody uses'), { script: ANYBODY });

/** Scripts that are paid to: DATA carries data, and only today's pool takes spends of TAPROOT, by its leaf. */
export const SCRIPTS: readonly Payable[] = [
  ...['51', '015175', '01527551', '01537551', ''].map((hex) => ({
    script: Buffer.from(hex, 'hex'),
    unlock: Buffer.from(hex === '' || hex === '015175' ? '51' : '', 'hex')
  })),
  { script: Buffer.from('6a0568656c6c6f', 'hex'), unlock: Buffer.alloc(0) },
  { script: TAPROOT_OUTPUT.script, unlock: Buffer.alloc(0), witness: [ANYBODY, TAPROOT_OUTPUT.leaf(0).control] }
];
const TAPROOT = SCRIPTS.length - 1;
const DATA = TAPROOT - 1;
/** The others, by their numbers. */
const PLAIN = Array.from({ length: DATA }, (_, kind) => kind);

const FUNDED_OUTPUTS = 15;

/** `spends`: coins, as numbers among those that may be spent. `pays`: indexes of the scripts. */
interface SendStep {
  readonly do: 'send' | 'send into a full pool';
  readonly spends: readonly number[];
  readonly pays: readonly number[];
  readonly fee: number;
}

/** Spends a coin that a transaction of the pool spends, and other coins: it may be refused. */
interface ReplaceStep {
  readonly do: 'replace';
  readonly pick: number;
  readonly spends: readonly number[];
  readonly pays: readonly number[];
  readonly fee: number;
}

export type PoolStep =
  | SendStep
  | ReplaceStep
  | { readonly do: 'mine' }
  /** A block that spends the same coins as a transaction of the pool. */
  | { readonly do: 'mine a conflict'; readonly pick: number }
  | { readonly do: 'fork' | 'reset' | 'invalidate'; readonly back: number }
  | { readonly do: 'open anew'; readonly meanwhile: readonly PoolStep[] };

const pays = (mostKind: number): fc.Arbitrary<number[]> => fc.array(fc.nat({ max: mostKind }), { minLength: 1, maxLength: 4 });

/** A node whose chain has become shorter feeds no reader. */
const WAYS_BACK = isFleetWanted ? (['fork'] as const) : (['fork', 'fork', 'fork', 'reset', 'invalidate'] as const);

/** Steps of a node, for fast-check to choose from. `mostKind`: the last of the scripts that are paid to. */
const poolStep = (mostKind: number): fc.Arbitrary<PoolStep> =>
  fc.oneof(
    {
      weight: 12,
      arbitrary: fc.record({
        do: fc.constantFrom('send' as const, 'send' as const, 'send' as const, 'send into a full pool' as const),
        spends: fc.array(fc.nat({ max: 40 }), { minLength: 1, maxLength: 3 }),
        pays: pays(mostKind),
        fee: fc.integer({ min: 2_000, max: 50_000 })
      })
    },
    { weight: 3, arbitrary: fc.constant({ do: 'mine' as const }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('mine a conflict' as const), pick: fc.nat({ max: 20 }) }) },
    {
      weight: 3,
      arbitrary: fc.record({
        do: fc.constantFrom(...WAYS_BACK),
        back: fc.integer({ min: 1, max: 3 })
      })
    }
  );

/** For a node with today's pool. */
const replacingStep: fc.Arbitrary<PoolStep> = fc.record({
  do: fc.constant('replace' as const),
  pick: fc.nat({ max: 40 }),
  spends: fc.array(fc.nat({ max: 40 }), { maxLength: 2 }),
  pays: pays(TAPROOT),
  fee: fc.oneof(fc.integer({ min: 2_000, max: 50_000 }), fc.integer({ min: 50_000, max: 400_000 }))
});

/** Why today's pool may refuse what a walk sends. */
const REFUSALS = [
  'insufficient fee',
  'replacement-failed',
  'bad-txns-spends-conflicting-tx',
  'mempool min fee not met',
  'too-large-cluster',
  'tx-size-small'
];

export interface Outpoint {
  readonly txid: Buffer;
  readonly index: number;
}

export const scriptHash = (script: Buffer): Buffer => createHash('sha256').update(script).digest();

export class PoolWalk {
  readonly node: BcoinNode;
  pool: ScriptPool;
  /** Everything that was sent, by txid in hex. */
  readonly #known = new Map<string, ScannedTransaction>();
  #sent = 0;
  /** The height of the block that holds the coins to spend: no step goes back further. */
  #funded = 0;

  private constructor(
    readonly host: TestFullNode,
    node: BcoinNode | undefined
  ) {
    this.node = node ?? new BcoinNode(host);
    this.pool = new ScriptPool(this.node.pool, unfailing);
  }

  /** Opens a node with today's pool, as `start` does. */
  static async startModern(): Promise<PoolWalk> {
    activateForksEarly();
    try {
      const { host, node } = await openModernNode();
      return await PoolWalk.#begin(host, [...PLAIN, TAPROOT], node);
    } catch (error) {
      activateForksAsShipped();
      throw error;
    }
  }

  /** Opens a node with coins to spend, and a pool by script. */
  static async start(options: RegtestOptions = {}): Promise<PoolWalk> {
    return PoolWalk.#begin(await openRegtestNode(options), PLAIN);
  }

  static async #begin(host: TestFullNode, kinds: readonly number[], node?: BcoinNode): Promise<PoolWalk> {
    await host.connect();
    const ring = bcoin.KeyRing.generate();
    const [block] = (await mine(host, 101, undefined, ring.getAddress())) as [HostFullBlock];
    const each = Math.floor((COINBASE_SATS - FEE_SATS) / FUNDED_OUTPUTS);
    const outputs = Array.from({ length: FUNDED_OUTPUTS }, (_, i) => [scriptOf(kinds[i % kinds.length] as number), each] as const);
    const walk = new PoolWalk(host, node);
    await walk.#give(signed(ring, [block.txs[0] as HostTransaction], outputs));
    walk.#funded = host.chain.height;
    await mine(host, 10);
    await walk.pool.open();
    return walk;
  }

  async close(): Promise<void> {
    this.pool.close();
    await this.host.close();
    activateForksAsShipped();
  }

  async step(step: PoolStep): Promise<void> {
    if (step.do === 'replace') await this.#replace(step);
    else if ('spends' in step) await this.#sendPicked(step);
    else if (step.do === 'mine') await this.#mine();
    else if (step.do === 'mine a conflict') await this.mineConflict(step.pick);
    else if (step.do === 'open anew') await this.openAnew(step.meanwhile);
    else await this.goBack(step.do, step.back);
  }

  async #mine(): Promise<void> {
    try {
      await mine(this.host, 1);
    } catch (error) {
      // bcoin 1.0.2 counts descendants wrongly after some reorganizations: below zero its miner makes no block from the pool.
      if (!(error instanceof Error && /(size|fee) >= 0/.test(error.message))) throw error;
      await mineOnly(this.host, []);
    }
  }

  /** Opens another pool by script, which finds the pool as it is. */
  async openAnew(meanwhile: readonly PoolStep[] = []): Promise<void> {
    this.pool.close();
    this.pool = new ScriptPool(this.node.pool, unfailing);
    const opening = this.pool.open();
    for (const step of meanwhile) await this.step(step);
    await opening;
  }

  /** `pays`: indexes of the scripts. undefined: there was nothing to spend, or too little. */
  async send(spends: readonly Outpoint[], pays: readonly number[], fee: number): Promise<Buffer | undefined> {
    const transaction = this.made(spends, pays, fee);
    if (transaction !== undefined) await this.#give(transaction);
    return transaction?.hash();
  }

  /** A transaction that is not sent. */
  made(spends: readonly Outpoint[], pays: readonly number[], fee: number): HostTransaction | undefined {
    const coins = spends.map((outpoint) => ({ ...outpoint, ...this.coin(outpoint) }));
    const each = Math.floor((coins.reduce((sum, { value }) => sum + value, 0) - fee) / pays.length);
    if (coins.length === 0 || each < 1_000) return undefined;
    const inputs = coins.map(({ txid, index, script }) => ({ txid, index, ...spenderOf(script) }));
    const outputs = pays.map((kind): MadeOutput => ({ value: each, script: scriptOf(kind) }));
    return bcoin.TX.fromRaw(madeTransaction(inputs, outputs, 0));
  }

  /** The outputs of a transaction that was sent. */
  coin({ txid, index }: Outpoint): { readonly value: number; readonly script: Buffer } {
    const { value, script } = this.#known.get(txid.toString('hex'))?.outputs[index] ?? expect.fail('a transaction that was sent');
    return { value, script };
  }

  /** All outputs of what was sent. */
  outpoints(): Outpoint[] {
    return [...this.#known.values()].flatMap(({ txid, outputs }) => outputs.map((_, index) => ({ txid, index })));
  }

  /** So that a transaction that is not sent can be spent from. */
  know(transaction: HostTransaction): void {
    this.#known.set(transaction.hash().toString('hex'), scanWholeTransaction(transaction.toRaw()));
  }

  /** Outputs that may be spent, in a fixed order. */
  async spendable(): Promise<Outpoint[]> {
    const found: Outpoint[] = [];
    for (const { txid, outputs } of this.#known.values())
      for (const [index, { script }] of outputs.entries())
        if (!script.equals(scriptOf(DATA)) && (await this.#hasCoin(txid, index))) found.push({ txid, index });
    return found;
  }

  /** Mines a block on the tip, or on another block, with nothing but these transactions. */
  mineOnly(transactions: readonly HostTransaction[], parent?: HostEntry): Promise<HostEntry> {
    return mineOnly(this.host, transactions, parent);
  }

  /** A block that the node does not have yet. */
  mined(transactions: readonly HostTransaction[], parent?: HostEntry): Promise<HostFullBlock> {
    return blockWith(this.host, transactions, parent);
  }

  /** Mines a block that spends the same coins as one of the pool's transactions, which is removed with its descendants. */
  async mineConflict(pick: number): Promise<void> {
    const { txid: found } = this.pool.transactions()[pick % Math.max(1, this.pool.size)] ?? {};
    const [input] = found === undefined ? [] : (this.#known.get(found.toString('hex'))?.inputs ?? []);
    // A spend of an output of the pool cannot be in a block by itself.
    if (input === undefined || this.pool.has(input.txid)) return;
    const conflict = this.made([{ txid: input.txid, index: input.index }], [0, 1], 5_000 + ++this.#sent);
    if (conflict === undefined) return;
    this.know(conflict);
    await this.mineOnly([conflict]);
  }

  async goBack(how: 'fork' | 'reset' | 'invalidate', back: number): Promise<void> {
    const { chain } = this.host;
    const height = Math.max(chain.height - back, this.#funded);
    if (height === chain.height) return;
    if (how === 'reset') await chain.reset(height);
    if (how === 'invalidate') await chain.invalidate((await this.#entryAt(height + 1)).hash);
    if (how !== 'fork') return;
    let parent = await this.#entryAt(height);
    for (let i = 0; i <= back; i++) parent = await this.mineOnly([], parent);
  }

  /** Fails unless each coin that the node's pool spends is there, and is spent once. */
  expectWhole(): void {
    const { mempool } = this.host;
    const spent = new Set<string>();
    for (const { tx } of mempool.map.values())
      for (const { txid, index } of scanWholeTransaction(tx.toRaw()).inputs) {
        expect(spent.has(nameOf({ txid, index })), 'a coin that is spent twice').to.equal(false);
        spent.add(nameOf({ txid, index }));
        expect(this.#known.get(hex(txid))?.outputs[index], 'a coin').to.not.equal(undefined);
      }
  }

  /** Fails unless the pool by script agrees with the node's pool about all scripts and transactions. */
  expectRight(): void {
    const { pool } = this;
    const there = Array.from(this.host.mempool.map.values(), ({ tx, fee }) => {
      const transaction = scanWholeTransaction(tx.toRaw());
      const coins = transaction.inputs.map(({ txid, index }) => this.coin({ txid, index }));
      return { txid: hex(tx.hash()), transaction, coins, fee, weight: tx.getWeight() };
    });
    const spenders = new Map(
      there.flatMap(({ txid, transaction }) => transaction.inputs.map((input, i) => [nameOf(input), { txid, input: i }]))
    );
    const names = new Set(there.map(({ txid }) => txid));

    expect(pool.size).to.equal(there.length);
    expect(
      pool.transactions().map(({ txid, raw, fee, weight, vsize, spent }) => ({ txid: hex(txid), raw, fee, weight, vsize, spent }))
    ).to.deep.equal(
      there.map(({ txid, transaction: { raw }, fee, weight, coins }) => ({
        txid,
        raw,
        fee,
        weight,
        vsize: Math.ceil(weight / 4),
        spent: coins
      }))
    );
    const inOrder = there.map(({ txid }) => txid);
    for (const count of [1, 10, inOrder.length + 1])
      expect(pool.newest(count).map(({ txid }) => hex(txid))).to.deep.equal(inOrder.slice(-count).reverse());
    for (const { txid, transaction } of there) {
      const parents = new Set(transaction.inputs.map((input) => hex(input.txid)).filter((parent) => names.has(parent)));
      expect(pool.get(Buffer.from(txid, 'hex'))?.parents.map((parent) => hex(parent.txid))).to.have.members([...parents]);
    }
    for (const [txid, transaction] of this.#known) {
      expect(pool.has(transaction.txid)).to.equal(names.has(txid));
      transaction.outputs.forEach((_, index) => {
        const spender = pool.spender(transaction.txid, index);
        expect(spender && { txid: hex(spender.transaction.txid), input: spender.input }).to.deep.equal(
          spenders.get(nameOf({ txid: transaction.txid, index }))
        );
      });
    }
    for (const [kind, { script }] of SCRIPTS.entries()) {
      const funded = there.map(({ transaction }) => transaction.outputs.filter((output) => output.script.equals(script)));
      const spent = there.map(({ coins }) => coins.filter((coin) => coin.script.equals(script)));
      const touching = there.filter((_, i) => kind !== DATA && [...(funded[i] ?? []), ...(spent[i] ?? [])].length > 0);
      const key = scriptHash(script);
      expect(pool.history(key).map(({ txid }) => hex(txid))).to.deep.equal(touching.map(({ txid }) => txid));
      expect(pool.totals(key)).to.deep.equal({
        transactions: touching.length,
        funded: sumOf(kind === DATA ? [] : funded.flat()),
        spent: sumOf(kind === DATA ? [] : spent.flat())
      });
    }
    expect(finish(pool.summary())).to.deep.include({
      count: there.length,
      vsize: there.reduce((sum, { weight }) => sum + Math.ceil(weight / 4), 0),
      totalFee: there.reduce((sum, { fee }) => sum + fee, 0)
    });
  }

  async #replace({ pick, spends, pays, fee }: ReplaceStep): Promise<void> {
    const pooled = this.pool.transactions();
    const [input] = pooled[pick % Math.max(1, pooled.length)]?.transaction.inputs ?? [];
    if (input === undefined) return;
    await this.#sendUnlessRefused([{ txid: input.txid, index: input.index }, ...(await this.#picked(spends))], pays, fee);
  }

  async #sendUnlessRefused(spends: readonly Outpoint[], pays: readonly number[], fee: number): Promise<void> {
    try {
      await this.send(spends, pays, fee);
    } catch (error) {
      if (!REFUSALS.some((reason) => (error as Error).message.startsWith(reason))) throw error;
    }
  }

  async #sendPicked({ do: what, spends, pays, fee }: SendStep): Promise<void> {
    const options = this.host.mempool.options as { maxSize: number };
    const { maxSize } = options;
    if (what === 'send into a full pool') options.maxSize = Math.max(1, this.host.mempool.getSize());
    try {
      await this.#sendUnlessRefused(await this.#picked(spends), pays, fee);
    } catch (error) {
      // The new transaction may itself be the one that pays the least.
      if (options.maxSize === maxSize || !(error as Error).message.includes('mempool full')) throw error;
    } finally {
      options.maxSize = maxSize;
    }
  }

  async #give(transaction: HostTransaction): Promise<void> {
    this.#known.set(hex(transaction.hash()), scanWholeTransaction(transaction.toRaw()));
    await this.host.mempool.addTX(transaction);
    if (this.host.chain.height < 102) await mine(this.host, 1);
  }

  async #picked(picks: readonly number[]): Promise<Outpoint[]> {
    const left = await this.spendable();
    return picks.flatMap((pick) => left.splice(pick % Math.max(1, left.length), 1));
  }

  async #hasCoin(txid: Buffer, index: number): Promise<boolean> {
    return (await this.host.getCoin(this.hostHash(txid), index)) !== null;
  }

  async #entryAt(height: number): Promise<HostEntry> {
    return (await this.host.chain.getEntryByHeight(height)) ?? expect.fail(`a block at height ${height}`);
  }

  hostHash(hash: Buffer): HostHash {
    return typeof this.host.chain.tip.hash === 'string' ? hash.toString('hex') : hash;
  }
}

/** bcoin's own pool and today's, and the steps that a node takes with each. */
export const POOLS: readonly { readonly name: string; readonly start: () => Promise<PoolWalk>; readonly step: fc.Arbitrary<PoolStep> }[] = [
  { name: "bcoin's pool", start: () => PoolWalk.start(), step: poolStep(DATA) },
  {
    name: 'the modern pool',
    start: () => PoolWalk.startModern(),
    step: fc.oneof({ weight: 15, arbitrary: poolStep(TAPROOT) }, { weight: 8, arbitrary: replacingStep })
  }
];

const hex = (txid: Buffer): string => txid.toString('hex');

const nameOf = ({ txid, index }: Outpoint): string => `${hex(txid)}-${index}`;

const sumOf = (coins: readonly { readonly value: number }[]): { count: number; value: number } => ({
  count: coins.length,
  value: coins.reduce((sum, { value }) => sum + value, 0)
});

const scriptOf = (kind: number): Buffer => SCRIPTS[kind]?.script ?? expect.fail(`a script of number ${kind}`);

function spenderOf(locking: Buffer): Omit<Payable, 'script'> {
  const { unlock, witness } = SCRIPTS.find(({ script }) => script.equals(locking)) ?? expect.fail('a script of ours');
  return { unlock, ...(witness && { witness }) };
}
