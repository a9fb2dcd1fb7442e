// The first words to a new user: requests to try, with hashes of the chain at hand.

import { scanBlock } from '../../lib/bitcoin/block';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import type { AddressInfo } from 'node:net';
import type { NodeSource } from '../../lib/node/types';
import type { StartSettings } from './settings';

/** The text that `npm start` prints once requests are answered. */
export async function greeting(node: NodeSource, apiKey: StartSettings['apiKey']): Promise<string> {
  const base = restUrl(node);
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
    ...apiKey?.file === undefined ? [] : [
      `RPC and wallet ask for the key in ${apiKey.file}:`,
      `  curl -u "x:$(cat ${apiKey.file})" ${base.replace(/rest$/, '')}`
    ],
    'Ctrl-C stops the node.',
    ''
  ].join('\n');
}

/** Of a server that listens. */
export function restUrl({ httpServer }: NodeSource): string {
  const { address, port, family } = httpServer.address() as AddressInfo;
  const scheme = 'setSecureContext' in httpServer ? 'https' : 'http';
  return `${scheme}://${family === 'IPv6' ? `[${address}]` : address}:${port}/rest`;
}
