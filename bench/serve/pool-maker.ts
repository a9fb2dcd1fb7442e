// Fills the node's own pool with signed transactions: spends of coinbases that the chain pays
// to one known key, and spends of those, so that entries depend on each other.

import { bcoin, type HostKeyRing, type TestFullNode } from '../../test/support/bcoin';
import { openRegtestNode, type RegtestOptions } from '../../test/support/regtest-node';
import { Random } from '../chain/random';
import type { HostTransaction } from '../../lib/node/host';

/** The first so many blocks pay to `ownScript`, in 100 outputs each. */
export const OWNED_BLOCKS = 40;

const OUTPUTS_PER_BLOCK = 100;
const OWNED_VALUE = 5_000_000_000 / OUTPUTS_PER_BLOCK;
/** Of the transactions: those that spend another one of the pool. */
const CHILD_SHARE = 0.35;
const SEED = 11;

const KEY = Buffer.alloc(32, 9);
const legacy: HostKeyRing = bcoin.KeyRing.fromPrivate(KEY, true);
const witness: HostKeyRing = Object.assign(bcoin.KeyRing.fromPrivate(KEY, true), { witness: true });

/** By turns P2WPKH and P2PKH. */
export function ownScript(height: number): Buffer {
  const hash = legacy.getKeyHash();
  return height % 2 === 0
    ? Buffer.concat([Buffer.from([0x00, 20]), hash])
    : Buffer.concat([Buffer.from([0x76, 0xa9, 20]), hash, Buffer.from([0x88, 0xac])]);
}

interface OwnCoin {
  readonly transaction: HostTransaction;
  readonly index: number;
  readonly value: number;
}

/** Opens a node in the folder and leaves `count` transactions in its pool's file. @throws Error when the pool takes fewer */
export async function fillPool(prefix: string, count: number, settings: RegtestOptions['settings']): Promise<void> {
  const node = await openRegtestNode({ prefix, settings: { ...settings } });
  try {
    const random = new Random(SEED);
    const coins = await ownCoins(node);
    const change: OwnCoin[] = [];
    for (let i = 0; i < count; i++) {
      const coin = random.unit() < CHILD_SHARE ? change.splice(random.below(change.length), 1)[0] ?? coins.pop() : coins.pop();
      if (coin === undefined) throw new Error('expected a coin to spend, got none');
      const signed = pay(coin, random);
      await node.mempool.addTX(signed.transaction);
      change.push(signed);
    }
    if (node.mempool.map.size !== count) throw new Error(`expected ${count} transactions in the pool, got ${node.mempool.map.size}`);
    // bcoin writes it with the next block, and not on closing.
    await (node.mempool as unknown as { readonly cache: { flush(): Promise<void> } }).cache.flush();
  } finally {
    await node.close();
  }
}

async function ownCoins(node: TestFullNode): Promise<OwnCoin[]> {
  const coins: OwnCoin[] = [];
  for (let height = 1; height <= OWNED_BLOCKS; height++) {
    const entry = await node.chain.getEntryByHeight(height);
    const block = entry && await node.chain.getBlock(entry.hash);
    const coinbase = block?.txs[0];
    if (coinbase === undefined) throw new Error(`expected a block at height ${height}, got none`);
    for (let index = 0; index < OUTPUTS_PER_BLOCK; index++) coins.push({ transaction: coinbase, index, value: OWNED_VALUE });
  }
  return coins;
}

/** One or two payments to others and the change, which comes first. */
function pay({ transaction, index, value }: OwnCoin, random: Random): OwnCoin {
  const spending = new bcoin.MTX();
  spending.addTX(transaction, index);
  const payments = 1 + random.below(2);
  const fee = 2_000 + random.below(30_000);
  const payment = 20_000 + random.below(100_000);
  const rest = value - fee - payments * payment;
  spending.addOutput((random.below(2) === 0 ? legacy : witness).getAddress(), rest);
  for (let i = 0; i < payments; i++)
    spending.addOutput(bcoin.KeyRing.fromPrivate(Buffer.concat([Buffer.alloc(16, 1), random.bytes(16)]), true).getAddress(), payment);
  spending.sign([legacy, witness]);
  return { transaction: spending.toTX(), index: 0, value: rest };
}
