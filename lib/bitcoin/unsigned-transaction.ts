// A transaction without signatures, as bytes.

import { compactSizeOf, LONGEST_COMPACT_SIZE, writeCompactSize } from './reader';
import { VALUE_LENGTH } from './transaction';

export interface UnsignedInput {
  /** 32 bytes in wire order. */
  readonly txid: Buffer;
  readonly index: number;
  readonly sequence: number;
}

export interface UnsignedOutput {
  /** 64 bits, signed, little endian: satoshis, of which nothing is checked. */
  readonly value: Buffer;
  readonly script: Buffer;
}

export interface UnsignedTransaction {
  /** 32 bits, unsigned. */
  readonly version: number;
  readonly inputs: readonly UnsignedInput[];
  readonly outputs: readonly UnsignedOutput[];
  readonly locktime: number;
}

/** 32 bits, little endian. */
export function u32Of(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

/** Satoshis as in an output: 64 bits, little endian. */
export function amountBytes(satoshis: number): Buffer {
  const bytes = Buffer.alloc(VALUE_LENGTH);
  bytes.writeBigInt64LE(BigInt(satoshis));
  return bytes;
}

/** Bytes after their length, a compact size. */
export const withLength = (bytes: Buffer): Buffer => Buffer.concat([compactSizeOf(bytes.length), bytes]);

const INPUT_LENGTH = 41;

/** The serialization without witness. In one buffer: there may be a hundred thousand outputs. */
export function unsignedBytes({ version, inputs, outputs, locktime }: UnsignedTransaction): Buffer {
  let most = 2 * 4 + 2 * LONGEST_COMPACT_SIZE + inputs.length * INPUT_LENGTH;
  for (const { script } of outputs) most += VALUE_LENGTH + LONGEST_COMPACT_SIZE + script.length;
  const bytes = Buffer.alloc(most);
  let at = writeCompactSize(bytes, inputs.length, bytes.writeUInt32LE(version));
  for (const { txid, index, sequence } of inputs) {
    txid.copy(bytes, at);
    bytes.writeUInt32LE(index, at + 32);
    // Between them is the length of a script: 0.
    at = bytes.writeUInt32LE(sequence, at + 37);
  }
  at = writeCompactSize(bytes, outputs.length, at);
  for (const { value, script } of outputs) {
    at = writeCompactSize(bytes, script.length, at + value.copy(bytes, at));
    at += script.copy(bytes, at);
  }
  return bytes.subarray(0, bytes.writeUInt32LE(locktime, at));
}
