// Chains with activity on a regtest node: coins of one key spent and spent again,
// reorganizations; and the blocks of the present chain.

import { bcoin, type TestFullNode } from '../bcoin/bcoin';
import { COINBASE_SATS, FEE_SATS } from './coinbases';
import { mine, trustSpends } from '../bcoin/regtest-node';
import { signed } from './signed';
import type { HostKeyRing } from '../bcoin/bcoin';
import type { HostTransaction } from '../../../lib/node/host';
import type { NodeSource } from '../../../lib/node/types/source';

const COINBASE_MATURITY = 100;

/** The key that everything is paid to. */
const ring: HostKeyRing = bcoin.KeyRing.fromPrivate(Buffer.alloc(32, 1), true);

/** Mines blocks on the tip and gives their coinbases, which `spend` can spend. */
export async function mineCoinbases(node: TestFullNode, count: number): Promise<HostTransaction[]> {
  const blocks = await mine(node, count, undefined, ring.getAddress());
  return blocks.map(({ txs }) => txs[0] as HostTransaction); // a block has a coinbase
}

/** Spends output 0 of a transaction into outputs of the same key; the spend goes into the pool. */
export async function spend(node: TestFullNode, transaction: HostTransaction, valueSats: number, outputs = 2): Promise<HostTransaction> {
  const each = Math.floor((valueSats - FEE_SATS) / outputs);
  const values = [...Array<number>(outputs - 1).fill(each), valueSats - FEE_SATS - (outputs - 1) * each];
  const spending = signed(
    ring,
    [transaction],
    values.map((value) => [ring.getAddress(), value])
  );
  await node.mempool.addTX(spending);
  return spending;
}

/** A hundred blocks and a few with spends of their coinbases, and of these spends, also in one block. */
export async function chainWithSpends(node: TestFullNode): Promise<void> {
  // The signatures are made here.
  const checkAgain = trustSpends(node);
  const coinbases = await mineCoinbases(node, COINBASE_MATURITY + 4);
  for (const coinbase of coinbases.slice(0, 4)) {
    const child = await spend(node, coinbase, COINBASE_SATS);
    await spend(node, child, Math.floor((COINBASE_SATS - FEE_SATS) / 2));
    await mine(node, 1);
  }
  checkAgain();
}

/** Replaces the last `back` blocks by `blocks` others. */
export async function reorganize(node: TestFullNode, back: number, blocks: number): Promise<void> {
  const fork = await node.chain.getEntryByHeight(node.chain.height - back);
  await mine(node, blocks, fork ?? undefined);
}

/** The serialized blocks of the active chain, from the genesis block up. `known`: blocks by hash in hex, which the node is not asked for. */
export async function activeChain(node: NodeSource, known?: ReadonlyMap<string, Buffer>): Promise<Buffer[]> {
  const blocks: Buffer[] = [];
  for (let height = 0; height <= node.tip().height; height++) {
    const hash = await node.activeHash(height);
    const raw = hash && (known?.get(hash.toString('hex')) ?? (await node.rawBlock(hash)));
    if (raw === undefined) throw new Error(`the node has no block at height ${height}`);
    blocks.push(raw);
  }
  return blocks;
}
