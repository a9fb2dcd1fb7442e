// Finds the parts of a serialized transaction without copying them (protocol serialization,
// BIP141/BIP144 for the witness). What costs anything, views and hashes, is made when asked for.

import { hash256, hash256Of } from './hash';
import { ByteReader, MalformedBytesError } from './reader';

/** Bytes that the marker and the flag of BIP144 take, after the version. */
const MARKER_AND_FLAG = 2;

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

  /** The 36 bytes of txid and index as they stand in the transaction, a new view. */
  get outpoint(): Buffer {
    return this.bytes.subarray(this.offset, this.offset + 36);
  }

  /** The scriptSig, a new view. */
  get script(): Buffer {
    return this.bytes.subarray(this.scriptOffset, this.scriptOffset + this.scriptLength);
  }

  get sequence(): number {
    return this.bytes.readUInt32LE(this.scriptOffset + this.scriptLength);
  }

  /** Only a coinbase spends output 0xffffffff of txid zero. */
  get isNull(): boolean {
    for (let at = this.offset; at < this.offset + 32; at++)
      if (this.bytes[at] !== 0)
        return false;
    return this.index === 0xffff_ffff;
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

/** Where the parts of a transaction lie. Offsets count from the start of `bytes`. */
interface TransactionLayout {
  readonly bytes: Buffer;
  readonly offset: number;
  readonly length: number;
  readonly hasWitness: boolean;
  /** First byte after the outputs: the witness of the first input, or the locktime. */
  readonly witnessOffset: number;
  readonly inputs: readonly ScannedInput[];
  readonly outputs: readonly ScannedOutput[];
}

/** A transaction inside `bytes`, which may be a whole block. */
export class ScannedTransaction implements TransactionLayout {
  readonly bytes: Buffer;
  readonly offset: number;
  /** As serialized, with the witness. */
  readonly length: number;
  readonly hasWitness: boolean;
  readonly witnessOffset: number;
  readonly inputs: readonly ScannedInput[];
  readonly outputs: readonly ScannedOutput[];
  #txid: Buffer | undefined;

  constructor(layout: TransactionLayout) {
    this.bytes = layout.bytes;
    this.offset = layout.offset;
    this.length = layout.length;
    this.hasWitness = layout.hasWitness;
    this.witnessOffset = layout.witnessOffset;
    this.inputs = layout.inputs;
    this.outputs = layout.outputs;
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
    return this.inputs.length === 1 && (this.inputs[0] as ScannedInput).isNull;
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

function scanInputs(reader: ByteReader, count: number): ScannedInput[] {
  const inputs: ScannedInput[] = [];
  for (let i = 0; i < count; i++) {
    const { offset } = reader;
    reader.skip(36);
    const scriptLength = reader.compactSize();
    inputs.push(new ScannedInput(reader.buffer, offset, reader.offset, scriptLength));
    reader.skip(scriptLength);
    reader.skip(4);
  }
  return inputs;
}

function scanOutputs(reader: ByteReader): ScannedOutput[] {
  const outputs: ScannedOutput[] = [];
  for (let left = reader.compactSize(); left > 0; left--) {
    const value = reader.u64();
    const scriptLength = reader.compactSize();
    outputs.push(new ScannedOutput(reader.buffer, value, reader.offset, scriptLength));
    reader.skip(scriptLength);
  }
  return outputs;
}

/** Passes over one witness stack per input. */
function skipWitness(reader: ByteReader, inputCount: number): void {
  const { offset } = reader;
  let items = 0;
  for (let input = 0; input < inputCount; input++) {
    const count = reader.compactSize();
    items += count;
    for (let item = 0; item < count; item++)
      reader.skipVarBytes();
  }
  if (items === 0)
    throw new MalformedBytesError('a witness item', 'only empty witnesses', offset);
}

/**
 * Scans the transaction that begins at `offset`; what follows it is not looked at.
 * @throws MalformedBytesError also for no inputs, an unknown flag or a superfluous witness.
 */
export function scanTransaction(bytes: Buffer, offset = 0): ScannedTransaction {
  const reader = new ByteReader(bytes, offset);
  reader.skip(4);
  let inputCount = reader.compactSize();
  let hasWitness = false;
  if (inputCount === 0) {
    // BIP144: no inputs is the marker, the flag follows.
    const flag = reader.u8();
    if (flag !== 1)
      throw new MalformedBytesError('inputs or the witness flag 1', `${flag}`, reader.offset - 1);
    hasWitness = true;
    inputCount = reader.compactSize();
    if (inputCount === 0)
      throw new MalformedBytesError('inputs after the witness flag', 'none', reader.offset - 1);
  }
  const inputs = scanInputs(reader, inputCount);
  const outputs = scanOutputs(reader);
  const witnessOffset = reader.offset;
  if (hasWitness)
    skipWitness(reader, inputCount);
  reader.skip(4);
  return new ScannedTransaction({ bytes, offset, length: reader.offset - offset, hasWitness, witnessOffset, inputs, outputs });
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
