// A process whose files may not grow beyond a limit that its parent sets, as on a full disk: a node keeps its pool on the disk, and adds blocks
// until the pool could not be written. From then on it could, in files that begin anew. Reports what is in the pool at the end.
//
//   full-disk-pool.ts <folder> <end>

import '../../../plugin/leveldown-6';
import { format } from 'node:util';
import { toDisplayHex } from '../../../lib/bitcoin/hash';
import { sameHostHash } from '../../../lib/node/host';
import { StoredPool } from '../../../lib/node/stored-pool';
import { Coinbases, COINBASE_SATS, FEE_SATS } from '../chain/coinbases';
import { MemoryLog } from '../process/memory-log';
import { mineOnly, openRegtestNode } from '../bcoin/regtest-node';

/** Once the pool could be written; before it is tried again; the same, after the chain has gone back without the pool. */
export type FullDiskPoolEnd = 'written' | 'closed' | 'reset';

export interface FullDiskPoolMessage {
  readonly log: readonly string[];
  /** Whether the pool has followed the chain to its tip. */
  readonly isLevel: boolean;
  readonly txids: readonly string[];
}

/** Longer than any test. */
const LATER_MS = 3_600_000;

async function main(): Promise<void> {
  const [folder, end] = process.argv.slice(2) as [string?, FullDiskPoolEnd?];
  if (folder === undefined || end === undefined) throw new Error('expected <folder> <end>');
  const host = await openRegtestNode({ prefix: folder, settings: { persistentMempool: true } });
  const log = new MemoryLog();
  const { chain, mempool, fees } = host;
  const says =
    (level: 'error' | 'info') =>
    (text: string, ...values: readonly unknown[]) => {
      log[level](format(text, ...values));
    };
  StoredPool.takeOver({ mempool, fees, logger: { error: says('error'), info: says('info') } }, end === 'written' ? 0 : LATER_MS);
  const coinbases = await Coinbases.mine(host, 101);
  let last = coinbases.fresh();
  let sats = COINBASE_SATS;
  while (log.lines.length < (end === 'written' ? 2 : 1)) {
    last = coinbases.paying([last], (sats -= FEE_SATS));
    await mempool.addTX(last);
    await mineOnly(host, []);
  }
  // bcoin's pool does not hear of it.
  if (end === 'reset') await chain.replay(chain.height);
  const txids = [...mempool.map.values()].map(({ tx }) => toDisplayHex(tx.hash()));
  const isLevel = sameHostHash(mempool.tip, chain.tip.hash);
  await host.close();
  const message: FullDiskPoolMessage = { log: log.lines, isLevel, txids };
  process.send?.(message);
  process.disconnect();
}

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
