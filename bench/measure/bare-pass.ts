// The baseline for catching up: read every block from the node and hash every txid, in one
// thread, and nothing else.

import { scanBlock } from '../../lib/bitcoin/block';
import { blockAt } from './held-back-node';
import { cpuMilliseconds } from './process-load';
import type { NodeSource } from '../../lib/node/types/source';

export interface BarePass {
  readonly seconds: number;
  /** Processor time of all threads. */
  readonly cpuSeconds: number;
  /** Bytes of the blocks up to and including each height. */
  readonly bytesTo: readonly number[];
}

export async function barePass(node: NodeSource, toHeight: number): Promise<BarePass> {
  const bytesTo: number[] = [];
  let bytes = 0;
  let hashed = 0;
  const started = performance.now();
  const cpuBefore = cpuMilliseconds();
  for (let height = 0; height <= toHeight; height++) {
    const { raw } = await blockAt(node, height);
    for (const transaction of scanBlock(raw).transactions) hashed += transaction.txid.length;
    bytesTo.push((bytes += raw.length));
  }
  const seconds = (performance.now() - started) / 1_000;
  const cpuSeconds = (cpuMilliseconds() - cpuBefore) / 1_000;
  if (hashed === 0) throw new Error('expected transactions, got none');
  return { seconds, cpuSeconds, bytesTo };
}
