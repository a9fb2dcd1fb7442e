// Finds the parts of a serialized transaction without copying them (protocol serialization,
// BIP141/BIP144 for the witness). What costs anything, views and hashes, is made when asked for.

import { hash256, hash256Of } from './hash';
import { ByteReader, MalformedBytesError } from './reader';
import {
  isNullOutpoint, MARKER_AND_FLAG, readInputCount, readInputs, readOutputs, skipInputs, skipMarkerAndFlag, skipOutputs, skipWitness,
  type ScannedInput, type ScannedOutput
} from './transaction-parts';

/** Where the parts of a transaction lie. Offsets count from the start of `bytes`. */
interface TransactionLayout {
  readonly bytes: Buffer;
  readonly offset: number;
  readonly length: number;
  readonly hasWitness: boolean;
  readonly inputCount: number;
  readonly inputsOffset: number;
  /** Of the compact size in front of the outputs. */
  readonly outputsOffset: number;
  /** First byte after the outputs: the witness of the first input, or the locktime. */
  readonly witnessOffset: number;
}

/** A transaction inside `bytes`, which may be a whole block. */
export class ScannedTransaction implements TransactionLayout {
  readonly bytes: Buffer;
  readonly offset: number;
  /** As serialized, with the witness. */
  readonly length: number;
  readonly hasWitness: boolean;
  readonly inputCount: number;
  readonly inputsOffset: number;
  readonly outputsOffset: number;
  readonly witnessOffset: number;
  #txid: Buffer | undefined;

  constructor(layout: TransactionLayout) {
    this.bytes = layout.bytes;
    this.offset = layout.offset;
    this.length = layout.length;
    this.hasWitness = layout.hasWitness;
    this.inputCount = layout.inputCount;
    this.inputsOffset = layout.inputsOffset;
    this.outputsOffset = layout.outputsOffset;
    this.witnessOffset = layout.witnessOffset;
  }

  /** Made on each call: a block whose inputs are all kept is a lot to collect. */
  get inputs(): readonly ScannedInput[] {
    return readInputs(new ByteReader(this.bytes, this.inputsOffset), this.inputCount);
  }

  /** Made on each call, as the inputs are. */
  get outputs(): readonly ScannedOutput[] {
    return readOutputs(new ByteReader(this.bytes, this.outputsOffset));
  }

  get version(): number {
    return this.bytes.readInt32LE(this.offset);
  }

  get locktime(): number {
    return this.bytes.readUInt32LE(this.offset + this.length - 4);
  }

  /** Length of the serialization without witness. */
  get strippedLength(): number {
    if (!this.hasWitness)
      return this.length;
    return this.witnessOffset - this.offset - MARKER_AND_FLAG + 4;
  }

  /** BIP141: three times the stripped length and the whole length. */
  get weight(): number {
    return this.strippedLength * 3 + this.length;
  }

  get isCoinbase(): boolean {
    return this.inputCount === 1 && isNullOutpoint(this.bytes, this.inputsOffset);
  }

  /** The serialization with witness, a new view. */
  get raw(): Buffer {
    return this.bytes.subarray(this.offset, this.offset + this.length);
  }

  /** Hash without the witness: 32 bytes in wire order, computed once. */
  get txid(): Buffer {
    return this.#txid ??= this.hasWitness ? hash256Of(...this.strippedParts()) : hash256(this.raw);
  }

  /** Hash with the witness (BIP141), computed on each call. */
  get wtxid(): Buffer {
    return this.hasWitness ? hash256(this.raw) : this.txid;
  }

  /** Views that make up the serialization without witness. */
  strippedParts(): Buffer[] {
    if (!this.hasWitness)
      return [this.raw];
    const { bytes, offset } = this;
    const end = offset + this.length;
    return [
      bytes.subarray(offset, offset + 4),
      bytes.subarray(offset + 4 + MARKER_AND_FLAG, this.witnessOffset),
      bytes.subarray(end - 4, end)
    ];
  }
}

/**
 * Scans the transaction that begins at `offset`; what follows it is not looked at.
 * @throws MalformedBytesError also for no inputs, an unknown flag or a superfluous witness.
 */
export function scanTransaction(bytes: Buffer, offset = 0): ScannedTransaction {
  const reader = new ByteReader(bytes, offset);
  reader.skip(4);
  const hasWitness = skipMarkerAndFlag(reader);
  const inputCount = readInputCount(reader);
  const inputsOffset = reader.offset;
  skipInputs(reader, inputCount);
  const outputsOffset = reader.offset;
  skipOutputs(reader);
  const witnessOffset = reader.offset;
  if (hasWitness && skipWitness(reader, inputCount) === 0)
    throw new MalformedBytesError('a witness item', 'only empty witnesses', witnessOffset);
  reader.skip(4);
  const length = reader.offset - offset;
  return new ScannedTransaction({ bytes, offset, length, hasWitness, inputCount, inputsOffset, outputsOffset, witnessOffset });
}

/** Scans bytes that are one transaction and nothing else. @throws MalformedBytesError */
export function scanWholeTransaction(raw: Buffer): ScannedTransaction {
  const transaction = scanTransaction(raw, 0);
  if (transaction.length !== raw.length)
    throw new MalformedBytesError('the end of the transaction', `${raw.length - transaction.length} more bytes`, transaction.length);
  return transaction;
}

/** The serialization without witness; `raw` itself when it has none. @throws MalformedBytesError */
export function withoutWitness(raw: Buffer): Buffer {
  const transaction = scanWholeTransaction(raw);
  return transaction.hasWitness ? Buffer.concat(transaction.strippedParts(), transaction.strippedLength) : raw;
}
