// The basic filter of a block (BIP158), and the chain of filter headers (BIP157). With filters a light client finds the blocks that pay
// to its scripts, or spend from them, without revealing which scripts are its own.

import { hash256, hash256Of } from './hash';
import { encodeGolombSet } from './golomb-set';
import { OP_RETURN } from './script';
import { SipHasher } from './siphash';
import type { ScannedBlock } from './block';

/** The header below that of the genesis block. */
export const NO_FILTER_HEADER = Buffer.alloc(32);

/** The hashes of a block's scripts, two words each (siphash.ts): what its filter is made of. */
export class ScriptHashes {
  readonly #hasher: SipHasher;
  readonly #words: Uint32Array;
  #end = 0;

  /** `blockHash`: in wire order. `words`: memory for two words for each script that is added. */
  constructor(blockHash: Uint8Array, words: Uint32Array) {
    this.#hasher = new SipHasher(blockHash);
    this.#words = words;
  }

  /** The hashes added so far, a view. */
  get words(): Uint32Array {
    return this.#words.subarray(0, this.#end);
  }

  /** Adds the script of an output, unless it is empty or begins with OP_RETURN. */
  addOutput(bytes: Uint8Array, start: number, end: number): void {
    if (bytes[start] !== OP_RETURN) this.addSpent(bytes, start, end);
  }

  /** Adds the script of an output that the block spends, unless it is empty. */
  addSpent(bytes: Uint8Array, start: number, end: number): void {
    if (start === end) return;
    this.#hasher.write(bytes, start, end, this.#words, this.#end);
    this.#end += 2;
  }
}

/**
 * The serialized filter of a block with scripts of these hashes. Scripts with the same 64-bit hash count once. Different scripts in one
 * block have the same hash once in some hundred thousand chains as long as the main network's, and nobody can bring this about, since
 * the block's hash is the key. Yields now and then.
 */
export function* basicFilter(...hashes: readonly Uint32Array[]): Generator<void, Buffer> {
  const words = new Uint32Array(hashes.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of hashes) {
    words.set(part, at);
    at += part.length;
  }
  return yield* encodeGolombSet(words);
}

/** Scripts between two yields: less than a millisecond. */
const SCRIPTS_PER_SLICE = 1_000;

/** The serialized filter of a block that spends these outputs; outputs that the block itself made may be left out. Yields now and then. */
export function* filterOfBlock(
  { hash, transactions }: Pick<ScannedBlock, 'hash' | 'transactions'>,
  spent: readonly { readonly script: Buffer }[]
): Generator<void, Buffer> {
  const outputs = transactions.flatMap((transaction) => transaction.outputs);
  const hashes = new ScriptHashes(hash, new Uint32Array((outputs.length + spent.length) * 2));
  for (const [i, { bytes, scriptOffset, scriptLength }] of outputs.entries()) {
    hashes.addOutput(bytes, scriptOffset, scriptOffset + scriptLength);
    if (i % SCRIPTS_PER_SLICE === SCRIPTS_PER_SLICE - 1) yield;
  }
  for (const [i, { script }] of spent.entries()) {
    hashes.addSpent(script, 0, script.length);
    if (i % SCRIPTS_PER_SLICE === SCRIPTS_PER_SLICE - 1) yield;
  }
  return yield* basicFilter(hashes.words);
}

/** The hash of a serialized filter: 32 bytes in wire order. */
export function filterHashOf(filter: Buffer): Buffer {
  return hash256(filter);
}

/** The filter header on top of another one; both 32 bytes in wire order. */
export function filterHeaderOf(filterHash: Buffer, previous: Buffer): Buffer {
  return hash256Of(filterHash, previous);
}
