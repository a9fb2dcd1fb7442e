// A transaction together with the outputs that it spends: BIP341's signatures cover the values and scripts of all of them.

import { sha256 } from '../bitcoin/hash';
import { ByteReader, LONGEST_COMPACT_SIZE, writeCompactSize } from '../bitcoin/reader';
import {
  OUTPOINT_LENGTH,
  SEQUENCE_LENGTH,
  VALUE_LENGTH,
  type ScannedInput,
  type ScannedTransaction,
  type SpentOutput
} from '../bitcoin/transaction';

/** Keeps what all signatures of the transaction share, each made when it is first asked for: make one for a transaction. */
export class Spend {
  readonly inputs: readonly ScannedInput[];
  /** Where the witness of each input begins, and the end of the last one. */
  #witnessOffsets: readonly number[] | undefined;
  #outputs: readonly Buffer[] | undefined;
  #outpointsHash: Buffer | undefined;
  #valuesHash: Buffer | undefined;
  #scriptsHash: Buffer | undefined;
  #sequencesHash: Buffer | undefined;
  #outputsHash: Buffer | undefined;

  /** `spent`: the outputs that it spends, in the order of its inputs. @throws RangeError when there are more or fewer than inputs */
  constructor(
    readonly transaction: ScannedTransaction,
    readonly spent: readonly SpentOutput[]
  ) {
    const { inputs } = transaction;
    if (spent.length !== inputs.length) throw new RangeError(`expected ${inputs.length} outputs that are spent, got ${spent.length}`);
    this.inputs = inputs;
  }

  /** The witness of an input, serialized with the number of its items: a view. Empty if the transaction has no witnesses. */
  serializedWitness(input: number): Buffer {
    const offsets = (this.#witnessOffsets ??= this.#findWitnesses());
    return this.transaction.bytes.subarray(offsets[input], offsets[input + 1]);
  }

  /** The items of the witness of an input, each a view. */
  witness(input: number): Buffer[] {
    const bytes = this.serializedWitness(input);
    if (bytes.length === 0) return [];
    const reader = new ByteReader(bytes);
    return Array.from({ length: reader.compactSize() }, () => reader.bytes(reader.compactSize()));
  }

  /** The input's outpoint: 36 bytes, a view. */
  outpoint(input: number): Buffer {
    const { bytes, offset } = this.inputs[input] as ScannedInput; // there is one
    return bytes.subarray(offset, offset + OUTPOINT_LENGTH);
  }

  /** An output of the transaction, serialized: a view. Undefined: there is none. */
  output(index: number): Buffer | undefined {
    this.#outputs ??= this.transaction.outputs.map(({ bytes, offset, scriptOffset, scriptLength }) =>
      bytes.subarray(offset, scriptOffset + scriptLength)
    );
    return this.#outputs[index];
  }

  /** SHA-256 of all outpoints; BIP341 calls it sha_prevouts. */
  get outpointsHash(): Buffer {
    return (this.#outpointsHash ??= sha256(Buffer.concat(this.inputs.map((_, input) => this.outpoint(input)))));
  }

  /** SHA-256 of the values of all outputs that are spent: sha_amounts. */
  get valuesHash(): Buffer {
    return (this.#valuesHash ??= sha256(Buffer.concat(this.spent.map(({ value }) => serializedValue(value)))));
  }

  /** SHA-256 of the scripts of all outputs that are spent, each with its length: sha_scriptpubkeys. */
  get scriptsHash(): Buffer {
    return (this.#scriptsHash ??= sha256(Buffer.concat(this.spent.flatMap(({ script }) => [serializedLength(script), script]))));
  }

  /** SHA-256 of all sequences. */
  get sequencesHash(): Buffer {
    if (this.#sequencesHash === undefined) {
      const bytes = Buffer.allocUnsafe(this.inputs.length * SEQUENCE_LENGTH);
      this.inputs.forEach(({ sequence }, input) => bytes.writeUInt32LE(sequence, input * SEQUENCE_LENGTH));
      this.#sequencesHash = sha256(bytes);
    }
    return this.#sequencesHash;
  }

  /** SHA-256 of all outputs. */
  get outputsHash(): Buffer {
    if (this.#outputsHash === undefined) {
      const { bytes, outputsOffset, witnessOffset } = this.transaction;
      const reader = new ByteReader(bytes, outputsOffset);
      reader.compactSize();
      this.#outputsHash = sha256(bytes.subarray(reader.offset, witnessOffset));
    }
    return this.#outputsHash;
  }

  #findWitnesses(): number[] {
    const { bytes, witnessOffset, hasWitness } = this.transaction;
    const reader = new ByteReader(bytes, witnessOffset);
    const offsets = [witnessOffset];
    for (let left = this.inputs.length; left > 0; left--) {
      for (let items = hasWitness ? reader.compactSize() : 0; items > 0; items--) reader.skip(reader.compactSize());
      offsets.push(reader.offset);
    }
    return offsets;
  }
}

/** A value as transactions have it: 64 bits. */
export function serializedValue(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(VALUE_LENGTH);
  bytes.writeUInt32LE(value % 0x1_0000_0000);
  bytes.writeUInt32LE(Math.floor(value / 0x1_0000_0000), 4);
  return bytes;
}

/** The compact size that comes before a script or an item of a witness. */
export function serializedLength({ length }: Buffer): Buffer {
  const bytes = Buffer.allocUnsafe(LONGEST_COMPACT_SIZE);
  return bytes.subarray(0, writeCompactSize(bytes, length, 0));
}
