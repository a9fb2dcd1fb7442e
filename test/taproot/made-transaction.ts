// Transactions that tests put together from parts, and the spends that are verified.

import { LONGEST_COMPACT_SIZE, writeCompactSize } from '../../lib/bitcoin/reader';
import { scanWholeTransaction, type SpentOutput } from '../../lib/bitcoin/transaction';
import { Spend, serializedLength, serializedValue } from '../../lib/taproot/spend';

export interface MadeInput {
  /** 36 bytes. */
  readonly outpoint: Buffer;
  readonly script: Buffer;
  readonly sequence: number;
  readonly witness: readonly Buffer[];
}

export interface MadeTransaction {
  readonly version: number;
  readonly locktime: number;
  readonly inputs: readonly MadeInput[];
  readonly outputs: readonly SpentOutput[];
}

const NOTHING = Buffer.alloc(0);

const u32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value >>> 0);
  return bytes;
};

function compactSize(value: number): Buffer {
  const bytes = Buffer.alloc(LONGEST_COMPACT_SIZE);
  return bytes.subarray(0, writeCompactSize(bytes, value, 0));
}

const withLength = (bytes: Buffer): Buffer[] => [serializedLength(bytes), bytes];

export function serialized({ version, locktime, inputs, outputs }: MadeTransaction): Buffer {
  const hasWitness = inputs.some(({ witness }) => witness.length > 0);
  return Buffer.concat([
    u32(version),
    hasWitness ? Buffer.of(0, 1) : NOTHING,
    compactSize(inputs.length),
    ...inputs.flatMap(({ outpoint, script, sequence }) => [outpoint, ...withLength(script), u32(sequence)]),
    compactSize(outputs.length),
    ...outputs.flatMap(({ value, script }) => [serializedValue(value), ...withLength(script)]),
    ...(hasWitness ? inputs.flatMap(({ witness }) => [compactSize(witness.length), ...witness.flatMap(withLength)]) : []),
    u32(locktime)
  ]);
}

/** The parts of a transaction. */
export function partsOf(raw: Buffer): MadeTransaction {
  const transaction = scanWholeTransaction(raw);
  const spend = new Spend(
    transaction,
    transaction.inputs.map(() => ({ value: 0, script: NOTHING }))
  );
  return {
    version: transaction.version,
    locktime: transaction.locktime,
    inputs: transaction.inputs.map(({ script, sequence }, input) => ({
      outpoint: spend.outpoint(input),
      script,
      sequence,
      witness: spend.witness(input)
    })),
    outputs: transaction.outputs.map(({ value, script }) => ({ value, script }))
  };
}

/** The transaction with another input in place of one. */
export function withInput(transaction: MadeTransaction, at: number, change: Partial<MadeInput>): MadeTransaction {
  return { ...transaction, inputs: transaction.inputs.map((input, i) => (i === at ? { ...input, ...change } : input)) };
}

export function spendOf(transaction: MadeTransaction, spent: readonly SpentOutput[]): Spend {
  return new Spend(scanWholeTransaction(serialized(transaction)), spent);
}
