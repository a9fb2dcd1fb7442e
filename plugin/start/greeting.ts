// The first words to a new user: requests to try, with hashes of the chain at hand.

import { scanBlock } from '../../lib/bitcoin/block';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import type { AddressInfo } from 'node:net';
import type { NodeSource } from '../../lib/node/types';

/** The text that `npm start` prints once the server listens. */
export async function greeting(node: NodeSource): Promise<string> {
  const { address, port } = node.httpServer.address() as AddressInfo;
  const base = `http://${address}:${port}/rest`;
  const { hash, height } = node.tip();
  const raw = await node.rawBlock(hash);
  const last = raw && scanBlock(raw).transactions.at(-1);
  const [pooled] = node.pool.entries();
  return [
    '',
    `REST answers at height ${height}. Try:`,
    `  curl ${base}/chaininfo.json`,
    `  curl ${base}/block/notxdetails/${toDisplayHex(hash)}.json`,
    ...last ? [
      `  curl ${base}/tx/${toDisplayHex(last.txid)}.json`,
      `  curl ${base}/getutxos/checkmempool/${toDisplayHex(last.txid)}-0.json`
    ] : [],
    ...pooled ? [`  curl ${base}/tx/${toDisplayHex(pooled.txid)}.json`] : [],
    `  curl ${base}/mempool/contents.json`,
    'Ctrl-C stops the node.',
    ''
  ].join('\n');
}
