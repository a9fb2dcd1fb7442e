// A chain on disk with thousands of transactions, each of which pays to a script of its own.

import { bcoin } from '../support/bcoin/bcoin';
import { newFolder } from '../support/process/folders';
import { madeTransaction } from '../support/chain/made-blocks';
import { mine, mineOnly, openRegtestNode } from '../support/bcoin/regtest-node';
import { signed } from '../support/chain/signed';
import type { HostTransaction } from '../../lib/node/host';

const MATURE = 100;
const FEE = 1_000;
/** The script that all of them spend from. */
export const BUSY_SCRIPT = Buffer.from([0x51]);

/** Gives the folder of a node, which is closed, and the height of the block with the transactions. */
export async function busyChain(transactions: number): Promise<{ readonly folder: string; readonly height: number }> {
  const folder = await newFolder();
  const node = await openRegtestNode({ prefix: folder });
  const ring = bcoin.KeyRing.generate();
  const [first] = await mine(node, MATURE + 1, undefined, ring.getAddress());
  const coins = signed(
    ring,
    [first?.txs[0] as HostTransaction], // every block has one
    Array.from({ length: transactions }, () => [BUSY_SCRIPT, FEE])
  );
  await mineOnly(node, [coins]);
  const payments = Array.from({ length: transactions }, (_, index) =>
    madeTransaction([{ txid: coins.hash(), index }], [{ value: 0, script: pushOf(index) }], 0)
  );
  const { height } = await mineOnly(
    node,
    payments.map((raw) => bcoin.TX.fromRaw(raw))
  );
  await node.close();
  return { folder, height };
}

/** A script that pushes a number of four bytes. */
function pushOf(number: number): Buffer {
  const script = Buffer.from([0x04, 0, 0, 0, 0]);
  script.writeUInt32LE(number, 1);
  return script;
}
