// A process whose files may not grow beyond a limit that its parent sets, as on a full disk: a node keeps its pool on the disk, and adds blocks
// until the pool could not be written, and then until it could, in files that begin anew. Reports what is in the pool then.
//
//   full-disk-pool.ts <folder>

import '../../../plugin/leveldown-6';
import { format } from 'node:util';
import { toDisplayHex } from '../../../lib/bitcoin/hash';
import { sameHostHash } from '../../../lib/node/host';
import { StoredPool } from '../../../lib/node/stored-pool';
import { Coinbases, COINBASE_SATS, FEE_SATS } from '../chain/coinbases';
import { MemoryLog } from '../process/memory-log';
import { mineOnly, openRegtestNode } from '../bcoin/regtest-node';

export interface FullDiskPoolMessage {
  readonly log: readonly string[];
  /** Whether the pool has followed the chain to its tip. */
  readonly isLevel: boolean;
  readonly txids: readonly string[];
}

async function main(): Promise<void> {
  const [folder] = process.argv.slice(2);
  if (folder === undefined) throw new Error('expected <folder>');
  const host = await openRegtestNode({ prefix: folder, settings: { persistentMempool: true } });
  const log = new MemoryLog();
  const { mempool, fees } = host;
  const says =
    (level: 'error' | 'info') =>
    (text: string, ...values: readonly unknown[]) => {
      log[level](format(text, ...values));
    };
  StoredPool.takeOver({ mempool, fees, logger: { error: says('error'), info: says('info') } }, 0);
  const coinbases = await Coinbases.mine(host, 101);
  let last = coinbases.fresh();
  let sats = COINBASE_SATS;
  while (log.lines.length < 2) {
    last = coinbases.paying([last], (sats -= FEE_SATS));
    await mempool.addTX(last);
    await mineOnly(host, []);
  }
  const txids = [...mempool.map.values()].map(({ tx }) => toDisplayHex(tx.hash()));
  const message: FullDiskPoolMessage = { log: log.lines, isLevel: sameHostHash(mempool.tip, host.chain.tip.hash), txids };
  process.send?.(message);
  await host.close();
  process.disconnect();
}

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
