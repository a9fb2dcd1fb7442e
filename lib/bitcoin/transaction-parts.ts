// Inputs, outputs and witnesses of a serialized transaction: each is either read, as objects
// that hold offsets and copy nothing, or passed over and only checked.

import { type ByteReader, MalformedBytesError } from './reader';

/** Bytes that the marker and the flag of BIP144 take, after the version. */
export const MARKER_AND_FLAG = 2;
const WITNESS_FLAG = 1;

/** Outpoint and sequence of an input stand around its script. */
const OUTPOINT_LENGTH = 36;
const SEQUENCE_LENGTH = 4;

/** An input. Offsets count from the start of `bytes`. */
export class ScannedInput {
  constructor(
    readonly bytes: Buffer,
    readonly offset: number,
    readonly scriptOffset: number,
    readonly scriptLength: number
  ) {}

  /** Txid of the output spent: 32 bytes in wire order, a new view. */
  get txid(): Buffer {
    return this.bytes.subarray(this.offset, this.offset + 32);
  }

  /** Index of the output spent, unsigned. */
  get index(): number {
    return this.bytes.readUInt32LE(this.offset + 32);
  }

  /** The scriptSig, a new view. */
  get script(): Buffer {
    return this.bytes.subarray(this.scriptOffset, this.scriptOffset + this.scriptLength);
  }

  get sequence(): number {
    return this.bytes.readUInt32LE(this.scriptOffset + this.scriptLength);
  }
}

/** An output. `value` in satoshis. */
export class ScannedOutput {
  constructor(
    readonly bytes: Buffer,
    readonly value: number,
    readonly scriptOffset: number,
    readonly scriptLength: number
  ) {}

  /** The locking script, a new view. */
  get script(): Buffer {
    return this.bytes.subarray(this.scriptOffset, this.scriptOffset + this.scriptLength);
  }
}

/** Only a coinbase spends output 0xffffffff of txid zero. */
export function isNullOutpoint(bytes: Buffer, offset: number): boolean {
  for (let at = offset; at < offset + 32; at++)
    if (bytes[at] !== 0)
      return false;
  return bytes.readUInt32LE(offset + 32) === 0xffff_ffff;
}

/** Reads inputs, from behind their count. */
export function readInputs(reader: ByteReader, count: number): ScannedInput[] {
  const inputs: ScannedInput[] = [];
  for (let i = 0; i < count; i++) {
    const { offset } = reader;
    reader.skip(OUTPOINT_LENGTH);
    const scriptLength = reader.compactSize();
    inputs.push(new ScannedInput(reader.buffer, offset, reader.offset, scriptLength));
    reader.skip(scriptLength + SEQUENCE_LENGTH);
  }
  return inputs;
}

/** Passes over inputs, from behind their count. */
export function skipInputs(reader: ByteReader, count: number): void {
  for (let i = 0; i < count; i++) {
    reader.skip(OUTPOINT_LENGTH);
    reader.skip(reader.compactSize() + SEQUENCE_LENGTH);
  }
}

/** Reads outputs, from their count on. */
export function readOutputs(reader: ByteReader): ScannedOutput[] {
  const outputs: ScannedOutput[] = [];
  for (let left = reader.compactSize(); left > 0; left--) {
    const value = reader.u64();
    const scriptLength = reader.compactSize();
    outputs.push(new ScannedOutput(reader.buffer, value, reader.offset, scriptLength));
    reader.skip(scriptLength);
  }
  return outputs;
}

/** Passes over outputs, from their count on; amounts are checked. */
export function skipOutputs(reader: ByteReader): void {
  for (let left = reader.compactSize(); left > 0; left--) {
    reader.u64();
    reader.skipVarBytes();
  }
}

/** Passes over marker and flag, from behind the version; false when there are none (BIP144: no inputs is the marker). */
export function skipMarkerAndFlag(reader: ByteReader): boolean {
  if (reader.buffer[reader.offset] !== 0) return false;
  reader.skip(1);
  const flag = reader.u8();
  if (flag !== WITNESS_FLAG)
    throw new MalformedBytesError('inputs or the witness flag 1', `${flag}`, reader.offset - 1);
  return true;
}

/** How many inputs follow. @throws MalformedBytesError for none: without marker and flag that cannot be written. */
export function readInputCount(reader: ByteReader): number {
  const count = reader.compactSize();
  if (count === 0)
    throw new MalformedBytesError('inputs after the witness flag', 'none', reader.offset - 1);
  return count;
}

/** Passes over one witness stack per input and returns how many items they have together. */
export function skipWitness(reader: ByteReader, inputCount: number): number {
  let items = 0;
  for (let input = 0; input < inputCount; input++) {
    const count = reader.compactSize();
    items += count;
    for (let item = 0; item < count; item++)
      reader.skipVarBytes();
  }
  return items;
}
