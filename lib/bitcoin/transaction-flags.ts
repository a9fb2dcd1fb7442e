// What mempool's interface says about a transaction in one number of flags (TransactionFlags in its mempool.interfaces.ts), as far as it
// follows from the transaction and the outputs that it spends. Flags that are guesses about what somebody meant (inscriptions, keys and
// hashes that are none, joined transactions, standardness, kinds of signatures) are never set.

import { ByteReader } from './reader';
import { OP_RETURN } from './script';
import { scriptTypeOf, type ScriptType } from './script-type';
import { ANNEX_TAG, LAST_REPLACEABLE_SEQUENCE, type ScannedTransaction } from './transaction';

const [RBF, NO_RBF] = [1 << 0, 1 << 1];

const VERSION_FLAGS: ReadonlyMap<number, number> = new Map([
  [1, 1 << 2],
  [2, 1 << 3],
  [3, 1 << 4]
]);

const TYPE_FLAGS: Readonly<Partial<Record<ScriptType, number>>> = {
  pubkey: 1 << 8,
  multisig: 1 << 9,
  pubkeyhash: 1 << 10,
  scripthash: 1 << 11,
  witness_v0_keyhash: 1 << 12,
  witness_v0_scripthash: 1 << 13,
  witness_v1_taproot: 1 << 14
};

/** In the pool: another transaction spends from it, or it spends from another one. */
export const [CPFP_PARENT, CPFP_CHILD] = [1 << 16, 1 << 17];

const [OP_RETURN_FLAG, ANNEX] = [1 << 24, 1 << 28];

/** Beyond 32 bits. */
const [CONSOLIDATION, BATCH_PAYOUT] = [2 ** 33, 2 ** 34];

/** How many times as many inputs as outputs make a consolidation, and the other way round a payout. */
const MANY = 5;

/** `spent`: the scripts of the outputs that it spends, in the order of its inputs; none for a coinbase. The two flags of the pool are not set. */
export function transactionFlags(transaction: ScannedTransaction, spent: readonly Buffer[]): number {
  const { inputs, outputs, version } = transaction;
  let flags = inputs.some(({ sequence }) => sequence <= LAST_REPLACEABLE_SEQUENCE) ? RBF : NO_RBF;
  flags |= VERSION_FLAGS.get(version) ?? 0;
  const types = spent.map((script) => scriptTypeOf(script));
  for (const type of types) flags |= TYPE_FLAGS[type] ?? 0;
  for (const { script } of outputs) flags |= TYPE_FLAGS[scriptTypeOf(script)] ?? 0;
  if (outputs.some(({ script }) => script[0] === OP_RETURN)) flags |= OP_RETURN_FLAG;
  if (transaction.hasWitness && hasAnnex(transaction, types)) flags |= ANNEX;
  const ratio = inputs.length / outputs.length;
  return flags + (ratio >= MANY ? CONSOLIDATION : 0) + (ratio <= 1 / MANY ? BATCH_PAYOUT : 0);
}

/** Whether an input that spends a taproot output has an annex (BIP341). */
function hasAnnex({ bytes, witnessOffset }: ScannedTransaction, types: readonly ScriptType[]): boolean {
  const reader = new ByteReader(bytes, witnessOffset);
  let found = false;
  for (const type of types) {
    const items = reader.compactSize();
    for (let left = items; left > 0; left--) {
      const length = reader.compactSize();
      const start = reader.skip(length);
      const isLastOfMany = left === 1 && items > 1;
      if (isLastOfMany && type === 'witness_v1_taproot' && length > 0 && bytes[start] === ANNEX_TAG) found = true;
    }
  }
  return found;
}
