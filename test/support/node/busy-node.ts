// A node with 10,000 payments to one address, in four full blocks.

import { expect } from 'chai';
import { ask } from '../client/http';
import { bcoin } from '../bcoin/bcoin';
import { madeTransaction } from '../chain/made-blocks';
import { mine, mineOnly } from '../bcoin/regtest-node';
import { untilReady, type RestNode } from './rest-node';
import { signed } from '../chain/signed';
import type { HostTransaction } from '../../../lib/node/host';

const TRANSACTIONS = 10_000;
const IN_BLOCK = 3_000;
const FIRST_FULL = 103;

export interface Busy {
  /** That all payments go to. */
  readonly address: string;
  /** Of a block with 3,000 of the payments, reversed hex. */
  readonly hash: string;
}

/** Fills the chain of a new node that has an index by script. */
export async function makeBusy(served: RestNode): Promise<Busy> {
  const { node } = served;
  await untilReady(served);
  const ring = bcoin.KeyRing.generate();
  const anybody = Buffer.from([0x51]);
  const [first] = await mine(node, 101, undefined, ring.getAddress());
  const coins = signed(
    ring,
    [first?.txs[0] as HostTransaction],
    Array.from({ length: TRANSACTIONS }, () => [anybody, 100_000] as const)
  );
  await mineOnly(node, [coins]);
  const script = signed(ring, [[coins, 0]], [[ring.getAddress(), 1]]).outputs[0]?.script.toRaw() ?? expect.fail('no output');
  const payments = Array.from({ length: TRANSACTIONS }, (_, index) =>
    bcoin.TX.fromRaw(madeTransaction([{ txid: coins.hash(), index }], [{ value: 90_000 + index, script }], 0))
  );
  for (let start = 0; start < TRANSACTIONS; start += IN_BLOCK) await mineOnly(node, payments.slice(start, start + IN_BLOCK));
  const hash = (await ask(served.port, { path: `/api/block-height/${FIRST_FULL}` })).body.toString();
  return { address: (ring.getAddress() as { toString(network: string): string }).toString('regtest'), hash };
}
