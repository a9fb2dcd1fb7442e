// npm run bench:storm: what thousands of transactions cost that come into the pool of a node, with taproot and without (bench/README.md).

import { setImmediate, setTimeout as pause } from 'node:timers/promises';
import { COINBASE_MATURITY } from '../lib/bitcoin/consensus';
import { LIMITS } from '../lib/policy/limits';
import { bcoin, type HostKeyRing } from '../test/support/bcoin/bcoin';
import { activateForksEarly } from '../test/support/chain/early-forks';
import { LoopMeter } from '../test/support/process/loop-meter';
import { mine, mineOnly } from '../test/support/bcoin/regtest-node';
import { openRestNode, untilReady, type RestNode } from '../test/support/node/rest-node';
import { signed, type PaidOutput } from '../test/support/chain/signed';
import { serialized, type MadeTransaction } from '../test/taproot/made-transaction';
import { OUTPUT, signed as signedTaproot, type WayName } from '../test/taproot/signed-spends';
import { findNativeCurve } from '../lib/node/curve';
import { describeMachine } from './machine';
import { percentile } from './measure/percentile';
import type { HostTransaction } from '../lib/node/host';
import type { SpentOutput } from '../lib/bitcoin/transaction';

const STORM = 3_000;
/** Compiles the code. */
const WARM_UP = 300;
const ROUNDS = 3;

const COINBASE = 5_000_000_000;
const VALUE = 1_000_000;
/** Below it, bcoin's own pool takes nothing. */
const FEE = 1_000;
/** For work that goes on afterwards: everybody who follows the pool is told. */
const AFTERWARDS_MS = 500;
const TICK_MS = 1;

interface Figures {
  /** Microseconds of processor time of a transaction, all threads. */
  readonly cpuUs: number;
  /** Milliseconds. */
  readonly longestTurn: number;
}

/** Spends an output of `from`, for a fee. */
type Spender = (from: HostTransaction, index: number, fee: number) => Buffer;

interface Row {
  readonly name: string;
  readonly pool: 'bcoin' | 'modern';
  /** Pays and spends the coins of the row. */
  readonly kind: 'key' | WayName;
  readonly witness: boolean;
  /** Whether each transaction replaces one that is there. */
  readonly replaces?: boolean;
}

const ROWS: readonly Row[] = [
  { name: "P2WPKH, bcoin's own pool", pool: 'bcoin', kind: 'key', witness: true },
  { name: 'P2WPKH', pool: 'modern', kind: 'key', witness: true },
  { name: 'P2WPKH, each replaces one', pool: 'modern', kind: 'key', witness: true, replaces: true },
  { name: 'taproot, key path', pool: 'modern', kind: 'key', witness: false },
  { name: 'taproot, key path, each replaces one', pool: 'modern', kind: 'key', witness: false, replaces: true },
  { name: 'taproot, script path with a signature', pool: 'modern', kind: 'single', witness: false }
];

const ring: HostKeyRing = bcoin.KeyRing.generate();
ring.witness = true;

function spenderOf({ kind, witness }: Row): { readonly target: unknown; readonly spend: Spender } {
  if (witness) {
    const target = ring.getAddress();
    return { target, spend: (from, index, fee) => signed(ring, [[from, index]], [[target, VALUE - fee]]).toRaw() };
  }
  return { target: OUTPUT.script, spend: (from, index, fee) => taprootSpend(from, index, fee, kind) };
}

function taprootSpend(from: HostTransaction, index: number, fee: number, way: WayName): Buffer {
  const spent: SpentOutput[] = [{ value: VALUE, script: OUTPUT.script }];
  const number = Buffer.alloc(4);
  number.writeUInt32LE(index);
  const transaction: MadeTransaction = {
    version: 2,
    locktime: 0,
    inputs: [{ outpoint: Buffer.concat([from.hash(), number]), script: Buffer.alloc(0), sequence: 0xffff_fffd, witness: [] }],
    outputs: [{ value: VALUE - fee, script: OUTPUT.script }]
  };
  return serialized(signedTaproot({ plan: { way, type: 0, hasAnnex: false }, transaction, spent, input: 0 }).transaction);
}

async function measure(row: Row, count: number): Promise<Figures> {
  const settings = { 'rest-addresses': true, ...(row.pool === 'modern' && { 'rest-pool': 'modern' }) };
  const served = await openRestNode({ settings });
  const { node } = served;
  try {
    const { target, spend } = spenderOf(row);
    const coins = await coinsOf(served, target, count);
    const replaced = row.replaces === true ? Array.from({ length: count }, (_, i) => spend(coins, i, FEE)) : [];
    const storm = Array.from({ length: count }, (_, i) => spend(coins, i, row.replaces === true ? 2 * FEE : FEE));
    for (const raw of replaced) await node.mempool.addTX(bcoin.TX.fromRaw(raw));
    await pause(AFTERWARDS_MS);
    const meter = new LoopMeter(TICK_MS);
    await setImmediate();
    meter.take();
    const before = process.cpuUsage();
    for (const raw of storm) await node.mempool.addTX(bcoin.TX.fromRaw(raw));
    await pause(AFTERWARDS_MS);
    const { user, system } = process.cpuUsage(before);
    const longestTurn = meter.take();
    meter.close();
    if (node.mempool.map.size !== count) throw new Error(`expected ${count} transactions in the pool, got ${node.mempool.map.size}`);
    return { cpuUs: (user + system) / count, longestTurn };
  } finally {
    await node.close();
  }
}

/** A transaction in a block with as many outputs as there are to be spent. */
async function coinsOf(served: RestNode, target: unknown, count: number): Promise<HostTransaction> {
  const { node } = served;
  const outputs = Array.from({ length: count }, (): PaidOutput => [target, VALUE]);
  const [block] = await mine(node, 1 + COINBASE_MATURITY, undefined, ring.getAddress());
  const coins = signed(
    ring,
    [block?.txs[0] as HostTransaction],
    [...outputs, [ring.getAddress(), COINBASE - count * VALUE - LIMITS.mostWeight]]
  );
  await mineOnly(node, [coins]);
  await untilReady(served);
  return coins;
}

async function main(): Promise<void> {
  activateForksEarly();
  for (const row of ROWS) await measure(row, WARM_UP);
  console.log(describeMachine());
  console.log(`taproot: ${findNativeCurve() === undefined ? 'tiny-secp256k1' : "bcoin's own library"}`);
  const figures = new Map(ROWS.map(({ name }) => [name, [] as Figures[]]));
  for (let round = 0; round < ROUNDS; round++) for (const row of ROWS) figures.get(row.name)?.push(await measure(row, STORM));
  const width = Math.max(...ROWS.map(({ name }) => name.length));
  console.log(`${`${STORM} transactions`.padEnd(width)}  µs of CPU each  longest turn, ms`);
  for (const [name, list] of figures) {
    const [cpu, turn] = [list.map(({ cpuUs }) => cpuUs), list.map(({ longestTurn }) => longestTurn)].map((values) =>
      percentile(values, 0.5)
    );
    console.log(`${name.padEnd(width)}  ${cpu?.toFixed(0).padStart(14)}  ${turn?.toFixed(1).padStart(16)}`);
  }
  process.exit();
}

void main();
