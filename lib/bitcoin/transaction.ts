// Finds the parts of a serialized transaction without copying them (protocol serialization, BIP141 and BIP144 for the
// witness). Views and hashes are made when they are asked for.

import { hash256, writeHash256 } from './hash';
import { ByteReader, MalformedBytesError } from './reader';

export const VERSION_LENGTH = 4;
export const LOCKTIME_LENGTH = 4;
/** The marker and the flag of BIP144 follow the version. */
export const MARKER_AND_FLAG_LENGTH = 2;
const WITNESS_FLAG = 1;

/** BIP141: a virtual byte is this much weight, and so is a byte that is not in a witness. */
export const WEIGHT_PER_VBYTE = 4;
/** Bitcoin Core's fee rates are satoshis for this many virtual bytes. */
export const VBYTES_PER_RATE = 1_000;

export const TXID_LENGTH = 32;
/** An input is its outpoint, its script with a length, and its sequence. */
export const OUTPOINT_LENGTH = TXID_LENGTH + 4;
export const SEQUENCE_LENGTH = 4;
/** An output is its value, and its script with a length. */
export const VALUE_LENGTH = 8;

/** If all inputs have it, the transaction does not heed its lock time. */
export const FINAL_SEQUENCE = 0xffff_ffff;
/** Up to this one a sequence signals that the transaction may be replaced (BIP125). */
export const LAST_REPLACEABLE_SEQUENCE = 0xffff_fffd;

/** The first byte of an annex, which is the last of several items in a witness (BIP341). */
export const ANNEX_TAG = 0x50;

/** Names an output. */
export interface Outpoint {
  /** 32 bytes in wire order. */
  readonly txid: Buffer;
  /** Unsigned 32 bits. */
  readonly index: number;
}

/** An output that is spent, as much of it as signatures cover. `value` in satoshis. */
export interface SpentOutput {
  readonly value: number;
  readonly script: Buffer;
}

/** An input. Offsets count from the start of `bytes`. */
export class ScannedInput {
  constructor(
    readonly bytes: Buffer,
    readonly offset: number,
    /** Index of the output spent, unsigned. */
    readonly index: number,
    readonly scriptOffset: number,
    readonly scriptLength: number,
    readonly sequence: number
  ) {}

  /** Txid of the output spent: 32 bytes in wire order, a new view. */
  get txid(): Buffer {
    return this.bytes.subarray(this.offset, this.offset + TXID_LENGTH);
  }

  /** The scriptSig, a new view. */
  get script(): Buffer {
    return this.bytes.subarray(this.scriptOffset, this.scriptOffset + this.scriptLength);
  }
}

/** An output. Offsets count from the start of `bytes`. `value` in satoshis; of a transaction that is in no block it may be any number. */
export class ScannedOutput {
  constructor(
    readonly bytes: Buffer,
    readonly offset: number,
    readonly value: number,
    readonly scriptOffset: number,
    readonly scriptLength: number
  ) {}

  /** The locking script, a new view. */
  get script(): Buffer {
    return this.bytes.subarray(this.scriptOffset, this.scriptOffset + this.scriptLength);
  }
}

/** Most transactions fit into it, which saves an allocation for each txid. */
const workspace = Buffer.allocUnsafeSlow(16_384);

/** A transaction inside `bytes`, which may be a whole block. Offsets count from the start of `bytes`. */
export class ScannedTransaction {
  readonly bytes: Buffer;
  readonly offset: number;
  /** As serialized, with the witness. */
  readonly length: number;
  /** Whether marker and flag are there. */
  readonly hasWitness: boolean;
  /** Items in the witnesses of all inputs. */
  readonly witnessItems: number;
  readonly inputCount: number;
  readonly inputsOffset: number;
  /** Where the outputs begin, with the compact size of their number. */
  readonly outputsOffset: number;
  /** First byte after the outputs: the witness of the first input, or the locktime. */
  readonly witnessOffset: number;
  #txid: Buffer | undefined;

  /**
   * Reads one transaction. `txid`: if it is known. `isStripped`: whether it has no witness, and so may have no inputs.
   * @throws MalformedBytesError also for an unknown flag, and for no inputs but with outputs or a witness, unless it is stripped.
   */
  constructor(reader: ByteReader, txid?: Buffer, isStripped = false) {
    this.#txid = txid;
    const { buffer } = reader;
    this.bytes = buffer;
    this.offset = reader.skip(VERSION_LENGTH);
    // BIP144: the marker is a zero where the number of inputs would be. A second zero says that there are no outputs either.
    this.hasWitness = !isStripped && buffer[reader.offset] === 0 && buffer[reader.offset + 1] !== 0;
    if (this.hasWitness) {
      reader.skip(1);
      const flag = reader.u8();
      if (flag !== WITNESS_FLAG) throw new MalformedBytesError('the witness flag 1', `${flag}`, reader.offset - 1);
    }
    const inputCount = reader.compactSize();
    if (inputCount === 0 && this.hasWitness) throw new MalformedBytesError('inputs after the witness flag', 'none', reader.offset - 1);
    this.inputCount = inputCount;
    this.inputsOffset = reader.offset;
    for (let left = inputCount; left > 0; left--) {
      reader.skip(OUTPOINT_LENGTH);
      reader.skip(reader.compactSize() + SEQUENCE_LENGTH);
    }
    this.outputsOffset = reader.offset;
    for (let left = reader.compactSize(); left > 0; left--) {
      reader.skip(VALUE_LENGTH);
      reader.skip(reader.compactSize());
    }
    this.witnessOffset = reader.offset;
    let witnessItems = 0;
    for (let stacks = this.hasWitness ? inputCount : 0; stacks > 0; stacks--) {
      const count = reader.compactSize();
      witnessItems += count;
      for (let left = count; left > 0; left--) reader.skip(reader.compactSize());
    }
    this.witnessItems = witnessItems;
    reader.skip(LOCKTIME_LENGTH);
    this.length = reader.offset - this.offset;
  }

  /** Made on each call: the inputs of a whole block would take much memory. */
  get inputs(): readonly ScannedInput[] {
    const reader = new ByteReader(this.bytes, this.inputsOffset);
    const inputs: ScannedInput[] = [];
    for (let left = this.inputCount; left > 0; left--) {
      const offset = reader.skip(TXID_LENGTH);
      const index = reader.u32();
      const scriptLength = reader.compactSize();
      const scriptOffset = reader.skip(scriptLength);
      inputs.push(new ScannedInput(this.bytes, offset, index, scriptOffset, scriptLength, reader.u32()));
    }
    return inputs;
  }

  /** Made on each call, as the inputs are. */
  get outputs(): readonly ScannedOutput[] {
    const reader = new ByteReader(this.bytes, this.outputsOffset);
    const outputs: ScannedOutput[] = [];
    for (let left = reader.compactSize(); left > 0; left--) {
      const { offset } = reader;
      const value = reader.i64();
      const scriptLength = reader.compactSize();
      outputs.push(new ScannedOutput(this.bytes, offset, value, reader.skip(scriptLength), scriptLength));
    }
    return outputs;
  }

  /** Whether all witnesses are empty although marker and flag are there. Bitcoin Core refuses that; bcoin accepts it. */
  get hasSuperfluousWitness(): boolean {
    return this.hasWitness && this.witnessItems === 0;
  }

  /** 32 bits, signed. */
  get version(): number {
    return this.bytes.readInt32LE(this.offset);
  }

  /** 32 bits, unsigned: a height below 500,000,000, Unix seconds from there up. */
  get locktime(): number {
    return this.bytes.readUInt32LE(this.offset + this.length - LOCKTIME_LENGTH);
  }

  /** Length of the serialization without witness. */
  get strippedLength(): number {
    return this.hasWitness ? this.witnessOffset - this.offset - MARKER_AND_FLAG_LENGTH + LOCKTIME_LENGTH : this.length;
  }

  /** BIP141: three times the stripped length plus the whole length. */
  get weight(): number {
    return this.strippedLength * 3 + this.length;
  }

  /** Only a coinbase spends output 0xffffffff of txid zero. */
  get isCoinbase(): boolean {
    const end = this.inputsOffset + TXID_LENGTH;
    if (this.inputCount !== 1 || this.bytes.readUInt32LE(end) !== 0xffff_ffff) return false;
    for (let at = this.inputsOffset; at < end; at++) if (this.bytes[at] !== 0) return false;
    return true;
  }

  /** The serialization with witness, a new view. */
  get raw(): Buffer {
    return this.bytes.subarray(this.offset, this.offset + this.length);
  }

  /** The serialization without witness, a copy when it has one. */
  get stripped(): Buffer {
    if (!this.hasWitness) return this.raw;
    const stripped = Buffer.allocUnsafe(this.strippedLength);
    this.writeStripped(stripped, 0);
    return stripped;
  }

  /** Writes the serialization without witness, `strippedLength` bytes. */
  writeStripped(to: Buffer, at: number): void {
    const { bytes, offset, length, hasWitness } = this;
    const end = at + this.strippedLength - LOCKTIME_LENGTH;
    const locktime = offset + length - LOCKTIME_LENGTH;
    // Version and lock time are written over what one copy leaves in their places: three copies take twice as long.
    bytes.copy(to, at, hasWitness ? offset + MARKER_AND_FLAG_LENGTH : offset, this.witnessOffset);
    for (let i = 0; i < VERSION_LENGTH; i++) to[at + i] = bytes[offset + i] as number; // within the transaction
    for (let i = 0; i < LOCKTIME_LENGTH; i++) to[end + i] = bytes[locktime + i] as number;
  }

  /** Hash without the witness: 32 bytes in wire order, computed once. */
  get txid(): Buffer {
    return (this.#txid ??= hash256(this.#txidPreimage()));
  }

  /** Writes the txid, which is not kept. */
  writeTxid(to: Buffer, at: number): void {
    writeHash256(this.#txidPreimage(), to, at);
  }

  /** Hash with the witness (BIP141), computed on each call. */
  get wtxid(): Buffer {
    return this.hasWitness ? hash256(this.raw) : this.txid;
  }

  /** Valid until the next txid. */
  #txidPreimage(): Buffer {
    if (!this.hasWitness || this.strippedLength > workspace.length) return this.stripped;
    this.writeStripped(workspace, 0);
    return workspace.subarray(0, this.strippedLength);
  }
}

/**
 * Reads one transaction as Bitcoin Core does. `txid`: if it is known.
 * @throws MalformedBytesError also for outputs without inputs, an unknown flag or a superfluous witness.
 */
export function readTransaction(reader: ByteReader, txid?: Buffer): ScannedTransaction {
  const transaction = new ScannedTransaction(reader, txid);
  if (transaction.hasSuperfluousWitness) throw new MalformedBytesError('a witness item', 'only empty witnesses', transaction.witnessOffset);
  return transaction;
}

/** Scans the transaction that begins at `offset`; bytes that follow it are ignored. @throws MalformedBytesError as `readTransaction` */
export function scanTransaction(bytes: Buffer, offset = 0): ScannedTransaction {
  return readTransaction(new ByteReader(bytes, offset));
}

/** Scans bytes that are one transaction and nothing else. @throws MalformedBytesError */
export function scanWholeTransaction(raw: Buffer): ScannedTransaction {
  const reader = new ByteReader(raw);
  const transaction = readTransaction(reader);
  reader.requireEnd('transaction');
  return transaction;
}

/** As `scanWholeTransaction`, for a transaction without witness, which may have no inputs yet. @throws MalformedBytesError */
export function scanStrippedTransaction(raw: Buffer): ScannedTransaction {
  const reader = new ByteReader(raw);
  const transaction = new ScannedTransaction(reader, undefined, true);
  reader.requireEnd('transaction');
  return transaction;
}
