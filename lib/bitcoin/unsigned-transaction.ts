// A transaction without signatures, as bytes.

import { compactSizeOf } from './reader';

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
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64LE(BigInt(satoshis));
  return bytes;
}

/** Bytes after their length, a compact size. */
export const withLength = (bytes: Buffer): Buffer => Buffer.concat([compactSizeOf(bytes.length), bytes]);

const INPUT_LENGTH = 41;

/** The serialization without witness. */
export function unsignedBytes({ version, inputs, outputs, locktime }: UnsignedTransaction): Buffer {
  const ins = Buffer.alloc(inputs.length * INPUT_LENGTH);
  for (const [i, { txid, index, sequence }] of inputs.entries()) {
    const at = i * INPUT_LENGTH;
    txid.copy(ins, at);
    ins.writeUInt32LE(index, at + 32);
    // Between them is the length of a script: 0.
    ins.writeUInt32LE(sequence, at + 37);
  }
  return Buffer.concat([
    u32Of(version),
    compactSizeOf(inputs.length),
    ins,
    compactSizeOf(outputs.length),
    ...outputs.flatMap(({ value, script }) => [value, compactSizeOf(script.length), script]),
    u32Of(locktime)
  ]);
}
