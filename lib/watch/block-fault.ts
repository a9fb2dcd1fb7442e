// Looks for a spend of a taproot output that is not valid in a block that the node has taken.

import { scanBlock } from '../bitcoin/block';
import { ByteReader } from '../bitcoin/reader';
import { Spend } from '../taproot/spend';
import { isTaproot, verifyInput } from '../taproot/verify';
import { runAtOnce } from '../turns/slices';
import type { Curve } from '../taproot/curve';
import type { ScriptError } from '../taproot/script-error';
import type { SpentOutput } from '../bitcoin/transaction';

/** An input that other nodes refuse. */
export interface BlockFault {
  /** Of the transaction, in wire order. */
  readonly txid: Uint8Array;
  readonly input: number;
  readonly error: ScriptError;
}

/**
 * The first one of a serialized block; undefined: there is none. `spent`: the outputs that it spends, as `NodeSource.spentOutputs` has them.
 * Takes some seconds for a full block, for a thread of its own. @throws MalformedBytesError
 */
export function findFault(block: Buffer, spent: Buffer, curve: Curve): BlockFault | undefined {
  const reader = new ByteReader(spent);
  reader.compactSize(); // as many as transactions
  for (const transaction of scanBlock(block).transactions) {
    const outputs = Array.from({ length: reader.compactSize() }, () => readOutput(reader));
    const taproot = outputs.flatMap(({ script }, input) => (isTaproot(script) ? [input] : []));
    if (taproot.length === 0) continue;
    const spend = new Spend(transaction, outputs);
    for (const input of taproot) {
      const error = runAtOnce(verifyInput(spend, input, 'block', curve));
      if (error !== undefined) return { txid: transaction.txid, input, error };
    }
  }
  return undefined;
}

function readOutput(reader: ByteReader): SpentOutput {
  const value = reader.u64();
  return { value, script: reader.bytes(reader.compactSize()) };
}
