// Filters of blocks, put together from nothing but the blocks and the scripts that they spend.

import { scanBlock } from '../../lib/bitcoin/block';
import { basicFilter, ScriptHashes } from '../../lib/bitcoin/block-filter';

/** The serialized filter of a block that spends outputs with these scripts. */
export function filterFrom(raw: Buffer, spent: readonly Buffer[]): Buffer {
  const { hash, transactions } = scanBlock(raw);
  const outputs = transactions.flatMap((transaction) => transaction.outputs);
  const hashes = new ScriptHashes(hash, new Uint32Array((outputs.length + spent.length) * 2));
  for (const { script } of outputs) hashes.addOutput(script, 0, script.length);
  for (const script of spent) hashes.addSpent(script, 0, script.length);
  const filter = basicFilter(hashes.words);
  for (;;) {
    const { done, value } = filter.next();
    if (done === true) return value;
  }
}
