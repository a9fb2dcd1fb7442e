// Small blocks with only the parts that an index reads: no proof of work, no signatures.

import { hash256 } from '../../../lib/bitcoin/hash';
import { compactSizeOf } from '../../../lib/bitcoin/reader';

export interface MadeInput {
  readonly txid: Buffer;
  readonly index: number;
  /** The script that unlocks the coin; empty unless given. */
  readonly unlock?: Buffer;
  readonly witness?: readonly Buffer[];
}

export interface MadeOutput {
  readonly value: number;
  readonly script: Buffer;
}

const u32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
};

const u64 = (value: number): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
};

const varBytes = (bytes: Buffer): Buffer => Buffer.concat([compactSizeOf(bytes.length), bytes]);

/** A serialized transaction. Another locktime makes another txid. */
export function madeTransaction(inputs: readonly MadeInput[], outputs: readonly MadeOutput[], locktime: number): Buffer {
  const hasWitness = inputs.some(({ witness }) => witness !== undefined);
  return Buffer.concat([
    u32(1),
    hasWitness ? Buffer.of(0, 1) : Buffer.alloc(0),
    compactSizeOf(inputs.length),
    ...inputs.map(({ txid, index, unlock }) => Buffer.concat([txid, u32(index), varBytes(unlock ?? Buffer.alloc(0)), u32(0xffff_ffff)])),
    compactSizeOf(outputs.length),
    ...outputs.map(({ value, script }) => Buffer.concat([u64(value), varBytes(script)])),
    ...(hasWitness ? inputs.map(({ witness = [] }) => Buffer.concat([compactSizeOf(witness.length), ...witness.map(varBytes)])) : []),
    u32(locktime)
  ]);
}

const ANYBODY = Buffer.from([0x51]);

/**
 * A transaction of any size that anybody may spend from. `spends`: txids in wire order, of each the first output. `padding`: bytes in the
 * script of its second output, which is worth nothing.
 */
export function plainTransaction(spends: readonly Buffer[], value: number, padding = 1): Buffer {
  const inputs = spends.map((txid) => ({ txid, index: 0 }));
  return madeTransaction(
    inputs,
    [
      { value, script: ANYBODY },
      { value: 0, script: Buffer.alloc(padding, 0x6a) }
    ],
    0
  );
}

/** The same tag and outputs make the same txid, as before BIP34. */
export function madeCoinbase(tag: number, outputs: readonly MadeOutput[]): Buffer {
  return madeTransaction([{ txid: Buffer.alloc(32), index: 0xffff_ffff, unlock: Buffer.from([1, tag]) }], outputs, 0);
}

/** A serialized block. Times increase by ten minutes with `salt`, which also makes blocks with the same content differ. */
export function madeBlock(previousHash: Buffer, transactions: readonly Buffer[], salt: number): Buffer {
  const header = Buffer.concat([
    u32(1),
    previousHash,
    hash256(Buffer.concat(transactions)),
    u32(1_300_000_000 + 600 * salt),
    u32(0x207fffff),
    u32(salt)
  ]);
  return Buffer.concat([header, compactSizeOf(transactions.length), ...transactions]);
}

export const blockHash = (raw: Buffer): Buffer => hash256(raw.subarray(0, 80));
